SELECT
    (SELECT count(*) FROM wanted) AS digests,
    (SELECT count(*) FROM wanted WHERE type <> 1) AS test_digests,
    -- Hits: who executed it is known, and is none of these runs.
    (SELECT count(*)
     FROM wanted
     JOIN result r USING (lookup_id)
     JOIN request q USING (request_id)
     WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND q.invocation NOT IN
         (SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope))) AS by_others,
    -- Dev and viewcheck runs are in the same folder and must not flatter a cell's figures.
    (SELECT count(*) FROM wanted WHERE lookup_id NOT IN
        (SELECT t.lookup_id
         FROM _run_cell c
         JOIN attempt t ON t.run_id = c.run_id
         WHERE c.run_id IN (SELECT run_id FROM scope) AND NOT c.is_dev
             AND t.lookup_id IS NOT NULL)) AS unmeasured,
    (SELECT count(*) FROM in_flight WHERE run_id IN (SELECT run_id FROM scope)) AS in_flight

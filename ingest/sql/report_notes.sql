, dev(run_id) AS MATERIALIZED (
    SELECT run_id FROM _run_cell WHERE is_dev AND run_id IN (SELECT run_id FROM scope)),
bad(records) AS (
    SELECT ifnull(f.malformed, 0) + ifnull(f.too_large, 0)
    FROM log_file f
    WHERE (f.ending = 'broken' OR f.malformed > 0 OR f.too_large > 0) AND f.log_file_id IN
        (SELECT log_file_id FROM run_log WHERE run_id IN (SELECT run_id FROM scope))),
gone(lookup_id) AS MATERIALIZED (
    SELECT lookup_id FROM _missing WHERE reason IN ('evicted', 'outputs_evicted')),
remote(run_id) AS MATERIALIZED (
    SELECT run_id FROM scope s
    WHERE EXISTS (SELECT 1 FROM attempt t WHERE t.run_id = s.run_id AND t.lookup_id IS NOT NULL))
SELECT
    (SELECT count(*) FROM test_only) AS test_digests,
    -- Dev and viewcheck runs are in the same folder and must not flatter a cell's figures.
    (SELECT count(*)
     FROM (SELECT DISTINCT t.lookup_id
        FROM dev d
        CROSS JOIN attempt t ON t.run_id = d.run_id
        WHERE t.lookup_id IS NOT NULL
            AND NOT (:no_tests AND t.lookup_id IN (SELECT lookup_id FROM test_only))) w
     WHERE NOT EXISTS (
        SELECT 1 FROM attempt u
        WHERE u.lookup_id = w.lookup_id AND +u.run_id IN (SELECT run_id FROM scope)
            AND +u.run_id NOT IN (SELECT run_id FROM dev))) AS unmeasured,
    (SELECT count(*) FROM in_flight WHERE run_id IN (SELECT run_id FROM scope)) AS in_flight,
    (SELECT count(*) FROM bad) AS bad_logs,
    (SELECT ifnull(sum(records), 0) FROM bad) AS bad_records,
    (SELECT count(*) FROM remote) AS runs,
    (SELECT count(*) FROM remote s WHERE NOT EXISTS (
        SELECT 1 FROM attempt t
        WHERE t.run_id = s.run_id AND t.lookup_id IS NOT NULL
            AND t.lookup_id NOT IN (SELECT lookup_id FROM gone))) AS gone_runs,
    (SELECT group_concat(name, ', ') FROM
        (SELECT name FROM (
            SELECT name, rank FROM instance_candidate WHERE run_id IN (SELECT run_id FROM scope)
            UNION ALL
            SELECT i.name, -1 FROM run JOIN instance i USING (instance_id)
            WHERE run_id IN (SELECT run_id FROM scope))
         GROUP BY name ORDER BY min(rank), name)) AS instances,
    -- Found from the historical results, which are few.
    (SELECT count(*)
     FROM (SELECT DISTINCT lookup_id FROM result INDEXED BY result_historical WHERE source = 2) h
     WHERE NOT EXISTS (SELECT 1 FROM result r WHERE r.lookup_id = h.lookup_id AND r.source = 1)
         AND NOT (:no_tests AND h.lookup_id IN (SELECT lookup_id FROM test_only))
         AND EXISTS (
            SELECT 1 FROM attempt t
            WHERE t.lookup_id = h.lookup_id AND +t.run_id IN (SELECT run_id FROM scope))) AS failed_found,
    (SELECT count(*) FROM _oom_kill
     WHERE suspect AND run IN
        (SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope))) AS suspects

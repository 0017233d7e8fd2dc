CREATE VIEW _relinked (
    -- The historical results of an execution that an attempt of an earlier run links, too: it is a result of each
    -- attempt, as when two runs ask for the same command at a time. _executed has the same rule, for one invocation;
    -- what its worker told no times of is another one here where it used something else.
    result_id -- of table result
) AS
SELECT result_id
FROM (SELECT r.result_id, row_number() OVER (PARTITION BY r.lookup_id, r.request_id, r.worker_id, t.taken_ns, r.wall_ns, r.cpu_ns
        ORDER BY g.start_ns, g.trace_id, r.attempt_span_id, r.attempt_idx) AS place
    FROM result r INDEXED BY result_historical JOIN run g ON g.run_id = r.attempt_run_id LEFT JOIN _span t ON t.result_id = r.result_id
    WHERE r.source = 2)
WHERE place > 1;

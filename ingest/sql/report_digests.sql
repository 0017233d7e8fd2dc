-- One row a digest, in no order; all NULL where the action cache has no usage of it.
, unknown_or_mine(request_id) AS MATERIALIZED (
    SELECT request_id FROM request
    WHERE invocation IS NULL OR invocation IN (
        SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope)))
SELECT r.wall_ns, r.cpu_ns, r.max_rss_bytes, r.termination_signal,
    r.request_id NOT IN (SELECT request_id FROM unknown_or_mine) AS by_others
FROM wanted w
LEFT JOIN result r ON r.lookup_id = w.lookup_id AND r.source = 1 AND r.cpu_ns IS NOT NULL

-- One row a digest, in no order. What is not known is NULL: all but the digest's own existence.
, unknown_or_mine(request_id) AS MATERIALIZED (
    SELECT request_id FROM request
    WHERE invocation IS NULL OR invocation IN (
        SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope)))
SELECT r.wall_ns, r.cpu_ns, r.max_rss_bytes, r.termination_signal,
    r.request_id NOT IN (SELECT request_id FROM unknown_or_mine) AS by_others,
    c.working_set_peak_bytes, r.result_id IS NOT NULL AS has_result,
    t.queued_ns, t.fetch_ns, t.run_ns, t.upload_ns
FROM wanted w
LEFT JOIN result r ON r.lookup_id = w.lookup_id AND r.source = 1
LEFT JOIN result_container c ON c.result_id = r.result_id
LEFT JOIN _span t ON t.result_id = r.result_id

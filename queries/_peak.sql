CREATE VIEW _peak (
    -- The most memory that an execution is known to have had, and what tells of it: one row a result, of
    -- any source, with the keys by which a view groups it. A column that is not asked for costs nothing.
    result_id,        -- of table result, as the keys that follow
    lookup_id, source_id, project_id, package_id, worker_id, request_id, allotment_id,
    wall_ns, cpu_ns,  -- of result
    process_bytes,    -- max RSS: the largest single process, never a sum
    container_bytes,  -- largest sampled working set of its container: all processes and active page cache
    anon_bytes,       -- largest sampled anonymous memory: what no reclaim frees
    peak_bytes,       -- the larger one of container and process; NULL: neither is known
    is_lower_bound,   -- 1: it ended on a signal or with 137, so it may have been about to take more
    samples,          -- of memory, inside of it; NULL: Prometheus was not asked
    confidence,       -- in container_bytes: none 0 samples, low 1-2, medium 3-9, high 10 or more; NULL: not asked
    cores_peak_milli, -- steepest rise between two samples; NULL: there are not two
    cores_avg_milli,  -- between the first sample and the last
    interval_ms,      -- between two samples
    status,           -- of result_container; NULL: not asked
    limit_bytes       -- memory limit that it ran under; NULL: not known, or none
) AS
SELECT r.result_id, r.lookup_id, r.source, r.project_id, r.package_id, r.worker_id, r.request_id, r.allotment_id,
    r.wall_ns, r.cpu_ns, r.max_rss_bytes, c.working_set_peak_bytes, c.anon_peak_bytes,
    coalesce(max(c.working_set_peak_bytes, r.max_rss_bytes), c.working_set_peak_bytes, r.max_rss_bytes),
    r.termination_signal IS NOT NULL OR r.exit_code IN (-1, 137), c.memory_samples,
    CASE WHEN c.memory_samples >= 10 THEN 'high' WHEN c.memory_samples >= 3 THEN 'medium'
        WHEN c.memory_samples >= 1 THEN 'low' WHEN c.memory_samples = 0 THEN 'none' END,
    c.cores_peak_milli, CAST(1000.0 * c.cpu_ns / c.cpu_window_ns AS INTEGER), c.interval_ms, c.status,
    a.memory_limit_bytes
FROM result r LEFT JOIN result_container c ON c.result_id = r.result_id
    LEFT JOIN allotment a ON a.allotment_id = r.allotment_id;

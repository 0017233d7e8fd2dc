CREATE VIEW _busy (
    -- How long each counted result kept a worker busy, and the memory that it used.
    result_id,   -- of table result, as the next five
    request_id, package_id, project_id, allotment_id, cpu_ns,
    busy_ns,     -- fetch + run + upload; NULL: one of them is not known, or ended before it began
    gib_ns       -- peak memory, as in worker_sizing, times wall time; NULL: not known
) AS
SELECT r.result_id, r.request_id, r.package_id, r.project_id, r.allotment_id, r.cpu_ns,
    CASE WHEN t.fetch_ns >= 0 AND t.run_ns >= 0 AND t.upload_ns >= 0 THEN t.fetch_ns + t.run_ns + t.upload_ns END,
    coalesce(max(r.max_rss_bytes, c.working_set_peak_bytes), r.max_rss_bytes, c.working_set_peak_bytes) / 1073741824.0 * r.wall_ns
FROM result r LEFT JOIN _span t ON t.result_id = r.result_id LEFT JOIN result_container c ON c.result_id = r.result_id
-- In the order of the table, as the times are: without the pluses an index of counted results would be walked, without
-- lookup_id, which each has, one that covers the rest.
WHERE +r.source = 1 AND r.cpu_ns IS NOT NULL AND +r.lookup_id > 0;

CREATE VIEW _held (
    -- What an allotment holds of a node, with what the pod's other containers request.
    allotment_id, -- of table allotment; none: requests are not known
    cores, gib
) AS
SELECT allotment_id, cpu_request_milli / 1000.0 + (SELECT value FROM setting WHERE key = 'pod_overhead_cpu'),
    memory_request_bytes / 1073741824.0 + (SELECT value FROM setting WHERE key = 'pod_overhead_gib')
FROM allotment WHERE cpu_request_milli IS NOT NULL AND memory_request_bytes IS NOT NULL;

CREATE VIEW _spent (
    -- What each counted result held of its worker, and what it used of that.
    result_id,   -- of table result, as the next four
    request_id, package_id, project_id, allotment_id,
    is_known,    -- 1: all that follows is; else NULL, as they are
    busy_ns,     -- its worker had nothing else to do, if it runs one action at a time
    held_cores, held_gib, -- of _held
    cpu_ns, gib_ns        -- used
) AS
SELECT v.result_id, v.request_id, v.package_id, v.project_id, v.allotment_id, v.is_known, CASE WHEN v.is_known THEN v.busy_ns END,
    CASE WHEN v.is_known THEN v.cores END, CASE WHEN v.is_known THEN v.gib END, CASE WHEN v.is_known THEN v.cpu_ns END,
    CASE WHEN v.is_known THEN v.gib_ns END
FROM (SELECT b.*, h.cores, h.gib, CASE WHEN b.busy_ns + h.cores + b.gib_ns IS NOT NULL THEN 1 END AS is_known
    FROM _busy b LEFT JOIN _held h ON h.allotment_id = b.allotment_id) v;

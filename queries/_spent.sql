CREATE VIEW _spent (
    -- What each counted result held of its worker, and what it used of that.
    result_id, request_id, package_id, project_id, allotment_id, -- of result
    is_known,    -- 1: all that follows is; else NULL, as they are
    busy_ns,     -- fetch + run + upload: its worker had nothing else to do, if it runs one action at a time
    held_cores,  -- requested, with what the pod's other containers request
    held_gib,    -- likewise
    cpu_ns,      -- used
    gib_ns       -- peak memory, as in worker_sizing, times wall time: as if it were needed for all of it
) AS
SELECT v.result_id, v.request_id, v.package_id, v.project_id, v.allotment_id, v.is_known, CASE WHEN v.is_known THEN v.busy_ns END,
    CASE WHEN v.is_known THEN v.held_cores END, CASE WHEN v.is_known THEN v.held_gib END, CASE WHEN v.is_known THEN v.cpu_ns END,
    CASE WHEN v.is_known THEN v.gib_ns END
FROM (SELECT u.*, CASE WHEN u.busy_ns IS NOT NULL AND u.held_cores IS NOT NULL AND u.held_gib IS NOT NULL AND u.gib_ns IS NOT NULL THEN 1 END
        AS is_known
    FROM (SELECT r.result_id, r.request_id, r.package_id, r.project_id, r.allotment_id, r.cpu_ns,
            CASE WHEN t.fetch_ns >= 0 AND t.run_ns >= 0 AND t.upload_ns >= 0 THEN t.fetch_ns + t.run_ns + t.upload_ns END AS busy_ns,
            a.cpu_request_milli / 1000.0 + (SELECT value FROM setting WHERE key = 'pod_overhead_cpu') AS held_cores,
            a.memory_request_bytes / 1073741824.0 + (SELECT value FROM setting WHERE key = 'pod_overhead_gib') AS held_gib,
            coalesce(max(r.max_rss_bytes, c.working_set_peak_bytes), r.max_rss_bytes, c.working_set_peak_bytes) / 1073741824.0 * r.wall_ns AS gib_ns
        FROM result r LEFT JOIN _span t ON t.result_id = r.result_id LEFT JOIN result_container c ON c.result_id = r.result_id
            LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
        -- The plus keeps the indexes of counted results out: each row is wanted, in the order of the table.
        WHERE +r.source = 1 AND r.cpu_ns IS NOT NULL) u) v;

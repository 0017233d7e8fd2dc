CREATE VIEW _busy_part (
    -- What each counted result adds to busy_sum.
    result_id, -- of table result
    allotment_id, -- 0: not known
    project_id,   -- of table result
    known,     -- 1: all that follows is, and the clocks agree; 0: it adds nothing there
    busy_high, busy_low, cpu_high, cpu_low, held_high, held_low
) AS
SELECT result_id, allotment_id, project_id, is_known, iif(is_known, busy >> 32, 0), iif(is_known, busy & 4294967295, 0),
    iif(is_known, cpu_ns >> 32, 0), iif(is_known, cpu_ns & 4294967295, 0), iif(is_known, held >> 32, 0), iif(is_known, held & 4294967295, 0)
-- What no integer holds is the largest one; a phase is a quarter of that at most (73 years), so that three fit.
FROM (SELECT r.result_id, ifnull(r.allotment_id, 0) AS allotment_id, r.project_id, r.cpu_ns,
        min(t.fetch_ns, 2305843009213693951) + min(t.run_ns, 2305843009213693951)
            + min(t.upload_ns, 2305843009213693951) AS busy, CAST(r.max_rss_bytes / 1024.0 * (r.wall_ns / 1e3) AS INTEGER) AS held,
        (min(t.fetch_ns, t.run_ns, t.upload_ns) >= 0 AND r.max_rss_bytes IS NOT NULL AND r.wall_ns IS NOT NULL) IS TRUE AS is_known
    FROM result r LEFT JOIN _span t ON t.result_id = r.result_id WHERE r.source = 1 AND r.cpu_ns IS NOT NULL);

CREATE VIEW _busy_sum (
    -- How long the counted results of an allotment and project kept workers busy, and what they used: rows to add up.
    allotment_id, -- of result, as the next one; 0: not known
    project_id,
    results,   -- counted
    known,     -- those of which all that follows is known, and which it sums up
    busy_ns,   -- fetch + run + upload
    cpu_ns,    -- used
    gib_ns     -- peak memory, as in worker_sizing, times wall time
) AS
SELECT allotment_id, project_id, results, known, busy_high * 4294967296.0 + busy_low, cpu_high * 4294967296.0 + cpu_low,
    (held_high * 4294967296.0 + held_low) / 1048576 * 1e3
FROM busy_sum
-- Few have samples: what their container tells is added to what their process did.
UNION ALL
SELECT ifnull(r.allotment_id, 0), r.project_id, 0, r.max_rss_bytes IS NULL, iif(r.max_rss_bytes IS NULL, t.fetch_ns + t.run_ns + t.upload_ns, 0),
    iif(r.max_rss_bytes IS NULL, r.cpu_ns, 0), (c.working_set_peak_bytes - ifnull(r.max_rss_bytes, 0)) / 1073741824.0 * r.wall_ns
FROM result_container c INDEXED BY result_container_peak CROSS JOIN result r ON r.result_id = c.result_id
    CROSS JOIN _span t ON t.result_id = c.result_id
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND c.working_set_peak_bytes IS NOT NULL AND c.working_set_peak_bytes > ifnull(r.max_rss_bytes, -1) AND r.wall_ns IS NOT NULL
    AND min(t.fetch_ns, t.run_ns, t.upload_ns) >= 0;

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
    busy_ns,     -- fetch + run + upload: its worker had nothing else to do, if it runs one action at a time
    held_cores, held_gib, -- of _held
    cpu_ns,      -- used
    gib_ns       -- peak memory, as in worker_sizing, times wall time
) AS
SELECT r.result_id, r.request_id, r.package_id, r.project_id, r.allotment_id, CASE WHEN h.allotment_id IS NOT NULL THEN 1 END,
    CASE WHEN h.allotment_id IS NOT NULL THEN t.fetch_ns + t.run_ns + t.upload_ns END, h.cores, h.gib,
    CASE WHEN h.allotment_id IS NOT NULL THEN r.cpu_ns END, CASE WHEN h.allotment_id IS NOT NULL THEN
        coalesce(max(r.max_rss_bytes, c.working_set_peak_bytes), r.max_rss_bytes, c.working_set_peak_bytes) / 1073741824.0 * r.wall_ns END
FROM result r LEFT JOIN _span t ON t.result_id = r.result_id LEFT JOIN result_container c ON c.result_id = r.result_id
    -- Whether all is known is told by this row being there: told by an expression, it would be evaluated for each sum.
    LEFT JOIN _held h ON h.allotment_id = r.allotment_id AND h.cores IS NOT NULL AND t.fetch_ns >= 0 AND t.run_ns >= 0 AND t.upload_ns >= 0
        AND r.wall_ns IS NOT NULL AND (r.max_rss_bytes IS NOT NULL OR c.working_set_peak_bytes IS NOT NULL)
-- In the order of the table, as the times are: without the pluses an index of counted results would be walked, without
-- lookup_id, which each has, one that covers the rest.
WHERE +r.source = 1 AND r.cpu_ns IS NOT NULL AND +r.lookup_id > 0;

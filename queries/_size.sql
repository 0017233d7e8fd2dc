CREATE VIEW _size_correction (
    -- What samples and unknown usage change at size_count: rows to add up, some of which take away what it has. Few
    -- have samples: what their container tells takes the place of what their process did.
    project_id,  -- of result, as the next two; allotment_id 0: not known
    allotment_id, category_id,
    kind,        -- 1 memory: the larger one of process and container; 2 cores; 3 sampled well enough to trust its
                 -- container's peak (confidence medium or high)
    step,        -- of size: MiB, rounded up | hundredths of a core | NULL; NULL: not known
    n,           -- results
    wall_ns      -- their wall time
) AS
SELECT r.project_id, ifnull(r.allotment_id, 0), r.category_id, k.kind, CASE k.kind WHEN 1 THEN iif(k.n < 0, r.memory_mib,
        c.working_set_peak_bytes / 1048576 + (c.working_set_peak_bytes % 1048576 > 0)) END, k.n, k.n * ifnull(r.wall_ns, 0.0)
    -- In this order, or SQLite would read the results once for each row of k.
    FROM result_container c INDEXED BY result_container_peak CROSS JOIN result r ON r.result_id = c.result_id
        CROSS JOIN (SELECT 1 AS kind, 1 AS n UNION ALL SELECT 1, -1 UNION ALL SELECT 3, 1) k
    WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND c.working_set_peak_bytes IS NOT NULL AND CASE k.kind
        WHEN 1 THEN c.working_set_peak_bytes > ifnull(r.max_rss_bytes, 0) ELSE c.memory_samples >= 3 END
UNION ALL
SELECT r.project_id, ifnull(r.allotment_id, 0), r.category_id, 1, NULL, 1, ifnull(r.wall_ns, 0.0) FROM result r INDEXED BY result_no_usage
    WHERE r.source = 1 AND r.cpu_ns IS NULL AND r.worker_id IS NOT NULL;

CREATE VIEW _sized (
    -- The same of each result: up to three rows, one a kind, for those who look at few.
    result_id,   -- of table result
    lookup_id, project_id, package_id, allotment_id, category_id, wall_ns, -- of result
    kind, step   -- see _size_correction
) AS
SELECT r.result_id, r.lookup_id, r.project_id, r.package_id, r.allotment_id, r.category_id, r.wall_ns, k.kind, CASE k.kind WHEN 2 THEN r.centicores
    WHEN 1 THEN CASE WHEN r.cpu_ns IS NOT NULL THEN ifnull(max(r.memory_mib, c.working_set_peak_bytes / 1048576
        + (c.working_set_peak_bytes % 1048576 > 0)), ifnull(r.memory_mib, c.working_set_peak_bytes / 1048576
        + (c.working_set_peak_bytes % 1048576 > 0))) END END
FROM result r LEFT JOIN result_container c ON c.result_id = r.result_id
    JOIN (SELECT 1 AS kind UNION ALL SELECT 2 UNION ALL SELECT 3) k
-- In one term with kind: a term on source alone would make SQLite walk an index for it, and look up each row.
WHERE CASE WHEN r.source <> 1 THEN 0 WHEN r.cpu_ns IS NULL THEN k.kind = 1 AND r.worker_id IS NOT NULL
    ELSE k.kind < 3 OR c.memory_samples >= 3 END;

CREATE VIEW _project_size (
    -- How many counted results of each project and allotment had which size: rows to add up. Sizes are in steps as fine
    -- as they are shown.
    project,      -- name
    allotment_id, -- 0: not known
    category_id, kind, step, n, wall_ns -- see _size_correction
) AS
SELECT j.name, v.allotment_id, v.category_id, v.kind, v.step, v.n, v.wall_ns
FROM project j JOIN (SELECT project_id, allotment_id, category_id, kind, nullif(size, -1) AS step, results AS n, wall_s * 1e9 + wall_rest_ns AS wall_ns
        FROM size_count
    UNION ALL
    SELECT project_id, allotment_id, category_id, kind, step, n, wall_ns FROM _size_correction) v ON v.project_id = j.project_id;

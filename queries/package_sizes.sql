CREATE VIEW package_sizes (
    -- One row a package and memory limit under which it ran, by package: the smallest shape that suits all its
    -- executions, failed ones included. It suits if all peaks fit its limit with setting sizing_margin_pct, as
    -- in `br2-ingest plan`; if the package is heavy, only one of more cores than setting heavy_cores, where there is
    -- one. Left out is an outlier: one result that alone is above it, or heavy, of an action (category and identifier)
    -- that has setting outlier_results of them. A kill for memory always asks for more than the limit under which it
    -- came, as worker_sizing has it, and where that is not known for the largest. Limits are told apart: make -jN
    -- follows them.
    package,        -- the target's name
    under_gib,      -- memory limit in force; NULL: none, or not known
    results,        -- counted results whose memory is known
    unknown,        -- and of which it is not
    largest_gib,    -- the largest peak, as in worker_sizing, failed ones included; NULL: none is known, and no shape
    failed,         -- failed executions of which memory is known: not among the results
    heavy_results,  -- results that are heavy as in heavy_packages
    oom_kills,      -- kills for memory under this limit
    shape,          -- the smallest one of table shape that suits; NULL: none does
    package_shape,  -- the largest shape of all rows of the package, whatever their limit: what to give it; NULL: none
    reason          -- in words
) AS
WITH odd AS MATERIALIZED (
    SELECT package_id, under, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape,
        reason, is_first, unders
    FROM _package_odd WHERE scope_id = 0)
SELECT package, under_gib, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape, reason
-- Each part is in the order of an index, but for the few.
FROM (SELECT p.name AS package, s.limit_bytes AS under, round(nullif(s.limit_bytes, 0) / 1073741824.0, 3) AS under_gib,
        s.results - s.unknown AS results, s.unknown, round(s.rss_max_bytes / 1073741824.0, 3) AS largest_gib, 0 AS failed, 0 AS heavy_results,
        0 AS oom_kills, (SELECT shape FROM _package_rule) AS shape,
        iif(o.is_first, o.package_shape, (SELECT shape FROM _package_rule)) AS package_shape, (SELECT reason FROM _package_rule) AS reason
    FROM package p CROSS JOIN package_sum s ON s.project_id = 0 AND s.package_id = p.package_id
        LEFT JOIN odd o ON o.is_first = 1 AND o.package_id = s.package_id
    WHERE ifnull(instr(o.unders, ',' || s.limit_bytes || ','), 0) = 0
    UNION ALL
    SELECT p.name, o.under, round(nullif(o.under, 0) / 1073741824.0, 3), o.results, o.unknown, o.largest_gib, o.failed, o.heavy_results,
        o.oom_kills, o.shape, o.package_shape, o.reason
    FROM odd o CROSS JOIN package p ON p.package_id = o.package_id
    ORDER BY 1, 2);

CREATE VIEW package_sizes_by_project (
    -- The rows of package_sizes of each project, by project. A digest belongs to the project of its first reference.
    project,        -- name
    package,        -- the target's name
    under_gib,      -- memory limit in force; NULL: none, or not known
    results,        -- counted results whose memory is known
    unknown,        -- and of which it is not
    largest_gib,    -- the largest peak, as in worker_sizing, failed ones included; NULL: none is known, and no shape
    failed,         -- failed executions of which memory is known: not among the results
    heavy_results,  -- results that are heavy as in heavy_packages
    oom_kills,      -- kills for memory under this limit
    shape,          -- the smallest one of table shape that suits; NULL: none does
    package_shape,  -- the largest shape of all rows of the package, whatever their limit: what to give it; NULL: none
    reason          -- in words
) AS
WITH odd AS MATERIALIZED (
    SELECT scope_id, package_id, under, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape,
        reason, is_first, unders
    FROM _package_odd WHERE scope_id > 0)
SELECT project, package, under_gib, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape, reason
FROM (SELECT j.name AS project, p.name AS package, s.limit_bytes AS under, round(nullif(s.limit_bytes, 0) / 1073741824.0, 3) AS under_gib,
        s.results - s.unknown AS results, s.unknown, round(s.rss_max_bytes / 1073741824.0, 3) AS largest_gib, 0 AS failed, 0 AS heavy_results,
        0 AS oom_kills, (SELECT shape FROM _package_rule) AS shape,
        iif(o.is_first, o.package_shape, (SELECT shape FROM _package_rule)) AS package_shape, (SELECT reason FROM _package_rule) AS reason
    FROM project j CROSS JOIN package p CROSS JOIN package_sum s ON s.project_id = j.project_id AND s.package_id = p.package_id
        LEFT JOIN odd o ON o.is_first = 1 AND o.package_id = s.package_id AND o.scope_id = s.project_id
    WHERE ifnull(instr(o.unders, ',' || s.limit_bytes || ','), 0) = 0
    UNION ALL
    SELECT j.name, p.name, o.under, round(nullif(o.under, 0) / 1073741824.0, 3), o.results, o.unknown, o.largest_gib, o.failed, o.heavy_results,
        o.oom_kills, o.shape, o.package_shape, o.reason
    FROM odd o CROSS JOIN project j ON j.project_id = o.scope_id CROSS JOIN package p ON p.package_id = o.package_id
    ORDER BY 1, 2, 3);

CREATE VIEW shape_fit (
    -- One row a shape, memory limit in force, and category of actions, and one of all categories: how much of what
    -- ran would fit. Counted results, each digest once. Memory alone decides, by peaks as in worker_sizing. What was
    -- measured under another limit is told apart: make -jN follows the limit, so a smaller shape may need less.
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    category,          -- of these actions; '' for tests and listings; *: all
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
WITH sized AS MATERIALIZED (
    SELECT a.memory_limit_bytes AS under, s.category_id, s.kind, s.step, sum(s.n) AS n, total(s.wall_ns) AS wall_ns
    FROM _size s JOIN _allotment_group a ON a.group_id = s.group_id WHERE s.kind < 3 GROUP BY 1, 2, 3, 4),
-- All categories: 0.
summed AS MATERIALIZED (
    SELECT under, category_id, kind, step, n, wall_ns FROM sized
    UNION ALL SELECT under, 0, kind, step, sum(n), total(wall_ns) FROM sized GROUP BY 1, 3, 4),
-- A mark of each shape among the sizes; the sum up to it is what fits.
marked AS MATERIALIZED (
    SELECT shape, under, category_id, kind, sum(n) OVER up AS n_up, total(wall_ns) OVER up AS wall_up, sum(n) OVER whole AS n,
        total(wall_ns) OVER whole AS wall_ns
    FROM (SELECT NULL AS shape, under, category_id, kind, step, n, wall_ns FROM summed WHERE step IS NOT NULL
        UNION ALL SELECT h.shape, k.under, k.category_id, k.kind, CASE k.kind WHEN 1 THEN h.fit_mib ELSE h.fit_centi END, 0, 0
            FROM (SELECT DISTINCT s.under, s.category_id, k.kind FROM summed s CROSS JOIN (SELECT 1 AS kind UNION ALL SELECT 2) k) k
                CROSS JOIN _shape h)
    WINDOW whole AS (PARTITION BY under, category_id, kind), up AS (PARTITION BY under, category_id, kind ORDER BY step)),
unknown AS MATERIALIZED (SELECT under, category_id, sum(n) AS n FROM summed WHERE kind = 1 AND step IS NULL GROUP BY 1, 2)
SELECT h.shape, h.cpu_milli / 1000.0, round(h.limit_bytes / 1073741824.0, 3), round(m.under / 1073741824.0, 3),
    CASE m.category_id WHEN 0 THEN '*' ELSE (SELECT c.name FROM category c WHERE c.category_id = m.category_id) END,
    m.n, ifnull(u.n, 0), CASE WHEN h.fit_mib IS NOT NULL THEN m.n - m.n_up END,
    CASE WHEN h.fit_mib IS NOT NULL THEN round(100.0 * m.n_up / nullif(m.n, 0), 1) END,
    CASE WHEN h.fit_mib IS NOT NULL THEN round(100.0 * m.wall_up / nullif(m.wall_ns, 0), 1) END,
    round(100.0 * (o.n - o.n_up) / nullif(o.n, 0), 1), round(100.0 * (o.wall_ns - o.wall_up) / nullif(o.wall_ns, 0), 1)
FROM marked m JOIN marked o ON o.shape = m.shape AND o.under IS m.under AND o.category_id = m.category_id AND o.kind = 2
    JOIN _shape h ON h.shape = m.shape LEFT JOIN unknown u ON u.under IS m.under AND u.category_id = m.category_id
WHERE m.kind = 1
ORDER BY h.limit_bytes, h.shape, m.under, 5;

CREATE VIEW shape_fit_by_project (
    -- The rows of shape_fit of each project, by project. A digest belongs to the project of its first reference.
    project,           -- name
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    category,          -- of these actions; '' for tests and listings; *: all
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
-- In windows alone: a filter passes through these, not through a grouping above a grouping.
SELECT project, shape, cpu_milli / 1000.0, round(limit_bytes / 1073741824.0, 3), round(under / 1073741824.0, 3), category, n, unknown,
    CASE WHEN fit_mib IS NOT NULL THEN n - fit END, CASE WHEN fit_mib IS NOT NULL THEN round(100.0 * fit / nullif(n, 0), 1) END,
    CASE WHEN fit_mib IS NOT NULL THEN round(100.0 * fit_wall / nullif(wall_ns, 0), 1) END,
    round(100.0 * (used - below) / nullif(used, 0), 1), round(100.0 * (used_wall - below_wall) / nullif(used_wall, 0), 1)
FROM (SELECT project, shape, cpu_milli, limit_bytes, fit_mib, under, category, row_number() OVER one AS place,
        ifnull(sum(CASE WHEN kind = 1 AND step IS NOT NULL THEN n END) OVER one, 0) AS n,
        total(CASE WHEN kind = 1 AND step IS NOT NULL THEN wall_ns END) OVER one AS wall_ns,
        ifnull(sum(CASE WHEN kind = 1 AND step IS NULL THEN n END) OVER one, 0) AS unknown,
        ifnull(sum(CASE WHEN kind = 1 AND step <= fit_mib THEN n END) OVER one, 0) AS fit,
        total(CASE WHEN kind = 1 AND step <= fit_mib THEN wall_ns END) OVER one AS fit_wall,
        sum(CASE WHEN kind = 2 AND step IS NOT NULL THEN n END) OVER one AS used,
        total(CASE WHEN kind = 2 AND step IS NOT NULL THEN wall_ns END) OVER one AS used_wall,
        ifnull(sum(CASE WHEN kind = 2 AND step <= fit_centi THEN n END) OVER one, 0) AS below,
        total(CASE WHEN kind = 2 AND step <= fit_centi THEN wall_ns END) OVER one AS below_wall
    FROM (SELECT s.project, h.shape, h.cpu_milli, h.limit_bytes, h.fit_mib, h.fit_centi, s.under, s.kind, s.step, s.n, s.wall_ns,
            CASE k.is_all WHEN 1 THEN '*' ELSE c.name END AS category
        FROM _fit_by_project s JOIN category c ON c.category_id = s.category_id
            CROSS JOIN _shape h CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k)
    WINDOW one AS (PARTITION BY project, shape, under, category))
WHERE place = 1
ORDER BY project, limit_bytes, shape, under, category;

CREATE VIEW shape_fit_by_run (
    -- The rows of shape_fit of each run, by run: of all its digests, hits included.
    run,               -- trace id
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    category,          -- of these actions; '' for tests and listings; *: all
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
-- In windows alone: a filter passes through these, not through a grouping above a grouping.
SELECT run, shape, cpu_milli / 1000.0, round(limit_bytes / 1073741824.0, 3), round(under / 1073741824.0, 3), category, n, unknown,
    CASE WHEN fit_mib IS NOT NULL THEN n - fit END, CASE WHEN fit_mib IS NOT NULL THEN round(100.0 * fit / nullif(n, 0), 1) END,
    CASE WHEN fit_mib IS NOT NULL THEN round(100.0 * fit_wall / nullif(wall_ns, 0), 1) END,
    round(100.0 * (used - below) / nullif(used, 0), 1), round(100.0 * (used_wall - below_wall) / nullif(used_wall, 0), 1)
FROM (SELECT run, shape, cpu_milli, limit_bytes, fit_mib, under, category, row_number() OVER one AS place,
        ifnull(sum(CASE WHEN kind = 1 AND step IS NOT NULL THEN n END) OVER one, 0) AS n,
        total(CASE WHEN kind = 1 AND step IS NOT NULL THEN wall_ns END) OVER one AS wall_ns,
        ifnull(sum(CASE WHEN kind = 1 AND step IS NULL THEN n END) OVER one, 0) AS unknown,
        ifnull(sum(CASE WHEN kind = 1 AND step <= fit_mib THEN n END) OVER one, 0) AS fit,
        total(CASE WHEN kind = 1 AND step <= fit_mib THEN wall_ns END) OVER one AS fit_wall,
        sum(CASE WHEN kind = 2 AND step IS NOT NULL THEN n END) OVER one AS used,
        total(CASE WHEN kind = 2 AND step IS NOT NULL THEN wall_ns END) OVER one AS used_wall,
        ifnull(sum(CASE WHEN kind = 2 AND step <= fit_centi THEN n END) OVER one, 0) AS below,
        total(CASE WHEN kind = 2 AND step <= fit_centi THEN wall_ns END) OVER one AS below_wall
    FROM (SELECT s.run, h.shape, h.cpu_milli, h.limit_bytes, h.fit_mib, h.fit_centi, s.under, s.kind, s.step, s.n, s.wall_ns,
            CASE k.is_all WHEN 1 THEN '*' ELSE c.name END AS category
        FROM _fit_by_run s JOIN category c ON c.category_id = s.category_id
            CROSS JOIN _shape h CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k)
    WINDOW one AS (PARTITION BY run, shape, under, category))
WHERE place = 1
ORDER BY run, limit_bytes, shape, under, category;

CREATE VIEW shape_fit_by_package (
    -- The rows of shape_fit of each package, of all its categories together, by package.
    package,           -- the target's name
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
SELECT v.package, v.shape, v.cpu_milli / 1000.0, round(v.limit_bytes / 1073741824.0, 3), round(v.under / 1073741824.0, 3), v.n, v.unknown,
    CASE WHEN v.fit_mib IS NOT NULL THEN v.n - v.fit END, CASE WHEN v.fit_mib IS NOT NULL THEN round(100.0 * v.fit / nullif(v.n, 0), 1) END,
    CASE WHEN v.fit_mib IS NOT NULL THEN round(100.0 * v.fit_wall / nullif(v.wall_ns, 0), 1) END,
    round(100.0 * (v.used - v.below) / nullif(v.used, 0), 1), round(100.0 * (v.used_wall - v.below_wall) / nullif(v.used_wall, 0), 1)
FROM (SELECT p.name AS package, h.shape, h.cpu_milli, h.limit_bytes, h.fit_mib, a.memory_limit_bytes AS under,
        count(CASE s.kind WHEN 1 THEN s.step END) AS n, total(CASE WHEN s.kind = 1 AND s.step IS NOT NULL THEN s.wall_ns END) AS wall_ns,
        ifnull(sum(s.kind = 1 AND s.step IS NULL), 0) AS unknown, ifnull(sum(s.kind = 1 AND s.step <= h.fit_mib), 0) AS fit,
        total(CASE WHEN s.kind = 1 AND s.step <= h.fit_mib THEN s.wall_ns END) AS fit_wall,
        count(CASE s.kind WHEN 2 THEN s.step END) AS used, total(CASE WHEN s.kind = 2 AND s.step IS NOT NULL THEN s.wall_ns END) AS used_wall,
        ifnull(sum(s.kind = 2 AND s.step <= h.fit_centi), 0) AS below,
        total(CASE WHEN s.kind = 2 AND s.step <= h.fit_centi THEN s.wall_ns END) AS below_wall
    FROM package p JOIN _sized s ON s.package_id = p.package_id LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
        CROSS JOIN _shape h WHERE s.kind < 3
    GROUP BY p.name, h.shape, a.memory_limit_bytes) v
ORDER BY v.package, v.limit_bytes, v.shape, v.under;

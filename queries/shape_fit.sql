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
    unknown,           -- and of which it is not, those without usage included
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
SELECT shape, cpu_request, limit_gib, under_gib, category, actions, unknown, misfits, fit_pct, fit_wall_pct, over_cpu_pct,
    over_cpu_wall_pct
FROM _shape_fit WHERE scope = 'all' ORDER BY limit_bytes, shape, under, category;

CREATE VIEW shape_fit_by_project (
    -- The rows of shape_fit of each project, by project. A digest belongs to the project of its first reference.
    project,           -- name
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    category,          -- of these actions; '' for tests and listings; *: all
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not, those without usage included
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
SELECT name, shape, cpu_request, limit_gib, under_gib, category, actions, unknown, misfits, fit_pct, fit_wall_pct, over_cpu_pct,
    over_cpu_wall_pct
FROM _shape_fit WHERE scope = 'project' ORDER BY name, limit_bytes, shape, under, category;

CREATE VIEW shape_fit_by_run (
    -- The rows of shape_fit of each run, by run: of all its digests, hits included.
    run,               -- trace id
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    category,          -- of these actions; '' for tests and listings; *: all
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not, those without usage included
    misfits,           -- whose peak + setting sizing_margin_pct is over the shape's limit; NULL: the setting is missing
    fit_pct,           -- of the actions
    fit_wall_pct,      -- of their wall time
    over_cpu_pct,      -- of the actions with usage: averaged more cores than the shape requests
    over_cpu_wall_pct  -- of their wall time
) AS
SELECT name, shape, cpu_request, limit_gib, under_gib, category, actions, unknown, misfits, fit_pct, fit_wall_pct, over_cpu_pct,
    over_cpu_wall_pct
FROM _shape_fit WHERE scope = 'run' ORDER BY name, limit_bytes, shape, under, category;

CREATE VIEW shape_fit_by_package (
    -- The rows of shape_fit of each package, of all its categories together, by package.
    package,           -- the target's name
    shape,             -- of table shape; pool <name>: what that pool requests today
    cpu_request,       -- its cores; there is no CPU limit, so more is a burst and no misfit
    limit_gib,         -- its memory limit
    under_gib,         -- limit under which the results were measured; NULL: none, or not known
    actions,           -- results whose memory is known
    unknown,           -- and of which it is not, those without usage included
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

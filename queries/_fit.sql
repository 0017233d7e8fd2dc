CREATE VIEW _fit_range (
    -- Sizes as far as the shapes of _shape tell them apart: one row a range between the limits of two shapes, and one of what
    -- is not known.
    kind,     -- as in _size_correction: 1 memory, 2 cores
    low,      -- smallest size in it; -1: that of what is not known, as in size_count
    high      -- largest: what fits a shape is what is in the ranges up to its own limit
) AS
SELECT kind, ifnull(lag(high) OVER (PARTITION BY kind ORDER BY high) + 1, -1), high
FROM (SELECT 1 AS kind, fit_mib AS high FROM _shape WHERE fit_mib >= 0
    UNION SELECT 2, fit_centi FROM _shape WHERE fit_centi >= 0
    UNION VALUES (1, -1), (2, -1), (1, 9223372036854775807), (2, 9223372036854775807));

CREATE VIEW _fit (
    -- How many counted results have a size in each range: rows to add up.
    scope,       -- see _size_step, as the next one
    name,
    under,       -- memory limit in force, bytes; NULL: none, or not known
    category_id, kind, -- of _size_correction
    high,        -- of _fit_range
    n, wall_ns   -- see _size_correction
) AS
-- Each range is a stretch of size_count: nothing is sorted.
SELECT 'all', '', a.memory_limit_bytes, c.category_id, f.kind, f.high,
    (SELECT total(s.results) FROM size_count s WHERE s.allotment_id = a.allotment_id AND s.category_id = c.category_id
        AND s.kind = f.kind AND s.size BETWEEN f.low AND f.high),
    (SELECT total(s.wall_s) * 1e9 + total(s.wall_rest_ns) FROM size_count s WHERE s.allotment_id = a.allotment_id AND s.category_id = c.category_id
        AND s.kind = f.kind AND s.size BETWEEN f.low AND f.high)
FROM _allotment a CROSS JOIN category c CROSS JOIN _fit_range f
UNION ALL
SELECT 'all', '', a.memory_limit_bytes, s.category_id, s.kind, f.high, sum(s.n), total(s.wall_ns)
FROM _size_correction s JOIN _fit_range f ON f.kind = s.kind AND ifnull(s.step, -1) BETWEEN f.low AND f.high
    LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
GROUP BY s.allotment_id, s.category_id, s.kind, f.high
UNION ALL
SELECT 'project', s.project, a.memory_limit_bytes, s.category_id, s.kind, f.high, sum(s.n), total(s.wall_ns)
FROM _project_size s JOIN _fit_range f ON f.kind = s.kind AND ifnull(s.step, -1) BETWEEN f.low AND f.high
    LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
GROUP BY s.project, s.allotment_id, s.category_id, s.kind, f.high
UNION ALL
SELECT 'run', v.run, a.memory_limit_bytes, v.category_id, k.kind, CASE k.kind WHEN 1 THEN v.memory ELSE v.cores END,
    CASE k.kind WHEN 1 THEN v.n ELSE v.counted END, v.wall_ns
FROM (SELECT s.run, s.allotment_id, s.category_id, m.high AS memory, c.high AS cores, count(*) AS n, sum(s.is_counted) AS counted,
        total(s.wall_ns) AS wall_ns
    FROM _run_size s JOIN _fit_range m ON m.kind = 1 AND ifnull(s.mib, -1) BETWEEN m.low AND m.high
        JOIN _fit_range c ON c.kind = 2 AND ifnull(s.centicores, -1) BETWEEN c.low AND c.high
    GROUP BY 1, 2, 3, 4, 5) v
    CROSS JOIN (SELECT 1 AS kind UNION ALL SELECT 2) k LEFT JOIN allotment a ON a.allotment_id = v.allotment_id;

CREATE VIEW _shape_fit (
    -- What shape_fit shows, of each scope that it is asked for.
    scope, -- see _size_step, as the next one
    name,
    shape, cpu_request, limit_gib, under_gib, category, actions, unknown, misfits, fit_pct, fit_wall_pct, over_cpu_pct, over_cpu_wall_pct,
    limit_bytes, under -- unrounded, to sort by
) AS
SELECT scope, name, shape, cpu_milli / 1000.0, round(limit_bytes / 1073741824.0, 3), round(under / 1073741824.0, 3), category, n, unknown,
    CASE WHEN fit_mib IS NOT NULL THEN n - fit END, CASE WHEN fit_mib IS NOT NULL THEN round(100.0 * fit / nullif(n, 0), 1) END,
    CASE WHEN fit_mib IS NOT NULL THEN round(100.0 * fit_wall / nullif(wall_ns, 0), 1) END,
    round(100.0 * (used - below) / nullif(used, 0), 1), round(100.0 * (used_wall - below_wall) / nullif(used_wall, 0), 1),
    limit_bytes, under
-- Windows instead of groups: so a filter on scope or name reaches what _fit reads.
FROM (SELECT scope, name, shape, cpu_milli, limit_bytes, fit_mib, under, category, row_number() OVER one AS place,
        CAST(total(CASE WHEN kind = 1 AND high >= 0 THEN n END) OVER one AS INTEGER) AS n,
        total(CASE WHEN kind = 1 AND high >= 0 THEN wall_ns END) OVER one AS wall_ns,
        CAST(total(CASE WHEN kind = 1 AND high < 0 THEN n END) OVER one AS INTEGER) AS unknown,
        CAST(total(CASE WHEN kind = 1 AND high BETWEEN 0 AND fit_mib THEN n END) OVER one AS INTEGER) AS fit,
        total(CASE WHEN kind = 1 AND high BETWEEN 0 AND fit_mib THEN wall_ns END) OVER one AS fit_wall,
        total(CASE WHEN kind = 2 AND high >= 0 THEN n END) OVER one AS used,
        total(CASE WHEN kind = 2 AND high >= 0 THEN wall_ns END) OVER one AS used_wall,
        total(CASE WHEN kind = 2 AND high BETWEEN 0 AND fit_centi THEN n END) OVER one AS below,
        total(CASE WHEN kind = 2 AND high BETWEEN 0 AND fit_centi THEN wall_ns END) OVER one AS below_wall
    FROM (SELECT s.scope, s.name, h.shape, h.cpu_milli, h.limit_bytes, h.fit_mib, h.fit_centi, s.under, s.kind, s.high, s.n, s.wall_ns,
            CASE k.is_all WHEN 1 THEN '*' ELSE c.name END AS category
        FROM _fit s JOIN category c ON c.category_id = s.category_id
            CROSS JOIN _shape h CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k
        WHERE s.n <> 0 OR s.wall_ns <> 0)
    WINDOW one AS (PARTITION BY scope, name, shape, under, category))
WHERE place = 1;

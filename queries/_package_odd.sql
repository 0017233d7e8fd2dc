CREATE VIEW _package_fit (
    -- The shapes of table shape as packages are sized by them.
    shape,       -- its name
    place,       -- from 1, by memory limit, then cores
    fit_mib,     -- see _shape
    limit_bytes, -- memory limit
    is_wide,     -- 1: of more cores than setting heavy_cores
    is_largest   -- 1: none has a larger memory limit
) AS
SELECT h.shape, row_number() OVER (ORDER BY h.memory_limit_bytes, h.cpu_milli, h.shape), s.fit_mib, h.memory_limit_bytes,
    h.cpu_milli > (SELECT cores * 1000 FROM _heavy_rule), h.memory_limit_bytes = max(h.memory_limit_bytes) OVER ()
FROM shape h JOIN _shape s ON s.shape = h.shape;

CREATE VIEW _package_rule (
    -- What is said of a package whose executions all fit the smallest shape: one row.
    is_whole,    -- 1: no setting is missing; else nothing is said to suit
    light,       -- place of the smallest shape; NULL: there is none
    shape,       -- its name; NULL: nothing suits
    reason       -- in words
) AS
SELECT z.is_whole AND h.is_whole, f.place, CASE WHEN z.is_whole AND h.is_whole THEN f.shape END,
    CASE WHEN NOT z.is_whole OR NOT h.is_whole THEN 'a setting heavy_*, sizing_* or outlier_results is missing'
        WHEN f.place IS NULL THEN 'no shape is large enough' ELSE 'all fit the smallest with ' || z.margin || ' %' END
FROM _sizing_rule z CROSS JOIN _heavy_rule h LEFT JOIN _package_fit f ON f.place = 1;

CREATE VIEW _package_misfit (
    -- What does not fit the smallest shape: one row a package and memory limit that has such.
    scope_id,    -- of _scope
    package_id, under, -- see _package_sum
    misfits,     -- executions that do not fit it
    too_small    -- the largest place of a shape (see _package_fit) for which one decides that is no outlier; NULL: none
) AS
WITH fit AS MATERIALIZED (SELECT place, fit_mib FROM _package_fit),
at AS MATERIALIZED (SELECT min(fit_mib) * 1048576.0 AS fit_bytes, (SELECT many FROM _sizing_rule) AS many FROM fit),
large AS MATERIALIZED (
    SELECT iif(k.is_all, 0, s.project_id) AS scope_id, s.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier, s.step
    FROM (SELECT r.result_id FROM (SELECT package_id FROM package_sum WHERE project_id = 0 AND rss_max_bytes > (SELECT fit_bytes FROM at)
            UNION SELECT package_id FROM package_due) p CROSS JOIN result r INDEXED BY result_package ON r.package_id = p.package_id
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.max_rss_bytes > (SELECT fit_bytes FROM at)
        UNION SELECT c.result_id FROM result_container c INDEXED BY result_container_worth
            WHERE c.worth IN (1, 2, 3) AND c.working_set_peak_bytes > (SELECT fit_bytes FROM at)) l
        CROSS JOIN _sized s ON s.result_id = l.result_id JOIN result r ON r.result_id = s.result_id
        JOIN action_name n ON n.name_id = r.name_id CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k
        LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
    WHERE s.kind = 1)
SELECT scope_id, package_id, under, max(n), max(place) FILTER (WHERE kept > 0)
FROM (SELECT scope_id, package_id, under, place, sum(n) AS n, sum(NOT is_alone) AS kept
    FROM (
        -- By action; whether one alone is an outlier.
        SELECT l.scope_id, l.package_id, l.under, f.place, count(*) AS n, CASE WHEN count(*) > 1 THEN 0 ELSE (
                SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = l.package_id AND e.category_id = l.category_id
                    AND e.identifier = l.identifier AND e.under = l.under AND e.max_rss_bytes IS NOT NULL
                    AND l.scope_id IN (0, e.project_id)) >= (SELECT many FROM at) END AS is_alone
        FROM large l JOIN fit f ON l.step > f.fit_mib
        GROUP BY l.scope_id, l.package_id, l.under, l.category_id, l.identifier, f.place
        UNION ALL
        -- What failed is nobody's outlier.
        SELECT c.scope_id, p.package_id, ifnull(a.memory_limit_bytes, 0), f.place, 1, 0
        FROM _failed_peak p JOIN fit f ON p.mib > f.fit_mib JOIN _scope c ON c.scope_id IN (0, p.project_id)
            LEFT JOIN allotment a ON a.allotment_id = p.allotment_id)
    GROUP BY scope_id, package_id, under, place)
GROUP BY scope_id, package_id, under;

CREATE VIEW _package_part (
    -- What decides on packages beside the kept sums: rows to add up, of few packages as a rule.
    scope_id,    -- of _scope
    package_id, under,   -- see _package_sum
    n,           -- counted results whose memory is known, that no kept sum counts as such
    unknown,     -- and of which it is not
    largest,     -- largest peak, bytes
    heavy, alone, -- see _package_heavy
    kills,       -- for memory, of which a container tells
    suspected,   -- of which none does
    failed,      -- executions of which memory is known
    misfits, too_small -- see _package_misfit; NULL: all fit
) AS
-- Those that the ingest has yet to sum up anew: none, as a rule.
SELECT iif(k.is_all, 0, r.project_id), r.package_id, ifnull(a.memory_limit_bytes, 0), r.max_rss_bytes IS NOT NULL, r.max_rss_bytes IS NULL,
    r.max_rss_bytes, 0, 0, 0, 0, 0, NULL, NULL
FROM package_due d CROSS JOIN result r INDEXED BY result_package ON r.package_id = d.package_id
    CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
UNION ALL
SELECT project_id, package_id, limit_bytes, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL FROM package_sum INDEXED BY package_sum_unknown WHERE rss_max_bytes IS NULL
UNION ALL
-- What containers' samples add to what processes did. Without samples there is no peak.
SELECT iif(k.is_all, 0, v.project_id), v.package_id, ifnull(a.memory_limit_bytes, 0), v.n, -v.n, v.largest, 0, 0, 0, 0, 0, NULL, NULL
FROM (SELECT r.project_id, r.package_id, r.allotment_id, sum(r.max_rss_bytes IS NULL) AS n, max(s.working_set_peak_bytes) AS largest
        FROM result_container s INDEXED BY result_container_worth CROSS JOIN result r ON r.result_id = s.result_id
        WHERE s.worth IN (1, 2, 3) AND r.source = 1 AND r.cpu_ns IS NOT NULL AND s.working_set_peak_bytes > ifnull(r.max_rss_bytes, -1)
        GROUP BY r.package_id, r.project_id, r.allotment_id) v
    CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k LEFT JOIN allotment a ON a.allotment_id = v.allotment_id
UNION ALL
SELECT scope_id, package_id, under, 0, 0, NULL, heavy, alone, 0, 0, 0, NULL, NULL FROM _package_heavy
UNION ALL
SELECT c.scope_id, p.package_id, ifnull(a.memory_limit_bytes, 0), 0, 0, p.bytes, 0, 0, 0, 0, 1, NULL, NULL
FROM _failed_peak p CROSS JOIN _scope c ON c.scope_id IN (0, p.project_id) LEFT JOIN allotment a ON a.allotment_id = p.allotment_id
UNION ALL
SELECT c.scope_id, p.package_id, ifnull(k.limit_bytes, 0), 0, 0, NULL, 0, 0, k.is_told, NOT k.is_told, 0, NULL, NULL
FROM _pool_kill k CROSS JOIN package p ON p.name = k.package CROSS JOIN _scope c ON c.by_project = 0 OR c.project = k.project
UNION ALL
SELECT scope_id, package_id, under, 0, 0, NULL, 0, 0, 0, 0, 0, misfits, too_small FROM _package_misfit;

CREATE VIEW _package_odd (
    -- The packages on which more than their kept sums decides, by memory limit: few, as a rule. All others fit the smallest
    -- shape. A filter on scope_id is a search.
    scope_id,    -- of _scope
    package_id, under, -- see _package_sum
    results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape, reason, -- see package_sizes
    is_first,    -- 1: the package's first row here, by under
    unders       -- all under of the package here, each between two commas
) AS
WITH fit AS MATERIALIZED (SELECT * FROM _package_fit),
at AS MATERIALIZED (
    SELECT z.oom_pct, z.oom_mib, z.margin, r.is_whole, r.light, r.reason, ifnull(f.wide, r.light) AS wide, f.wide IS NOT NULL AS has_wide
    FROM _sizing_rule z CROSS JOIN _package_rule r CROSS JOIN (SELECT min(place) FILTER (WHERE is_wide) AS wide FROM fit) f)
SELECT v.scope_id, v.package_id, v.under, v.n, v.unknown, round(v.largest / 1073741824.0, 3), v.failed, v.heavy, v.kills,
    (SELECT f.shape FROM fit f WHERE f.place = v.place), (SELECT f.shape FROM fit f WHERE f.place = v.package_place),
    CASE WHEN NOT at.is_whole THEN at.reason WHEN v.largest IS NULL THEN 'no memory is known'
        WHEN v.place IS NULL THEN 'no shape is large enough' WHEN v.misfits IS NULL THEN at.reason
        WHEN v.place = 1 THEN v.misfits || ' over the smallest with ' || at.margin || ' %, left out: each one alone of its action'
        ELSE v.misfits || ' of ' || (v.n + v.failed) || ' over the smallest with ' || at.margin || ' %' END
        || CASE WHEN v.is_heavy THEN '; heavy: ' || v.heavy || iif(v.heavy = 1, ' result', ' results') WHEN v.heavy > 0 AND at.has_wide
            THEN '; heavy, left out: ' || v.heavy || ', each one alone of its action' ELSE '' END
        || CASE WHEN v.kills > 0 THEN '; killed for memory: ' || v.kills ELSE '' END
        || CASE WHEN v.suspected > 0 THEN '; suspected ones, of which no container tells: ' || v.suspected ELSE '' END,
    v.number = 1, ',' || v.unders || ','
FROM (SELECT q.*, row_number() OVER whole AS number, group_concat(under) OVER whole AS unders,
        -- Of the rows that are not here the place is the first.
        CASE WHEN count(*) OVER whole = count(place) OVER whole THEN max(place) OVER whole END AS package_place
    FROM (SELECT u.*, CASE WHEN NOT t.is_whole OR u.largest IS NULL THEN NULL
            WHEN u.misfits IS NULL AND u.kills = 0 THEN iif(u.is_heavy, t.wide, t.light)
            ELSE (SELECT min(f.place) FROM fit f WHERE (f.is_wide OR NOT u.is_heavy) AND f.place > u.too_small
                AND (u.kills = 0 OR iif(u.under > 0, f.limit_bytes >= max(u.under * (100 + t.oom_pct) / 100.0, u.under + t.oom_mib * 1048576.0),
                    f.is_largest))) END AS place
        FROM (SELECT p.scope_id, p.package_id, p.under, p.n + ifnull(s.results - s.unknown, 0) AS n, p.unknown + ifnull(s.unknown, 0) AS unknown,
                ifnull(max(p.largest, s.rss_max_bytes), ifnull(p.largest, s.rss_max_bytes)) AS largest, p.heavy, p.kills, p.suspected, p.failed,
                p.misfits, ifnull(p.too_small, 0) AS too_small, p.heavy > p.alone AND b.has_wide AS is_heavy
            FROM (SELECT package_id, scope_id, under, sum(n) AS n, sum(unknown) AS unknown, max(largest) AS largest, sum(heavy) AS heavy,
                    sum(alone) AS alone, sum(kills) AS kills, sum(suspected) AS suspected, sum(failed) AS failed, max(misfits) AS misfits,
                    max(too_small) AS too_small
                FROM _package_part GROUP BY package_id, scope_id, under) p CROSS JOIN at b
                LEFT JOIN package_sum s ON s.project_id = p.scope_id AND s.package_id = p.package_id AND s.limit_bytes = p.under) u CROSS JOIN at t) q
    WINDOW whole AS (PARTITION BY package_id, scope_id ORDER BY under ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) v CROSS JOIN at;

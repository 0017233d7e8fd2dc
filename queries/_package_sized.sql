CREATE VIEW _package_row (
    -- What packages have by memory limit in force, of all kinds: rows to add up.
    by_project,  -- see _scope, as the next one
    project,
    package_id, under,   -- see _package_sum
    n,          -- counted results whose memory is known
    unknown,    -- and of which it is not
    largest,    -- largest peak, bytes
    heavy, alone, -- see _package_heavy
    kills,      -- for memory, of which a container tells
    suspected,  -- of which none does
    failed      -- executions of which memory is known
) AS
SELECT by_project, project, package_id, under, results - unknown, unknown, rss_bytes, 0, 0, 0, 0, 0 FROM _package_sum
UNION ALL
-- What containers' samples add to what processes did.
SELECT k.by_project, j.name, v.package_id, ifnull(a.memory_limit_bytes, 0), v.n, -v.n, v.largest, 0, 0, 0, 0, 0
FROM (SELECT r.project_id, r.package_id, r.allotment_id, sum(r.max_rss_bytes IS NULL) AS n, max(s.working_set_peak_bytes) AS largest
        FROM result_container s CROSS JOIN result r ON r.result_id = s.result_id
        WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND s.working_set_peak_bytes > ifnull(r.max_rss_bytes, -1) GROUP BY 1, 2, 3) v
    CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) k LEFT JOIN project j ON j.project_id = v.project_id AND k.by_project
    LEFT JOIN allotment a ON a.allotment_id = v.allotment_id
UNION ALL
SELECT by_project, project, package_id, under, 0, 0, NULL, heavy, alone, 0, 0, 0 FROM _package_heavy
UNION ALL
SELECT c.by_project, c.project, p.package_id, ifnull(a.memory_limit_bytes, 0), 0, 0, p.bytes, 0, 0, 0, 0, 1
FROM _failed_peak p CROSS JOIN _scope c ON c.scope_id IN (0, p.project_id) LEFT JOIN allotment a ON a.allotment_id = p.allotment_id
UNION ALL
SELECT c.by_project, c.project, p.package_id, ifnull(k.limit_bytes, 0), 0, 0, NULL, 0, 0, k.is_told, NOT k.is_told, 0
FROM _pool_kill k CROSS JOIN package p ON p.name = k.package CROSS JOIN _scope c ON c.by_project = 0 OR c.project = k.project;

CREATE VIEW _package_all (
    -- One row a package and memory limit: the sums of _package_row.
    by_project,  -- see _scope, as the next one
    project,
    package_id, under, n, unknown, largest, heavy, alone, kills, suspected, failed -- see _package_row
) AS
SELECT by_project, project, package_id, under, sum(n), sum(unknown), max(largest), sum(heavy), sum(alone), sum(kills), sum(suspected), sum(failed)
FROM _package_row GROUP BY by_project, project, package_id, under;

CREATE VIEW _package_sized (
    -- What package_sizes and package_sizes_by_project show.
    by_project,  -- see _scope, as the next one
    project,
    package,     -- see package_sizes, as those that follow
    under_gib, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape, reason,
    under       -- memory limit in force, bytes; 0: none, or not known
) AS
WITH fit AS MATERIALIZED (
    SELECT h.shape, row_number() OVER (ORDER BY h.memory_limit_bytes, h.cpu_milli, h.shape) AS place, s.fit_mib, h.memory_limit_bytes AS limit_bytes,
        h.cpu_milli > (SELECT cores * 1000 FROM _heavy_rule) AS is_wide,
        h.memory_limit_bytes = max(h.memory_limit_bytes) OVER () AS is_largest
    FROM shape h JOIN _shape s ON s.shape = h.shape),
at AS MATERIALIZED (
    SELECT z.many, z.oom_pct, z.oom_mib, z.margin, z.is_whole AND h.is_whole AS is_whole, f.light, ifnull(f.wide, f.light) AS wide,
        f.wide IS NOT NULL AS has_wide, f.fit_bytes, f.shape AS light_shape, 'all fit the smallest with ' || z.margin || ' %' AS light_reason
    FROM _sizing_rule z CROSS JOIN _heavy_rule h CROSS JOIN (SELECT min(place) AS light,
        max(CASE WHEN place = 1 THEN shape END) AS shape, min(place) FILTER (WHERE is_wide) AS wide, min(fit_mib) * 1048576.0 AS fit_bytes FROM fit) f),
-- Those that the smallest shape is too small for: few, as a rule.
large AS MATERIALIZED (
    SELECT c.by_project, c.project, c.scope_id, s.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier, s.step
    FROM (SELECT r.result_id FROM (SELECT package_id FROM package_sum WHERE project_id = 0 AND rss_max_bytes > (SELECT fit_bytes FROM at)
            UNION SELECT package_id FROM package_due) p CROSS JOIN result r INDEXED BY result_package ON r.package_id = p.package_id
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.max_rss_bytes > (SELECT fit_bytes FROM at)
        UNION SELECT c.result_id FROM result_container c WHERE c.working_set_peak_bytes > (SELECT fit_bytes FROM at)) l
        CROSS JOIN _sized s ON s.result_id = l.result_id JOIN result r ON r.result_id = s.result_id
        JOIN action_name n ON n.name_id = r.name_id JOIN _scope c ON c.scope_id IN (0, s.project_id)
        LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
    WHERE s.kind = 1),
-- By action; whether one alone is an outlier.
over AS MATERIALIZED (
    SELECT by_project, project, package_id, under, place, sum(n) AS n, sum(NOT is_alone) AS kept
    FROM (SELECT l.by_project, l.project, l.package_id, l.under, f.place, count(*) AS n, CASE WHEN count(*) > 1 THEN 0 ELSE (
                SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = l.package_id AND e.category_id = l.category_id
                    AND e.identifier = l.identifier AND e.under = l.under AND e.max_rss_bytes IS NOT NULL
                    AND l.scope_id IN (0, e.project_id)) >= (SELECT many FROM at) END AS is_alone
        FROM large l JOIN fit f ON l.step > f.fit_mib
        GROUP BY l.by_project, l.project, l.package_id, l.under, l.category_id, l.identifier, f.place
        UNION ALL
        -- What failed is nobody's outlier.
        SELECT c.by_project, c.project, p.package_id, ifnull(a.memory_limit_bytes, 0), f.place, 1, 0
        FROM _failed_peak p JOIN fit f ON p.mib > f.fit_mib JOIN _scope c ON c.scope_id IN (0, p.project_id)
            LEFT JOIN allotment a ON a.allotment_id = p.allotment_id)
    GROUP BY by_project, project, package_id, under, place),
misfit AS MATERIALIZED (SELECT by_project, project, package_id, under, max(n) AS n FROM over GROUP BY by_project, project, package_id, under),
judged AS (
    SELECT m.by_project, m.project, m.package_id, m.under, m.n, m.unknown, m.largest, m.heavy, m.alone, m.kills, m.suspected, m.failed,
        m.heavy > m.alone AND at.has_wide AS is_heavy,
        o.n AS misfits,
        CASE WHEN m.kills > 0 THEN max(m.under * (100 + at.oom_pct) / 100.0, m.under + at.oom_mib * 1048576.0) ELSE 0 END AS least
    FROM _package_all m CROSS JOIN at LEFT JOIN misfit o ON o.package_id = m.package_id AND o.under = m.under AND o.project IS m.project),
placed AS (
    SELECT v.by_project, v.project, v.package_id, v.under, v.n, v.unknown, v.largest, v.heavy, v.alone, v.kills, v.suspected, v.failed,
        v.is_heavy, v.misfits,
        CASE WHEN NOT at.is_whole OR v.largest IS NULL THEN NULL WHEN v.misfits IS NULL AND v.kills = 0 THEN iif(v.is_heavy, at.wide, at.light)
        ELSE (SELECT min(f.place) FROM fit f LEFT JOIN over o ON o.package_id = v.package_id AND o.under = v.under AND o.place = f.place
                AND o.project IS v.project
            WHERE (f.is_wide OR NOT v.is_heavy) AND (v.kills = 0 OR iif(v.under > 0, f.limit_bytes >= v.least, f.is_largest))
                AND ifnull(o.kept, 0) = 0) END AS shape_place
    FROM judged v CROSS JOIN at)
SELECT v.by_project, v.project, p.name, round(nullif(v.under, 0) / 1073741824.0, 3), v.n, v.unknown, round(v.largest / 1073741824.0, 3), v.failed,
    v.heavy, v.kills,
    -- Most are of the smallest, for one reason.
    iif(v.shape_place = at.light, at.light_shape, (SELECT f.shape FROM fit f WHERE f.place = v.shape_place)),
    iif(v.package_place = at.light, at.light_shape, (SELECT f.shape FROM fit f WHERE f.place = v.package_place)),
    CASE WHEN v.shape_place = at.light AND v.misfits IS NULL AND v.heavy + v.kills + v.suspected = 0 THEN at.light_reason ELSE CASE WHEN NOT at.is_whole THEN 'a setting heavy_*, sizing_* or outlier_results is missing'
        WHEN v.largest IS NULL THEN 'no memory is known'
        WHEN v.shape_place IS NULL THEN 'no shape is large enough' WHEN v.misfits IS NULL THEN at.light_reason
        WHEN v.shape_place = 1 THEN v.misfits || ' over the smallest with ' || at.margin || ' %, left out: each one alone of its action'
        ELSE v.misfits || ' of ' || (v.n + v.failed) || ' over the smallest with ' || at.margin || ' %' END
        || CASE WHEN v.is_heavy THEN '; heavy: ' || v.heavy || iif(v.heavy = 1, ' result', ' results') WHEN v.heavy > 0 AND at.has_wide
            THEN '; heavy, left out: ' || v.heavy || ', each one alone of its action' ELSE '' END
        || CASE WHEN v.kills > 0 THEN '; killed for memory: ' || v.kills ELSE '' END
        || CASE WHEN v.suspected > 0 THEN '; suspected ones, of which no container tells: ' || v.suspected ELSE '' END END,
    v.under
FROM (SELECT q.by_project, q.project, q.package_id, q.under, q.n, q.unknown, q.largest, q.heavy, q.kills, q.suspected, q.failed, q.is_heavy,
        q.misfits, q.shape_place,
        CASE WHEN count(*) OVER whole = count(shape_place) OVER whole THEN max(shape_place) OVER whole END AS package_place
    FROM placed q WINDOW whole AS (PARTITION BY by_project, project, package_id)) v CROSS JOIN package p ON p.package_id = v.package_id CROSS JOIN at;

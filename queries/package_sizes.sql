CREATE VIEW package_sizes (
    -- One row a package and memory limit under which it ran, by package: the smallest shape that suits all its
    -- executions, failed ones included. It suits if the peaks fit its limit with setting sizing_margin_pct (or
    -- those that do not have at most 5 % of the wall time); if the package is heavy, only one of more cores than
    -- setting heavy_cores, where there is one. Its limit is never below the largest known peak, but for an outlier:
    -- one result that alone is above it, or heavy, of an action (category and identifier) that has setting
    -- outlier_results of them. A kill for memory always asks for more than the limit under which it came, as
    -- worker_sizing has it, and where that is not known for the largest. Limits are told apart: make -jN follows them.
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
WITH fit AS MATERIALIZED (
    SELECT h.shape, row_number() OVER (ORDER BY h.memory_limit_bytes, h.cpu_milli, h.shape) AS place, s.fit_mib, h.memory_limit_bytes AS limit_bytes,
        h.cpu_milli > (SELECT cores * 1000 FROM _heavy_rule) AS is_wide,
        h.memory_limit_bytes = max(h.memory_limit_bytes) OVER () AS is_largest
    FROM shape h JOIN _shape s ON s.shape = h.shape),
at AS MATERIALIZED (
    SELECT z.many, z.oom_pct, z.oom_mib, z.margin, z.is_whole AND h.is_whole AS is_whole, (SELECT min(place) FROM fit) AS light,
        ifnull((SELECT min(place) FROM fit WHERE is_wide), (SELECT min(place) FROM fit)) AS wide,
        EXISTS (SELECT 1 FROM fit WHERE is_wide) AS has_wide
    FROM _sizing_rule z CROSS JOIN _heavy_rule h),
-- Those that the smallest shape is too small for: few, as a rule.
large AS MATERIALIZED (
    SELECT s.project_id, s.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier, s.step, s.wall_ns
    -- Whether there are any is known without a look at each.
    FROM (SELECT r.result_id FROM result r INDEXED BY result_package
            WHERE (SELECT max(c.size) FROM size_count c WHERE c.kind = 1) > (SELECT min(fit_mib) FROM fit)
                AND r.source = 1 AND r.cpu_ns IS NOT NULL AND r.max_rss_bytes > (SELECT min(fit_mib) * 1048576.0 FROM fit)
        UNION SELECT c.result_id FROM result_container c WHERE c.working_set_peak_bytes > (SELECT min(fit_mib) * 1048576.0 FROM fit)) l
        CROSS JOIN _sized s ON s.result_id = l.result_id JOIN result r ON r.result_id = s.result_id
        JOIN action_name n ON n.name_id = r.name_id LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
    WHERE s.kind = 1),
-- By action, whether one alone may be an outlier.
action AS MATERIALIZED (
    SELECT l.package_id, l.under, l.category_id, l.identifier, (SELECT count(DISTINCT e.result_id) FROM _repeat e
        WHERE e.package_id = l.package_id AND e.category_id = l.category_id AND e.identifier = l.identifier AND e.under = l.under
            AND e.max_rss_bytes IS NOT NULL) >= (SELECT many FROM at) AS is_repeated
    FROM large l GROUP BY l.package_id, l.under, l.category_id, l.identifier),
over AS MATERIALIZED (
    SELECT package_id, under, place, sum(n) AS n, total(CASE WHEN NOT is_alone THEN n END) AS kept,
        total(CASE WHEN NOT is_alone THEN wall_ns END) AS wall_ns, total(CASE WHEN NOT is_alone THEN killed END) AS killed
    FROM (SELECT l.package_id, l.under, f.place, count(*) AS n, total(l.wall_ns) AS wall_ns,
            total(l.step * 1048576.0 > f.limit_bytes) AS killed, count(*) = 1 AND max(i.is_repeated) AS is_alone
        FROM large l JOIN fit f ON l.step > f.fit_mib JOIN action i ON i.package_id = l.package_id AND i.under = l.under
            AND i.category_id = l.category_id AND i.identifier = l.identifier
        GROUP BY l.package_id, l.under, l.category_id, l.identifier, f.place
        UNION ALL
        -- What failed is nobody's outlier.
        SELECT p.package_id, ifnull(a.memory_limit_bytes, 0), f.place, 1, 0, p.bytes > f.limit_bytes, 0
        FROM _failed_peak p JOIN fit f ON p.mib > f.fit_mib LEFT JOIN allotment a ON a.allotment_id = p.allotment_id)
    GROUP BY package_id, under, place),
misfit AS MATERIALIZED (SELECT package_id, under, max(n) AS n FROM over GROUP BY package_id, under),
merged AS (
    SELECT package_id, under, sum(n) AS n, sum(unknown) AS unknown, total(wall_ns) AS wall_ns, max(largest) AS largest,
        sum(heavy) AS heavy, sum(alone) AS alone, sum(kills) AS kills, sum(suspected) AS suspected, sum(failed) AS failed
    FROM (SELECT package_id, ifnull(a.memory_limit_bytes, 0) AS under, n, unknown, wall_ns, largest, 0 AS heavy, 0 AS alone, 0 AS kills,
            0 AS suspected, 0 AS failed
        FROM (SELECT r.package_id, r.allotment_id, count(r.max_rss_bytes) AS n, count(*) - count(r.max_rss_bytes) AS unknown,
                total(r.wall_ns) AS wall_ns, max(r.max_rss_bytes) AS largest
            FROM result r INDEXED BY result_package WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY r.package_id, r.allotment_id
            UNION ALL SELECT r.package_id, r.allotment_id, total(r.max_rss_bytes IS NULL), -total(r.max_rss_bytes IS NULL), 0,
                max(c.working_set_peak_bytes)
            FROM result_container c CROSS JOIN result r ON r.result_id = c.result_id
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND c.working_set_peak_bytes IS NOT NULL GROUP BY r.package_id, r.allotment_id) u
            LEFT JOIN allotment a ON a.allotment_id = u.allotment_id
        UNION ALL SELECT h.package_id, h.under, 0, 0, 0, NULL, h.heavy, h.alone, 0, 0, 0 FROM _package_heavy h
        UNION ALL SELECT p.package_id, ifnull(a.memory_limit_bytes, 0), 0, 0, 0, max(p.bytes), 0, 0, 0, 0, count(*)
        FROM _failed_peak p LEFT JOIN allotment a ON a.allotment_id = p.allotment_id GROUP BY p.package_id, ifnull(a.memory_limit_bytes, 0)
        UNION ALL SELECT p.package_id, ifnull(k.limit_bytes, 0), 0, 0, 0, NULL, 0, 0, sum(k.is_told), sum(NOT k.is_told), 0
        FROM _pool_kill k JOIN package p ON p.name = k.package GROUP BY p.package_id, ifnull(k.limit_bytes, 0))
    GROUP BY package_id, under),
judged AS (
    SELECT m.package_id, m.under, m.n, m.unknown, m.wall_ns, m.largest, m.heavy, m.alone, m.kills, m.suspected, m.failed,
        m.heavy > m.alone AND at.has_wide AS is_heavy,
        o.n AS misfits,
        CASE WHEN m.kills > 0 THEN max(m.under * (100 + at.oom_pct) / 100.0, m.under + at.oom_mib * 1048576.0) ELSE 0 END AS least
    FROM merged m CROSS JOIN at LEFT JOIN misfit o ON o.package_id = m.package_id AND o.under = m.under),
placed AS (
    SELECT v.package_id, v.under, v.n, v.unknown, v.largest, v.heavy, v.alone, v.kills, v.suspected, v.failed, v.is_heavy, v.misfits,
        CASE WHEN NOT at.is_whole OR v.largest IS NULL THEN NULL WHEN v.misfits IS NULL AND v.kills = 0 THEN iif(v.is_heavy, at.wide, at.light)
        ELSE (SELECT min(f.place) FROM fit f LEFT JOIN over o ON o.package_id = v.package_id AND o.under = v.under AND o.place = f.place
            WHERE (f.is_wide OR NOT v.is_heavy) AND (v.kills = 0 OR iif(v.under > 0, f.limit_bytes >= v.least, f.is_largest))
                AND (o.n IS NULL OR o.kept = 0 OR o.wall_ns * 100 <= v.wall_ns * 5 AND o.killed = 0)) END AS shape_place
    FROM judged v CROSS JOIN at)
SELECT p.name, round(nullif(v.under, 0) / 1073741824.0, 3), v.n, v.unknown, round(v.largest / 1073741824.0, 3), v.failed, v.heavy, v.kills,
    (SELECT f.shape FROM fit f WHERE f.place = v.shape_place),
    (SELECT f.shape FROM fit f WHERE f.place = v.package_place),
    CASE WHEN NOT at.is_whole THEN 'a setting heavy_*, sizing_* or outlier_results is missing'
        WHEN v.largest IS NULL THEN 'no memory is known'
        WHEN v.shape_place IS NULL THEN 'no shape is large enough' WHEN v.misfits IS NULL THEN 'all fit the smallest with ' || at.margin || ' %'
        WHEN v.shape_place = 1 THEN v.misfits || ' over the smallest, left out: one alone of its action, or under 5 % of the wall time'
        ELSE v.misfits || ' of ' || (v.n + v.failed) || ' over the smallest with ' || at.margin || ' %' END
        || CASE WHEN v.is_heavy THEN '; heavy: ' || v.heavy || ' results' WHEN v.heavy > 0 AND at.has_wide
            THEN '; heavy, left out: ' || v.heavy || ', each one alone of its action' ELSE '' END
        || CASE WHEN v.kills > 0 THEN '; killed for memory: ' || v.kills ELSE '' END
        || CASE WHEN v.suspected > 0 THEN '; suspected ones, of which no container tells: ' || v.suspected ELSE '' END
FROM (SELECT q.package_id, q.under, q.n, q.unknown, q.largest, q.heavy, q.kills, q.suspected, q.failed, q.is_heavy, q.misfits, q.shape_place,
        CASE WHEN count(*) OVER whole = count(shape_place) OVER whole THEN max(shape_place) OVER whole END AS package_place
    FROM placed q WINDOW whole AS (PARTITION BY package_id)) v CROSS JOIN package p ON p.package_id = v.package_id CROSS JOIN at
ORDER BY p.name, v.under;

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
WITH fit AS MATERIALIZED (
    SELECT h.shape, row_number() OVER (ORDER BY h.memory_limit_bytes, h.cpu_milli, h.shape) AS place, s.fit_mib, h.memory_limit_bytes AS limit_bytes,
        h.cpu_milli > (SELECT cores * 1000 FROM _heavy_rule) AS is_wide,
        h.memory_limit_bytes = max(h.memory_limit_bytes) OVER () AS is_largest
    FROM shape h JOIN _shape s ON s.shape = h.shape),
at AS MATERIALIZED (
    SELECT z.many, z.oom_pct, z.oom_mib, z.margin, z.is_whole AND h.is_whole AS is_whole, (SELECT min(place) FROM fit) AS light,
        ifnull((SELECT min(place) FROM fit WHERE is_wide), (SELECT min(place) FROM fit)) AS wide,
        EXISTS (SELECT 1 FROM fit WHERE is_wide) AS has_wide
    FROM _sizing_rule z CROSS JOIN _heavy_rule h),
-- Those that the smallest shape is too small for: few, as a rule.
large AS MATERIALIZED (
    SELECT j.name AS project, s.project_id, s.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier, s.step, s.wall_ns
    -- Whether there are any is known without a look at each.
    FROM (SELECT r.result_id FROM result r INDEXED BY result_package
            WHERE (SELECT max(c.size) FROM size_count c WHERE c.kind = 1) > (SELECT min(fit_mib) FROM fit)
                AND r.source = 1 AND r.cpu_ns IS NOT NULL AND r.max_rss_bytes > (SELECT min(fit_mib) * 1048576.0 FROM fit)
        UNION SELECT c.result_id FROM result_container c WHERE c.working_set_peak_bytes > (SELECT min(fit_mib) * 1048576.0 FROM fit)) l
        CROSS JOIN _sized s ON s.result_id = l.result_id JOIN result r ON r.result_id = s.result_id
        JOIN action_name n ON n.name_id = r.name_id LEFT JOIN allotment a ON a.allotment_id = s.allotment_id JOIN project j ON j.project_id = s.project_id
    WHERE s.kind = 1),
-- By action, whether one alone may be an outlier.
action AS MATERIALIZED (
    SELECT l.project, l.package_id, l.under, l.category_id, l.identifier, (SELECT count(DISTINCT e.result_id) FROM _repeat e
        WHERE e.package_id = l.package_id AND e.category_id = l.category_id AND e.identifier = l.identifier AND e.under = l.under
            AND e.max_rss_bytes IS NOT NULL AND e.project_id = l.project_id) >= (SELECT many FROM at) AS is_repeated
    FROM large l GROUP BY l.project, l.package_id, l.under, l.category_id, l.identifier),
over AS MATERIALIZED (
    SELECT project, package_id, under, place, sum(n) AS n, total(CASE WHEN NOT is_alone THEN n END) AS kept,
        total(CASE WHEN NOT is_alone THEN wall_ns END) AS wall_ns, total(CASE WHEN NOT is_alone THEN killed END) AS killed
    FROM (SELECT l.project, l.package_id, l.under, f.place, count(*) AS n, total(l.wall_ns) AS wall_ns,
            total(l.step * 1048576.0 > f.limit_bytes) AS killed, count(*) = 1 AND max(i.is_repeated) AS is_alone
        FROM large l JOIN fit f ON l.step > f.fit_mib JOIN action i ON i.package_id = l.package_id AND i.under = l.under
            AND i.category_id = l.category_id AND i.identifier = l.identifier AND i.project = l.project
        GROUP BY l.project, l.package_id, l.under, l.category_id, l.identifier, f.place
        UNION ALL
        -- What failed is nobody's outlier.
        SELECT j.name AS project, p.package_id, ifnull(a.memory_limit_bytes, 0), f.place, 1, 0, p.bytes > f.limit_bytes, 0
        FROM _failed_peak p JOIN fit f ON p.mib > f.fit_mib LEFT JOIN allotment a ON a.allotment_id = p.allotment_id JOIN project j ON j.project_id = p.project_id)
    GROUP BY project, package_id, under, place),
misfit AS MATERIALIZED (SELECT project, package_id, under, max(n) AS n FROM over GROUP BY project, package_id, under),
merged AS (
    SELECT project, package_id, under, row_number() OVER one AS place, sum(n) OVER one AS n, sum(unknown) OVER one AS unknown,
        total(wall_ns) OVER one AS wall_ns, max(largest) OVER one AS largest, sum(heavy) OVER one AS heavy, sum(alone) OVER one AS alone,
        sum(kills) OVER one AS kills, sum(suspected) OVER one AS suspected, sum(failed) OVER one AS failed
    FROM (SELECT project, package_id, ifnull(a.memory_limit_bytes, 0) AS under, n, unknown, wall_ns, largest, 0 AS heavy, 0 AS alone, 0 AS kills,
            0 AS suspected, 0 AS failed
        FROM (SELECT j.name AS project, r.package_id, r.allotment_id, count(r.max_rss_bytes) AS n, count(*) - count(r.max_rss_bytes) AS unknown,
                total(r.wall_ns) AS wall_ns, max(r.max_rss_bytes) AS largest
            -- The plus keeps SQLite from making an index of its own, which costs more than the scan.
            FROM project j CROSS JOIN result r NOT INDEXED ON +r.project_id = j.project_id
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY j.name, r.package_id, r.allotment_id
            UNION ALL SELECT j.name AS project, r.package_id, r.allotment_id, total(r.max_rss_bytes IS NULL), -total(r.max_rss_bytes IS NULL), 0,
                max(c.working_set_peak_bytes)
            FROM result_container c CROSS JOIN result r ON r.result_id = c.result_id JOIN project j ON j.project_id = r.project_id
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND c.working_set_peak_bytes IS NOT NULL GROUP BY j.name, r.package_id, r.allotment_id) u
            LEFT JOIN allotment a ON a.allotment_id = u.allotment_id
        UNION ALL SELECT h.project, h.package_id, h.under, 0, 0, 0, NULL, h.heavy, h.alone, 0, 0, 0 FROM _package_heavy_by_project h
        UNION ALL SELECT j.name, p.package_id, ifnull(a.memory_limit_bytes, 0), 0, 0, 0, max(p.bytes), 0, 0, 0, 0, count(*)
        FROM _failed_peak p JOIN project j ON j.project_id = p.project_id LEFT JOIN allotment a ON a.allotment_id = p.allotment_id
        GROUP BY j.name, p.package_id, ifnull(a.memory_limit_bytes, 0)
        UNION ALL SELECT k.project, p.package_id, ifnull(k.limit_bytes, 0), 0, 0, 0, NULL, 0, 0, sum(k.is_told), sum(NOT k.is_told), 0
        FROM _pool_kill k JOIN package p ON p.name = k.package GROUP BY k.project, p.package_id, ifnull(k.limit_bytes, 0))
    WINDOW one AS (PARTITION BY project, package_id, under)),
judged AS (
    SELECT m.project, m.package_id, m.under, m.n, m.unknown, m.wall_ns, m.largest, m.heavy, m.alone, m.kills, m.suspected, m.failed,
        m.heavy > m.alone AND at.has_wide AS is_heavy,
        o.n AS misfits,
        CASE WHEN m.kills > 0 THEN max(m.under * (100 + at.oom_pct) / 100.0, m.under + at.oom_mib * 1048576.0) ELSE 0 END AS least
    FROM merged m CROSS JOIN at
        LEFT JOIN misfit o ON o.project = m.project AND o.package_id = m.package_id AND o.under = m.under
    WHERE m.place = 1),
placed AS (
    SELECT v.project, v.package_id, v.under, v.n, v.unknown, v.largest, v.heavy, v.alone, v.kills, v.suspected, v.failed, v.is_heavy, v.misfits,
        CASE WHEN NOT at.is_whole OR v.largest IS NULL THEN NULL WHEN v.misfits IS NULL AND v.kills = 0 THEN iif(v.is_heavy, at.wide, at.light)
        ELSE (SELECT min(f.place) FROM fit f LEFT JOIN over o ON o.project = v.project AND o.package_id = v.package_id AND o.under = v.under AND o.place = f.place
            WHERE (f.is_wide OR NOT v.is_heavy) AND (v.kills = 0 OR iif(v.under > 0, f.limit_bytes >= v.least, f.is_largest))
                AND (o.n IS NULL OR o.kept = 0 OR o.wall_ns * 100 <= v.wall_ns * 5 AND o.killed = 0)) END AS shape_place
    FROM judged v CROSS JOIN at)
SELECT v.project, p.name, round(nullif(v.under, 0) / 1073741824.0, 3), v.n, v.unknown, round(v.largest / 1073741824.0, 3), v.failed, v.heavy, v.kills,
    (SELECT f.shape FROM fit f WHERE f.place = v.shape_place),
    (SELECT f.shape FROM fit f WHERE f.place = v.package_place),
    CASE WHEN NOT at.is_whole THEN 'a setting heavy_*, sizing_* or outlier_results is missing'
        WHEN v.largest IS NULL THEN 'no memory is known'
        WHEN v.shape_place IS NULL THEN 'no shape is large enough' WHEN v.misfits IS NULL THEN 'all fit the smallest with ' || at.margin || ' %'
        WHEN v.shape_place = 1 THEN v.misfits || ' over the smallest, left out: one alone of its action, or under 5 % of the wall time'
        ELSE v.misfits || ' of ' || (v.n + v.failed) || ' over the smallest with ' || at.margin || ' %' END
        || CASE WHEN v.is_heavy THEN '; heavy: ' || v.heavy || ' results' WHEN v.heavy > 0 AND at.has_wide
            THEN '; heavy, left out: ' || v.heavy || ', each one alone of its action' ELSE '' END
        || CASE WHEN v.kills > 0 THEN '; killed for memory: ' || v.kills ELSE '' END
        || CASE WHEN v.suspected > 0 THEN '; suspected ones, of which no container tells: ' || v.suspected ELSE '' END
FROM (SELECT q.project, q.package_id, q.under, q.n, q.unknown, q.largest, q.heavy, q.kills, q.suspected, q.failed, q.is_heavy, q.misfits, q.shape_place,
        CASE WHEN count(*) OVER whole = count(shape_place) OVER whole THEN max(shape_place) OVER whole END AS package_place
    FROM placed q WINDOW whole AS (PARTITION BY project, package_id)) v CROSS JOIN package p ON p.package_id = v.package_id CROSS JOIN at
ORDER BY v.project, p.name, v.under;

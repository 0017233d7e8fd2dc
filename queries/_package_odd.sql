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
    -- By what packages are sized, and what is said of one whose executions all fit the smallest shape: one row.
    is_whole,    -- 1: no setting is missing; else nothing is said to suit
    light,       -- place of the smallest shape; NULL: there is none, as in the next one
    wide,        -- place of the smallest one of more cores than setting heavy_cores
    margin,      -- see _sizing_rule, as the next two
    oom_pct, oom_mib,
    shape,       -- name of the smallest one; NULL: nothing suits
    reason       -- in words
) AS
SELECT v.is_whole, v.light, v.wide, v.margin, v.oom_pct, v.oom_mib, CASE WHEN v.is_whole THEN v.shape END,
    CASE WHEN NOT v.is_whole THEN 'a setting heavy_*, sizing_* or outlier_results is missing'
        WHEN v.light IS NULL THEN 'no shape is large enough' ELSE 'all fit the smallest with ' || v.margin || ' %' END
FROM (SELECT z.is_whole AND h.is_whole AS is_whole, f.light, f.wide, z.margin, z.oom_pct, z.oom_mib, f.shape
    -- shape is that of the row with the least place.
    FROM _sizing_rule z CROSS JOIN _heavy_rule h CROSS JOIN (SELECT min(place) AS light, shape,
            (SELECT min(w.place) FROM _package_fit w WHERE w.is_wide) AS wide FROM _package_fit) f) v;

CREATE VIEW _package_misfit (
    -- What does not fit the smallest shape: one row a package that has such.
    by_project, -- see _package_heavy, as the next one
    scope_id,
    package_id,  -- of table package
    misfits,     -- executions that do not fit it
    too_small    -- the largest place of a shape (see _package_fit) for which one decides that is no outlier; NULL: none
) AS
WITH fit AS MATERIALIZED (SELECT place, fit_mib FROM _package_fit),
at AS MATERIALIZED (SELECT min(fit_mib) * 1048576.0 AS fit_bytes, (SELECT many FROM _sizing_rule) AS many FROM fit),
large AS MATERIALIZED (
    SELECT k.by_project, iif(k.by_project, s.project_id, 0) AS scope_id, s.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier, s.step
    FROM (SELECT r.result_id FROM (SELECT package_id FROM package_sum WHERE project_id = 0 AND rss_max_bytes > (SELECT fit_bytes FROM at)
            UNION SELECT package_id FROM package_due) p CROSS JOIN result r INDEXED BY result_package ON r.package_id = p.package_id
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.max_rss_bytes > (SELECT fit_bytes FROM at)
        UNION SELECT c.result_id FROM result_container c INDEXED BY result_container_peak
            WHERE c.working_set_peak_bytes > (SELECT fit_bytes FROM at)) l
        CROSS JOIN _sized s ON s.result_id = l.result_id JOIN result r ON r.result_id = s.result_id
        JOIN action_name n ON n.name_id = r.name_id CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) k
        LEFT JOIN allotment a ON a.allotment_id = s.allotment_id
    WHERE s.kind = 1)
SELECT by_project, scope_id, package_id, sum(n) FILTER (WHERE place = 1), max(place) FILTER (WHERE kept > 0)
FROM (SELECT by_project, scope_id, package_id, place, sum(n) AS n, sum(NOT is_alone) AS kept
    FROM (
        -- By action and memory limit; whether one alone is an outlier.
        SELECT l.by_project, l.scope_id, l.package_id, f.place, count(*) AS n, CASE WHEN count(*) > 1 THEN 0 ELSE (
                SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = l.package_id AND e.category_id = l.category_id
                    AND e.identifier = l.identifier AND e.under = l.under AND e.max_rss_bytes IS NOT NULL
                    AND l.scope_id IN (0, e.project_id)) >= (SELECT many FROM at) END AS is_alone
        FROM large l JOIN fit f ON l.step > f.fit_mib
        GROUP BY l.scope_id, l.package_id, l.under, l.category_id, l.identifier, f.place
        UNION ALL
        -- What failed is nobody's outlier.
        SELECT c.by_project, c.scope_id, p.package_id, f.place, 1, 0
        FROM _failed_peak p JOIN fit f ON p.mib > f.fit_mib JOIN _scope c ON c.scope_id IN (0, p.project_id))
    GROUP BY scope_id, package_id, place)
GROUP BY scope_id, package_id;

CREATE VIEW _package_due (
    -- Counted results of packages that the ingest has yet to sum up anew: none, as a rule.
    by_project, -- see _package_heavy, as the next two
    scope_id, package_id,
    results, unknown, -- of which memory is known, and not
    largest      -- largest process, bytes
) AS
SELECT k.by_project, iif(k.by_project, r.project_id, 0), r.package_id, count(r.max_rss_bytes), sum(r.max_rss_bytes IS NULL), max(r.max_rss_bytes)
FROM package_due d CROSS JOIN result r INDEXED BY result_package ON r.package_id = d.package_id
    CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) k
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY r.package_id, k.by_project, iif(k.by_project, r.project_id, 0);

CREATE VIEW _package_sampled (
    -- What containers' samples add to what the processes of counted results did.
    by_project, -- see _package_heavy, as the next two
    scope_id, package_id,
    only,        -- results of which nothing else is known
    largest      -- largest peak, bytes
) AS
SELECT k.by_project, iif(k.by_project, r.project_id, 0), r.package_id, sum(r.max_rss_bytes IS NULL), max(c.working_set_peak_bytes)
FROM result_container c INDEXED BY result_container_peak CROSS JOIN result r ON r.result_id = c.result_id
    CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) k
WHERE c.working_set_peak_bytes > ifnull(r.max_rss_bytes, -1) AND r.source = 1 AND r.cpu_ns IS NOT NULL
GROUP BY r.package_id, k.by_project, iif(k.by_project, r.project_id, 0);

CREATE VIEW _package_failed (
    -- Failed executions of which memory is known.
    by_project, -- see _package_heavy, as the next two
    scope_id, package_id,
    failed,      -- how many
    largest      -- largest peak, bytes
) AS
SELECT k.by_project, iif(k.by_project, p.project_id, 0), p.package_id, sum(NOT p.is_again), max(p.bytes)
FROM _failed_peak p CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) k
GROUP BY p.package_id, k.by_project, iif(k.by_project, p.project_id, 0);

CREATE VIEW _package_killed (
    -- Kills for memory.
    by_project, -- see _package_heavy, as the next two
    scope_id, package_id,
    kills,       -- of which a container tells
    suspected,   -- of which none does
    limit_bytes, -- the largest one under which a kill of the former came; NULL: none is known
    no_limit     -- of the former: there was none, or it is not known
) AS
SELECT c.by_project, iif(c.by_project, k.project_id, 0), k.package_id, sum(k.is_told), sum(NOT k.is_told),
    max(k.limit_bytes) FILTER (WHERE k.is_told), sum(k.is_told AND ifnull(k.limit_bytes, 0) = 0)
FROM _package_kill k CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) c
GROUP BY k.package_id, c.by_project, iif(c.by_project, k.project_id, 0);

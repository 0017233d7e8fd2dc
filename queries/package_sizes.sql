CREATE VIEW package_sizes (
    -- One row a package, by name: the smallest shape that suits all its executions, failed ones included. It suits if
    -- all peaks fit its limit with setting sizing_margin_pct, as in `br2-ingest plan`; if the package is heavy, only
    -- one of more cores than setting heavy_cores, where there is one. Left out is an outlier: one result that alone is
    -- above it, or heavy, of an action (category and identifier) that has setting outlier_results of them under the
    -- same memory limit. A kill for memory always asks for more than the limit under which it came, as worker_sizing
    -- has it, and where that is not known for the largest. Whatever the limit under which they ran counts, though make
    -- -jN follows it: what a package needed under each, usage tells by mem_limit_gib.
    package,        -- the target's name
    results,        -- counted results whose memory is known
    unknown,        -- and of which it is not
    largest_gib,    -- the largest peak, as in worker_sizing, failed ones included; NULL: none is known, and no shape
    failed,         -- failed executions of which memory is known: not among the results
    heavy_results,  -- results that are heavy as in heavy_packages
    oom_kills,      -- kills for memory
    shape,          -- the smallest one of table shape that suits; NULL: none does
    reason          -- in words
) AS
WITH fit AS MATERIALIZED (SELECT shape, place, limit_bytes, is_wide, is_largest FROM _package_fit)
SELECT package, results, unknown, round(largest / 1073741.824) / 1000, failed, heavy, kills, CASE WHEN largest IS NOT NULL
        THEN iif(place = light, light_shape, (SELECT f.shape FROM fit f WHERE f.place = v.place)) END,
    CASE WHEN NOT is_whole OR largest IS NOT NULL AND place IS NOT NULL AND misfits IS NULL THEN light_reason
        WHEN largest IS NULL THEN 'no memory is known' WHEN place IS NULL THEN 'no shape is large enough'
        ELSE misfits || ' of ' || (results + failed) || ' over the smallest with ' || margin || ' %'
            || CASE WHEN too_small IS NULL THEN ', left out: each one alone of its action' ELSE '' END END
        || CASE WHEN heavy = 0 THEN '' WHEN is_heavy THEN '; heavy: ' || heavy || iif(heavy = 1, ' result', ' results')
            WHEN wide IS NOT NULL THEN '; heavy, left out: ' || heavy || ', each one alone of its action' ELSE '' END
        || CASE WHEN kills > 0 THEN '; killed for memory: ' || kills ELSE '' END
        || CASE WHEN suspected > 0 THEN '; suspected ones, of which no container tells: ' || suspected ELSE '' END
FROM (SELECT package, results, unknown, largest, failed, heavy, is_heavy, kills, suspected, misfits, too_small, is_whole, light, wide, margin,
        light_shape, light_reason, CASE WHEN NOT is_whole THEN NULL WHEN misfits IS NULL AND kills = 0 THEN iif(is_heavy, wide, light)
        ELSE (SELECT min(f.place) FROM fit f WHERE (f.is_wide OR NOT is_heavy) AND f.place > ifnull(too_small, 0)
            AND (killed_bytes IS NULL OR f.limit_bytes >= max(killed_bytes * (100 + oom_pct) / 100.0, killed_bytes + oom_mib * 1048576.0))
            AND (f.is_largest OR no_limit = 0)) END AS place
    -- Of a group all but the columns of s are the same in each row.
    FROM (SELECT p.name AS package, ifnull(sum(s.results - s.unknown), 0) + ifnull(d.results, 0) + ifnull(m.only, 0) AS results,
            ifnull(sum(s.unknown), 0) + ifnull(d.unknown, 0) - ifnull(m.only, 0) AS unknown,
            nullif(max(ifnull(max(s.rss_max_bytes), -1), ifnull(d.largest, -1), ifnull(m.largest, -1), ifnull(f.largest, -1)), -1) AS largest,
            ifnull(f.failed, 0) AS failed, ifnull(h.heavy, 0) AS heavy, h.decides IS 1 AND r.wide IS NOT NULL AS is_heavy,
            ifnull(q.kills, 0) AS kills, ifnull(q.suspected, 0) AS suspected, nullif(q.limit_bytes, 0) AS killed_bytes, ifnull(q.no_limit, 0) AS no_limit,
            x.misfits, x.too_small, r.is_whole, r.light, r.wide, r.margin, r.oom_pct, r.oom_mib, r.shape AS light_shape, r.reason AS light_reason
        FROM package p LEFT JOIN _package_due d ON d.by_project = 0 AND d.scope_id = 0 AND d.package_id = p.package_id
            LEFT JOIN _package_sampled m ON m.by_project = 0 AND m.scope_id = 0 AND m.package_id = p.package_id
            LEFT JOIN _package_failed f ON f.by_project = 0 AND f.scope_id = 0 AND f.package_id = p.package_id
            LEFT JOIN (SELECT scope_id, package_id, max(heavy) AS heavy, max(decides) AS decides FROM _package_heavy
                WHERE by_project = 0 GROUP BY package_id, scope_id) h ON h.package_id = p.package_id
            LEFT JOIN _package_killed q ON q.by_project = 0 AND q.scope_id = 0 AND q.package_id = p.package_id
            LEFT JOIN _package_misfit x ON x.by_project = 0 AND x.scope_id = 0 AND x.package_id = p.package_id
            CROSS JOIN _package_rule r LEFT JOIN package_sum s ON s.project_id = 0 AND s.package_id = p.package_id
        GROUP BY p.name
        HAVING count(s.package_id) > 0 OR coalesce(d.package_id, f.package_id, q.package_id) IS NOT NULL) u) v
ORDER BY package;

CREATE VIEW package_sizes_by_project (
    -- The rows of package_sizes of each project, by project. A digest belongs to the project of its first reference.
    project,        -- name
    package,        -- the target's name
    results,        -- counted results whose memory is known
    unknown,        -- and of which it is not
    largest_gib,    -- the largest peak, as in worker_sizing, failed ones included; NULL: none is known, and no shape
    failed,         -- failed executions of which memory is known: not among the results
    heavy_results,  -- results that are heavy as in heavy_packages
    oom_kills,      -- kills for memory
    shape,          -- the smallest one of table shape that suits; NULL: none does
    reason          -- in words
) AS
WITH fit AS MATERIALIZED (SELECT shape, place, limit_bytes, is_wide, is_largest FROM _package_fit)
SELECT project, package, results, unknown, round(largest / 1073741.824) / 1000, failed, heavy, kills, CASE WHEN largest IS NOT NULL
        THEN iif(place = light, light_shape, (SELECT f.shape FROM fit f WHERE f.place = v.place)) END,
    CASE WHEN NOT is_whole OR largest IS NOT NULL AND place IS NOT NULL AND misfits IS NULL THEN light_reason
        WHEN largest IS NULL THEN 'no memory is known' WHEN place IS NULL THEN 'no shape is large enough'
        ELSE misfits || ' of ' || (results + failed) || ' over the smallest with ' || margin || ' %'
            || CASE WHEN too_small IS NULL THEN ', left out: each one alone of its action' ELSE '' END END
        || CASE WHEN heavy = 0 THEN '' WHEN is_heavy THEN '; heavy: ' || heavy || iif(heavy = 1, ' result', ' results')
            WHEN wide IS NOT NULL THEN '; heavy, left out: ' || heavy || ', each one alone of its action' ELSE '' END
        || CASE WHEN kills > 0 THEN '; killed for memory: ' || kills ELSE '' END
        || CASE WHEN suspected > 0 THEN '; suspected ones, of which no container tells: ' || suspected ELSE '' END
FROM (SELECT project, package, results, unknown, largest, failed, heavy, is_heavy, kills, suspected, misfits, too_small, is_whole, light, wide, margin,
        light_shape, light_reason, CASE WHEN NOT is_whole THEN NULL WHEN misfits IS NULL AND kills = 0 THEN iif(is_heavy, wide, light)
        ELSE (SELECT min(f.place) FROM fit f WHERE (f.is_wide OR NOT is_heavy) AND f.place > ifnull(too_small, 0)
            AND (killed_bytes IS NULL OR f.limit_bytes >= max(killed_bytes * (100 + oom_pct) / 100.0, killed_bytes + oom_mib * 1048576.0))
            AND (f.is_largest OR no_limit = 0)) END AS place
    -- Of a group all but the columns of s are the same in each row.
    FROM (SELECT j.name AS project, p.name AS package, ifnull(sum(s.results - s.unknown), 0) + ifnull(d.results, 0) + ifnull(m.only, 0) AS results,
            ifnull(sum(s.unknown), 0) + ifnull(d.unknown, 0) - ifnull(m.only, 0) AS unknown,
            nullif(max(ifnull(max(s.rss_max_bytes), -1), ifnull(d.largest, -1), ifnull(m.largest, -1), ifnull(f.largest, -1)), -1) AS largest,
            ifnull(f.failed, 0) AS failed, ifnull(h.heavy, 0) AS heavy, h.decides IS 1 AND r.wide IS NOT NULL AS is_heavy,
            ifnull(q.kills, 0) AS kills, ifnull(q.suspected, 0) AS suspected, nullif(q.limit_bytes, 0) AS killed_bytes, ifnull(q.no_limit, 0) AS no_limit,
            x.misfits, x.too_small, r.is_whole, r.light, r.wide, r.margin, r.oom_pct, r.oom_mib, r.shape AS light_shape, r.reason AS light_reason
        FROM project j CROSS JOIN package p LEFT JOIN _package_due d ON d.by_project = 1 AND d.scope_id = j.project_id AND d.package_id = p.package_id
            LEFT JOIN _package_sampled m ON m.by_project = 1 AND m.scope_id = j.project_id AND m.package_id = p.package_id
            LEFT JOIN _package_failed f ON f.by_project = 1 AND f.scope_id = j.project_id AND f.package_id = p.package_id
            LEFT JOIN (SELECT scope_id, package_id, max(heavy) AS heavy, max(decides) AS decides FROM _package_heavy
                WHERE by_project = 1 GROUP BY package_id, scope_id) h ON h.scope_id = j.project_id AND h.package_id = p.package_id
            LEFT JOIN _package_killed q ON q.by_project = 1 AND q.scope_id = j.project_id AND q.package_id = p.package_id
            LEFT JOIN _package_misfit x ON x.by_project = 1 AND x.scope_id = j.project_id AND x.package_id = p.package_id
            CROSS JOIN _package_rule r LEFT JOIN package_sum s ON s.project_id = j.project_id AND s.package_id = p.package_id
        GROUP BY j.name, p.name
        HAVING count(s.package_id) > 0 OR coalesce(d.package_id, f.package_id, q.package_id) IS NOT NULL) u) v
ORDER BY project, package;

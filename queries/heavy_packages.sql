CREATE VIEW heavy_packages (
    -- One row a package with heavy results, by the wall time of these, and one each other package that a
    -- project.json lists. Heavy: ran over setting heavy_wall_s, or averaged over heavy_cores and ran over
    -- heavy_cores_min_s. Only what has usage is judged; each digest once.
    package,       -- the target's name
    heavy_actions, -- heavy results
    long_actions,  -- of these, by their wall time
    wide_actions,  -- of these, by their cores
    actions,       -- all results of the package with usage
    longest_s,     -- longest wall time of a heavy one, seconds; where none is heavy, of all
    max_cores,     -- most average cores of a heavy one
    max_rss_gib,   -- largest single process of a heavy one
    heavy_wall_h,  -- wall time of the heavy ones, hours
    listed,        -- 1: a project's heavy list in project.json has it now; NULL: not read for any project where it is heavy
    -- add (heavy, not listed), keep (heavy and listed), drop (listed, and none of its results is heavy), not
    -- seen (listed, and no execution of it is known: it stays in the list). Where projects differ, the first of
    -- these that one of them needs; drop and not seen only where it is heavy in none. NULL: heavy only where no
    -- project.json was read; or it would be drop, and a setting heavy_* is missing.
    verdict
) AS
SELECT v.package, v.n, v.long, v.wide,
    -- Kept, but where the ingest has yet to sum the package up anew.
    ifnull((SELECT sum(s.results) FROM package_sum s WHERE s.project_id = 0 AND s.package_id = v.package_id),
        (SELECT count(*) FROM result r INDEXED BY result_package WHERE r.package_id = v.package_id AND r.source = 1 AND r.cpu_ns IS NOT NULL)),
    -- Where none is heavy: of all projects, as actions is, whoever lists it.
    round(CASE WHEN v.n > 0 THEN v.longest ELSE ifnull((SELECT max(s.wall_max_ns) FROM package_sum s
            WHERE s.project_id = 0 AND s.package_id = v.package_id), (SELECT max(r.wall_ns) FROM result r INDEXED BY result_package
            WHERE r.package_id = v.package_id AND r.source = 1 AND r.cpu_ns IS NOT NULL)) END / 1e9, 1),
    round(v.cores, 2), round(v.rss / 1073741824.0, 2), round(v.wall / 3.6e12, 3),
    CASE WHEN v.is_listed THEN 1 WHEN v.is_read THEN 0 END,
    CASE v.need WHEN 1 THEN 'add' WHEN 2 THEN 'keep' WHEN 3 THEN CASE WHEN v.n = 0 AND (SELECT is_whole FROM _heavy_rule) THEN 'drop' END
        WHEN 4 THEN CASE WHEN v.n = 0 THEN 'not seen' END END
FROM (SELECT h.package, max(h.package_id) AS package_id, sum(h.n) AS n, sum(h.long) AS long, sum(h.wide) AS wide,
        max(CASE WHEN h.n > 0 THEN h.longest_ns END) AS longest, max(h.cores) AS cores,
        max(h.rss_bytes) AS rss, total(h.wall_ns) AS wall, max(h.position) IS NOT NULL AS is_listed,
        max(f.project_id) IS NOT NULL AS is_read,
        min(CASE WHEN f.project_id IS NOT NULL THEN CASE WHEN h.n > 0 THEN iif(h.position IS NULL, 1, 2)
            WHEN h.actions > 0 THEN 3 ELSE 4 END END) AS need
    FROM _heavy_or_listed h LEFT JOIN project_file f ON f.project_id = h.project_id GROUP BY h.package) v
ORDER BY v.wall DESC, v.package;

CREATE VIEW heavy_packages_by_project (
    -- One row a project and package with heavy results, by project and wall time, and one each other package that
    -- its project.json lists. A digest belongs to the project of its first reference.
    project,       -- name
    package,       -- the target's name
    heavy_actions, -- heavy results
    long_actions,  -- of these, by their wall time
    wide_actions,  -- of these, by their cores
    actions,       -- all results of the project's package with usage
    longest_s,     -- longest wall time of a heavy one, seconds; where none is heavy, of all
    max_cores,     -- most average cores of a heavy one
    max_rss_gib,   -- largest single process of a heavy one
    heavy_wall_h,  -- wall time of the heavy ones, hours
    listed,        -- 1: heavy of the project's project.json has it now; NULL: that file was not read
    verdict        -- add, keep, drop or not seen, see heavy_packages; NULL: project.json was not read, or a setting is missing
) AS
SELECT project, package, heavy_actions, long_actions, wide_actions, actions, round(longest_ns / 1e9, 1), round(cores, 2),
    round(rss_bytes / 1073741824.0, 2), round(wall_ns / 3.6e12, 3), CASE WHEN is_read THEN position IS NOT NULL END, verdict
FROM _heavy_package ORDER BY project, wall_ns DESC, package;

CREATE VIEW heavy_packages_by_run (
    -- One row a run and package with heavy results, by run and wall time, and one each other package that the
    -- run's project.json lists. Hits included. Judged by this run alone: what to list is told by the project's rows.
    run,           -- trace id
    package,       -- the target's name
    heavy_actions, -- heavy results
    long_actions,  -- of these, by their wall time
    wide_actions,  -- of these, by their cores
    actions,       -- all results of the package with usage that the run refers to
    longest_s,     -- longest wall time of a heavy one, seconds; where none is heavy, of all
    max_cores,     -- most average cores of a heavy one
    max_rss_gib,   -- largest single process of a heavy one
    heavy_wall_h,  -- wall time of the heavy ones, hours
    listed,        -- 1: heavy of the project's project.json has it now; NULL: that file was not read
    verdict        -- add, keep, drop or not seen (in this run), see heavy_packages; NULL: project.json was not read, or a setting is missing
) AS
WITH at AS MATERIALIZED (
    SELECT wall_ns AS wall, cores, cores_wall_ns AS min_wall, is_whole FROM _heavy_rule)
SELECT u.run, u.package, u.n, u.long, u.wide, u.actions, round(u.longest / 1e9, 1), round(u.cores, 2), round(u.rss / 1073741824.0, 2),
    round(u.wall / 3.6e12, 3), CASE WHEN f.project_id IS NOT NULL THEN u.is_listed END,
    CASE WHEN f.project_id IS NOT NULL THEN CASE WHEN u.n > 0 THEN iif(u.is_listed, 'keep', 'add')
        WHEN u.actions > 0 THEN CASE WHEN (SELECT is_whole FROM at) THEN 'drop' END ELSE 'not seen' END END
FROM (SELECT v.run, v.project_id, p.name AS package, sum(v.is_heavy) AS n, sum(v.is_long) AS long, sum(v.is_wide) AS wide,
        count(*) AS actions, ifnull(max(CASE WHEN v.is_heavy THEN v.wall_ns END), max(v.wall_ns)) AS longest,
        max(CASE WHEN v.is_heavy THEN v.cores END) AS cores,
        max(CASE WHEN v.is_heavy THEN v.max_rss_bytes END) AS rss, total(CASE WHEN v.is_heavy THEN v.wall_ns END) AS wall,
        EXISTS (SELECT 1 FROM listed_package l WHERE l.project_id = v.project_id AND l.package = p.name) AS is_listed
    FROM (SELECT w.run, w.project_id, w.package_id, w.wall_ns, w.cores, w.max_rss_bytes, w.is_long, w.is_wide,
            w.is_long OR w.is_wide AS is_heavy
        FROM (SELECT g.trace_id AS run, g.project_id, s.package_id, s.wall_ns, s.cores, s.max_rss_bytes,
                ifnull(s.wall_ns > (SELECT wall FROM at), 0) AS is_long,
                ifnull(s.cores > (SELECT cores FROM at) AND s.wall_ns > (SELECT min_wall FROM at), 0) AS is_wide
            FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN result s ON s.lookup_id = d.lookup_id
            WHERE s.source = 1 AND s.cpu_ns IS NOT NULL) w) v JOIN package p ON p.package_id = v.package_id
    GROUP BY v.run, v.package_id HAVING sum(v.is_heavy) > 0 OR is_listed
    UNION ALL
    SELECT g.trace_id, g.project_id, l.package, 0, 0, 0, 0, NULL, NULL, NULL, 0.0, 1
    FROM run g JOIN listed_package l ON l.project_id = g.project_id
    WHERE NOT EXISTS (SELECT 1 FROM package p CROSS JOIN result s INDEXED BY result_package ON s.package_id = p.package_id
        CROSS JOIN attempt a ON a.lookup_id = s.lookup_id AND a.run_id = g.run_id
        WHERE p.name = l.package AND s.source = 1 AND s.cpu_ns IS NOT NULL)) u
    LEFT JOIN project_file f ON f.project_id = u.project_id
ORDER BY u.run, u.wall DESC, u.package;

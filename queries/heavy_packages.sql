CREATE VIEW heavy_packages (
    -- One row a package with heavy results, by the wall time of these: candidates for heavy in
    -- project.json. Heavy: ran over setting heavy_wall_s, or averaged over heavy_cores and ran over
    -- heavy_cores_min_s. Only what has usage is judged; each digest once.
    package,       -- the target's name
    heavy_actions, -- heavy results
    long_actions,  -- of these, by their wall time
    wide_actions,  -- of these, by their cores
    actions,       -- all results of the package with usage
    longest_s,     -- longest wall time, seconds
    max_cores,     -- most average cores of a heavy one
    max_rss_gib,   -- largest single process of a heavy one
    heavy_wall_h   -- wall time of the heavy ones, hours
) AS
SELECT p.name, count(*), sum(h.is_long), sum(h.is_wide),
    (SELECT count(*) FROM result r INDEXED BY result_package WHERE r.package_id = p.package_id AND r.source = 1 AND r.cpu_ns IS NOT NULL),
    round(max(h.wall_ns) / 1e9, 1), round(max(h.cores), 2), round(max(h.max_rss_bytes) / 1073741824.0, 2),
    round(total(h.wall_ns) / 3.6e12, 3)
FROM _heavy h JOIN package p ON p.package_id = h.package_id
GROUP BY p.package_id ORDER BY total(h.wall_ns) DESC, p.name;

CREATE VIEW heavy_packages_by_project (
    -- One row a project and package with heavy results, by project and wall time. A digest belongs to the project of its first reference.
    project,       -- name
    package,       -- the target's name
    heavy_actions, -- heavy results
    long_actions,  -- of these, by their wall time
    wide_actions,  -- of these, by their cores
    actions,       -- all results of the project's package with usage
    longest_s,     -- longest wall time, seconds
    max_cores,     -- most average cores of a heavy one
    max_rss_gib,   -- largest single process of a heavy one
    heavy_wall_h   -- wall time of the heavy ones, hours
) AS
SELECT j.name, p.name, count(*), sum(h.is_long), sum(h.is_wide),
    (SELECT count(*) FROM result r INDEXED BY result_package WHERE r.package_id = p.package_id AND r.source = 1 AND r.cpu_ns IS NOT NULL AND r.project_id = j.project_id),
    round(max(h.wall_ns) / 1e9, 1), round(max(h.cores), 2), round(max(h.max_rss_bytes) / 1073741824.0, 2),
    round(total(h.wall_ns) / 3.6e12, 3)
FROM _heavy h JOIN project j ON j.project_id = h.project_id JOIN package p ON p.package_id = h.package_id
GROUP BY j.name, p.package_id ORDER BY j.name, total(h.wall_ns) DESC, p.name;

CREATE VIEW heavy_packages_by_run (
    -- One row a run and package with heavy results, by run and wall time. Hits included.
    run,           -- trace id
    package,       -- the target's name
    heavy_actions, -- heavy results
    long_actions,  -- of these, by their wall time
    wide_actions,  -- of these, by their cores
    actions,       -- all results of the package with usage that the run refers to
    longest_s,     -- longest wall time, seconds
    max_cores,     -- most average cores of a heavy one
    max_rss_gib,   -- largest single process of a heavy one
    heavy_wall_h   -- wall time of the heavy ones, hours
) AS
WITH at AS MATERIALIZED (
    SELECT (SELECT value * 1e9 FROM setting WHERE key = 'heavy_wall_s') AS wall,
        (SELECT value * 1.0 FROM setting WHERE key = 'heavy_cores') AS cores,
        (SELECT value * 1e9 FROM setting WHERE key = 'heavy_cores_min_s') AS min_wall)
SELECT v.run, p.name, sum(v.is_long OR v.is_wide), sum(v.is_long), sum(v.is_wide), count(*),
    round(max(v.wall_ns) / 1e9, 1), round(max(CASE WHEN v.is_long OR v.is_wide THEN v.cores END), 2),
    round(max(CASE WHEN v.is_long OR v.is_wide THEN v.max_rss_bytes END) / 1073741824.0, 2),
    round(total(CASE WHEN v.is_long OR v.is_wide THEN v.wall_ns END) / 3.6e12, 3)
FROM (SELECT g.trace_id AS run, s.package_id, s.wall_ns, s.cores, s.max_rss_bytes,
        ifnull(s.wall_ns > (SELECT wall FROM at), 0) AS is_long,
        ifnull(s.cores > (SELECT cores FROM at) AND s.wall_ns > (SELECT min_wall FROM at), 0) AS is_wide
    FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN result s ON s.lookup_id = d.lookup_id
    WHERE s.source = 1 AND s.cpu_ns IS NOT NULL) v JOIN package p ON p.package_id = v.package_id
GROUP BY v.run, v.package_id HAVING sum(v.is_long OR v.is_wide) > 0
ORDER BY v.run, total(CASE WHEN v.is_long OR v.is_wide THEN v.wall_ns END) DESC, p.name;

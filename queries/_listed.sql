CREATE VIEW _listed (
    -- One row a package that the heavy list of a project's project.json holds.
    project_id,  -- of table project
    package,     -- its name
    position,    -- in the list, from 0
    package_id,  -- of table package; NULL: no known run has such a package
    actions,     -- the project's results of it with usage; 0: no execution of it is known
    longest_ns   -- their longest wall time
) AS
-- Kept, but where the ingest has yet to sum the package up anew.
SELECT l.project_id, l.package, l.position, p.package_id, ifnull((SELECT sum(s.results) FROM package_sum s
        WHERE s.project_id = l.project_id AND s.package_id = p.package_id), (SELECT count(*) FROM result r INDEXED BY result_package
        WHERE r.package_id = p.package_id AND r.project_id = l.project_id AND r.source = 1 AND r.cpu_ns IS NOT NULL)),
    ifnull((SELECT max(s.wall_max_ns) FROM package_sum s
        WHERE s.project_id = l.project_id AND s.package_id = p.package_id), (SELECT max(r.wall_ns) FROM result r INDEXED BY result_package
        WHERE r.package_id = p.package_id AND r.project_id = l.project_id AND r.source = 1 AND r.cpu_ns IS NOT NULL))
FROM listed_package l LEFT JOIN package p ON p.name = l.package;

CREATE VIEW _heavy_or_listed (
    -- One row a project and package that has heavy results there, and one each that is listed there and has none.
    project_id,    -- of table project
    package_id,    -- of table package; NULL: listed, and no known run has such a package
    package,       -- its name
    n, long, wide, -- heavy results, of these long and wide ones
    longest_ns, cores, rss_bytes, wall_ns, -- of the heavy ones; longest_ns of all where none is heavy
    position,      -- in the project's list, from 0; NULL: not listed
    actions        -- where none is heavy: the project's results with usage; else NULL
) AS
WITH heavy AS MATERIALIZED (
    SELECT project_id, package_id, count(*) AS n, sum(is_long) AS long, sum(is_wide) AS wide, max(wall_ns) AS longest_ns,
        max(cores) AS cores, max(max_rss_bytes) AS rss_bytes, total(wall_ns) AS wall_ns
    FROM _heavy GROUP BY project_id, package_id)
SELECT h.project_id, h.package_id, p.name, h.n, h.long, h.wide, h.longest_ns, h.cores, h.rss_bytes, h.wall_ns,
    (SELECT l.position FROM listed_package l WHERE l.project_id = h.project_id AND l.package = p.name), NULL
FROM heavy h JOIN package p ON p.package_id = h.package_id
UNION ALL
SELECT l.project_id, l.package_id, l.package, 0, 0, 0, l.longest_ns, NULL, NULL, 0.0, l.position, l.actions FROM _listed l
WHERE l.package_id IS NULL OR NOT EXISTS (SELECT 1 FROM heavy h WHERE h.project_id = l.project_id AND h.package_id = l.package_id);

CREATE VIEW _heavy_package (
    -- One row a project and package that has heavy results there or is listed there.
    project,       -- name
    project_id,    -- of table project
    package,       -- its name
    package_id,    -- of table package; NULL: listed, and no known run has such a package
    heavy_actions, long_actions, wide_actions, -- see heavy_packages
    actions,       -- the project's results of it with usage
    longest_ns, cores, rss_bytes, wall_ns, -- of the heavy ones; longest_ns of all where none is heavy
    position,      -- in the project's list, from 0; NULL: not listed
    is_read,       -- 1: the project's project.json was read
    verdict        -- see heavy_packages
) AS
SELECT v.project, v.project_id, v.package, v.package_id, v.n, v.long, v.wide, v.actions, v.longest, v.cores, v.rss, v.wall,
    v.position, f.project_id IS NOT NULL,
    CASE WHEN f.project_id IS NOT NULL THEN CASE WHEN v.n > 0 THEN iif(v.position IS NULL, 'add', 'keep')
        WHEN v.actions > 0 THEN CASE WHEN (SELECT is_whole FROM _heavy_rule) THEN 'drop' END ELSE 'not seen' END END
FROM (SELECT j.name AS project, j.project_id, p.name AS package, p.package_id, count(*) AS n, sum(h.is_long) AS long,
        sum(h.is_wide) AS wide, max(h.wall_ns) AS longest, max(h.cores) AS cores, max(h.max_rss_bytes) AS rss, total(h.wall_ns) AS wall,
        ifnull((SELECT sum(s.results) FROM package_sum s WHERE s.project_id = j.project_id AND s.package_id = p.package_id),
            (SELECT count(*) FROM result r INDEXED BY result_package WHERE r.package_id = p.package_id AND r.project_id = j.project_id
                AND r.source = 1 AND r.cpu_ns IS NOT NULL)) AS actions,
        (SELECT l.position FROM listed_package l WHERE l.project_id = j.project_id AND l.package = p.name) AS position
    FROM _heavy h JOIN project j ON j.project_id = h.project_id JOIN package p ON p.package_id = h.package_id
    GROUP BY j.name, p.package_id
    UNION ALL
    SELECT j.name, j.project_id, l.package, l.package_id, 0, 0, 0, l.longest_ns, NULL, NULL, 0.0, l.actions, l.position
    FROM _listed l JOIN project j ON j.project_id = l.project_id
    WHERE l.package_id IS NULL OR (l.project_id, l.package_id) NOT IN (SELECT h.project_id, h.package_id FROM _heavy h)) v
    LEFT JOIN project_file f ON f.project_id = v.project_id;

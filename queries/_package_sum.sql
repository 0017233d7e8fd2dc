CREATE VIEW _scope (
    -- What figures are of: one row the whole file, and one each project.
    by_project, -- 0: the whole file; 1: a project
    project,    -- its name; of the whole file NULL
    scope_id    -- of table project; 0: the whole file
) AS
SELECT 0, NULL, 0
UNION ALL
SELECT 1, name, project_id FROM project;

CREATE VIEW _package_sum (
    -- Sums of packages' counted results, by memory limit in force. Filters on by_project and project are searches.
    by_project,  -- see _scope, as the next one
    project,
    package_id,   -- of table package
    under,        -- memory limit in force, bytes; 0: none, or not known
    results,      -- counted
    unknown,      -- of these, whose max RSS is not known
    wall_ns, cpu_ns,
    longest_ns,   -- longest wall time; NULL: of none it is known, as in the next ones
    rss_bytes,    -- largest single process
    cores         -- most average cores of one
) AS
SELECT c.by_project, c.project, s.package_id, s.limit_bytes, s.results, s.unknown, s.wall_s * 1e9 + s.wall_rest_ns, s.cpu_s * 1e9 + s.cpu_rest_ns,
    s.wall_max_ns, s.rss_max_bytes, s.cores_max
FROM _scope c CROSS JOIN package_sum s ON s.project_id = c.scope_id
UNION ALL
-- Those that the ingest has yet to sum up anew: none, as a rule.
SELECT c.by_project, c.project, r.package_id, ifnull(a.memory_limit_bytes, 0), count(*), sum(r.max_rss_bytes IS NULL), total(r.wall_ns),
    total(r.cpu_ns), max(r.wall_ns), max(r.max_rss_bytes), max(r.cores)
FROM package_due d CROSS JOIN result r INDEXED BY result_package ON r.package_id = d.package_id
    CROSS JOIN _scope c ON c.scope_id IN (0, r.project_id) LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
GROUP BY c.by_project, c.project, r.package_id, ifnull(a.memory_limit_bytes, 0);

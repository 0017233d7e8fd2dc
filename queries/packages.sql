CREATE VIEW packages (
    -- One row a package, by wall time: results of the action cache with usage, each digest once.
    package,     -- the target's name
    actions,     -- results with usage
    unknown,     -- digests without; see missing_results
    wall_h,      -- wall time of the results, hours; NULL, as all that follow: there is none
    cpu_h,       -- their CPU time, hours
    avg_cores,   -- cpu / wall, where both are known
    max_cores,   -- most average cores of one; a short one may owe them to the clock of its CPU time
    longest_s,   -- longest wall time, seconds
    max_rss_gib  -- largest single process of any of them
) AS
WITH unknown AS MATERIALIZED (
    SELECT package_id, count(*) AS n FROM (
        SELECT package_id FROM result INDEXED BY result_no_usage WHERE source = 1 AND cpu_ns IS NULL
        UNION ALL SELECT t.package_id FROM lookup l JOIN action_name a ON a.name_id = l.name_id
            JOIN target t ON t.target_id = a.target_id WHERE l.state <> 1)
    GROUP BY package_id),
untimed AS MATERIALIZED (SELECT package_id, total(cpu_ns) AS cpu FROM _untimed GROUP BY package_id)
-- round() to a whole number is many times as fast as to a digit after the point.
SELECT p.name, ifnull(k.n, 0), ifnull(u.n, 0), round(k.wall / 3.6e9) / 1000, round(k.cpu / 3.6e9) / 1000,
    round(100.0 * (k.cpu - ifnull(x.cpu, 0)) / nullif(k.wall, 0)) / 100, round(k.cores * 100) / 100, round(k.longest / 1e8) / 10, round(k.rss / 10737418.24) / 100
FROM package p LEFT JOIN (
    -- No package is in both.
    SELECT package_id, sum(results) AS n, sum(wall_s) * 1e9 + sum(wall_rest_ns) AS wall, sum(cpu_s) * 1e9 + sum(cpu_rest_ns) AS cpu,
        max(cores_max) AS cores, max(wall_max_ns) AS longest, max(rss_max_bytes) AS rss
    FROM package_sum WHERE project_id = 0 GROUP BY package_id
    UNION ALL
    -- Those that the ingest has yet to sum up anew: none, as a rule.
    SELECT d.package_id, count(*), total(r.wall_ns), total(r.cpu_ns), max(r.cores), max(r.wall_ns), max(r.max_rss_bytes)
    FROM package_due d CROSS JOIN result r INDEXED BY result_package ON r.package_id = d.package_id
    WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY d.package_id) k ON k.package_id = p.package_id
    LEFT JOIN unknown u ON u.package_id = p.package_id LEFT JOIN untimed x ON x.package_id = p.package_id
WHERE k.n > 0 OR u.n > 0
ORDER BY k.wall DESC, p.name;

CREATE VIEW packages_by_project (
    -- One row a project and package, by project and wall time. A digest belongs to the project of its
    -- first reference.
    project,     -- name
    package,     -- the target's name
    actions,     -- results with usage
    unknown,     -- digests without; see missing_results
    wall_h,      -- wall time of the results, hours; NULL, as all that follow: there is none
    cpu_h,       -- their CPU time, hours
    avg_cores,   -- cpu / wall, where both are known
    max_cores,   -- most average cores of one; a short one may owe them to the clock of its CPU time
    longest_s,   -- longest wall time, seconds
    max_rss_gib  -- largest single process of any of them
) AS
-- Grouped in each arm, so that a filter on project reaches the tables; then one row of several.
SELECT v.project, p.name, v.known, v.missing, round(v.wall / 3.6e12, 3), round(v.cpu / 3.6e12, 3),
    round((v.cpu - v.untimed) / nullif(v.wall, 0), 2), round(v.cores, 2), round(v.longest / 1e9, 1), round(v.rss / 1073741824.0, 2)
FROM (SELECT project, package_id, sum(n) OVER one AS known, sum(unknown) OVER one AS missing, sum(wall) OVER one AS wall,
        sum(cpu) OVER one AS cpu, total(untimed) OVER one AS untimed, max(cores) OVER one AS cores, max(longest) OVER one AS longest, max(rss) OVER one AS rss,
        row_number() OVER (PARTITION BY project, package_id) AS place
    FROM (SELECT project, package_id, results AS n, 0 AS unknown, wall_ns AS wall, cpu_ns AS cpu, cores, longest_ns AS longest, rss_bytes AS rss, NULL AS untimed
            FROM _package_sum WHERE by_project = 1
        UNION ALL SELECT j.name, r.package_id, 0, count(*), NULL, NULL, NULL, NULL, NULL, NULL
            FROM result r INDEXED BY result_no_usage JOIN project j ON j.project_id = r.project_id
            WHERE r.source = 1 AND r.cpu_ns IS NULL GROUP BY j.name, r.package_id
        UNION ALL SELECT j.name, t.package_id, 0, count(*), NULL, NULL, NULL, NULL, NULL, NULL
            FROM lookup l JOIN run g ON g.run_id = l.first_run_id JOIN project j ON j.project_id = g.project_id
                JOIN action_name a ON a.name_id = l.name_id JOIN target t ON t.target_id = a.target_id
            WHERE l.state <> 1 GROUP BY j.name, t.package_id
        UNION ALL SELECT j.name, x.package_id, 0, 0, NULL, NULL, NULL, NULL, NULL, x.cpu_ns
            FROM _untimed x JOIN project j ON j.project_id = x.project_id)
    WINDOW one AS (PARTITION BY project, package_id)) v JOIN package p ON p.package_id = v.package_id
WHERE v.place = 1
ORDER BY v.project, v.wall DESC, p.name;

CREATE VIEW packages_by_run (
    -- One row a run and package, by run and wall time. Hits included: each digest of the run once.
    run,         -- trace id
    package,     -- the target's name
    actions,     -- results with usage
    unknown,     -- digests without; see missing_results
    wall_h,      -- wall time of the results, hours; NULL, as all that follow: there is none
    cpu_h,       -- their CPU time, hours
    avg_cores,   -- cpu / wall, where both are known
    max_cores,   -- most average cores of one; a short one may owe them to the clock of its CPU time
    longest_s,   -- longest wall time, seconds
    max_rss_gib  -- largest single process of any of them
) AS
SELECT v.run, v.package, v.n, v.missing, CASE WHEN v.n > 0 THEN round(v.wall / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.cpu / 3.6e12, 3) END,
    round(v.timed / nullif(v.wall, 0), 2), round(v.cores, 2), round(v.longest / 1e9, 1), round(v.rss / 1073741824.0, 2)
FROM (SELECT g.trace_id AS run, p.name AS package, count(s.lookup_id) AS n, count(*) - count(s.lookup_id) AS missing,
        total(s.wall_ns) AS wall, total(s.cpu_ns) AS cpu, total(s.cpu_ns) FILTER (WHERE s.wall_ns IS NOT NULL) AS timed,
        max(1.0 * s.cpu_ns / max(s.wall_ns, 1000000)) AS cores,
        max(s.wall_ns) AS longest, max(s.max_rss_bytes) AS rss
    FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN lookup l ON l.lookup_id = d.lookup_id
        JOIN action_name n ON n.name_id = l.name_id JOIN target t ON t.target_id = n.target_id
        JOIN package p ON p.package_id = t.package_id
        LEFT JOIN result s ON s.lookup_id = d.lookup_id AND s.source = 1 AND s.cpu_ns IS NOT NULL
    GROUP BY g.trace_id, p.package_id) v
ORDER BY v.run, v.wall DESC, v.package;

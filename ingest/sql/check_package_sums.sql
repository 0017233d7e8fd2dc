-- Packages whose kept sums are not those of their results. Of those in package_due none are kept.
WITH made AS (
    SELECT project_id, package_id, limit_bytes, count(*) AS results, sum(max_rss_bytes IS NULL) AS unknown,
        sum(ifnull(wall_ns, 0) / 1000000000) AS wall_s, sum(ifnull(wall_ns, 0) % 1000000000) AS wall_rest_ns,
        sum(cpu_ns / 1000000000) AS cpu_s, sum(cpu_ns % 1000000000) AS cpu_rest_ns,
        max(wall_ns) AS wall_max_ns, max(max_rss_bytes) AS rss_max_bytes,
        max(1.0 * cpu_ns / max(wall_ns, 1000000)) AS cores_max
    FROM (
        SELECT r.project_id, r.package_id, ifnull(a.memory_limit_bytes, 0) AS limit_bytes, r.wall_ns, r.cpu_ns,
            r.max_rss_bytes
        FROM result r
        LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
        WHERE r.source = 1 AND r.cpu_ns IS NOT NULL)
    WHERE package_id NOT IN (SELECT package_id FROM package_due)
    GROUP BY project_id, package_id, limit_bytes)
SELECT DISTINCT 'package ' || ifnull((SELECT p.name FROM package p WHERE p.package_id = v.package_id), v.package_id),
    'its kept sums are not those of its results'
FROM (
    SELECT project_id, package_id, limit_bytes, results, unknown, wall_s, wall_rest_ns, cpu_s, cpu_rest_ns,
        wall_max_ns, rss_max_bytes, cores_max
    FROM package_sum
    UNION ALL
    SELECT * FROM made
    UNION ALL
    SELECT 0, package_id, limit_bytes, sum(results), sum(unknown), sum(wall_s), sum(wall_rest_ns), sum(cpu_s),
        sum(cpu_rest_ns), max(wall_max_ns), max(rss_max_bytes), max(cores_max)
    FROM made
    GROUP BY package_id, limit_bytes) v
GROUP BY project_id, package_id, limit_bytes, results, unknown, wall_s, wall_rest_ns, cpu_s, cpu_rest_ns,
    wall_max_ns, rss_max_bytes, cores_max
HAVING count(*) <> 2

-- What each package needs, over all its executions: the most memory seen, and the most
-- average cores of those that were heavy by their cores.
WITH heavy AS MATERIALIZED (
    SELECT (SELECT value * 1.0 FROM setting WHERE key = 'heavy_cores') AS cores,
        (SELECT value * 1e9 FROM setting WHERE key = 'heavy_cores_min_s') AS min_wall_ns)
SELECT p.package_id, k.name, max(p.peak_bytes),
    max(CASE WHEN p.wall_ns > (SELECT min_wall_ns FROM heavy)
            AND 1.0 * p.cpu_ns / p.wall_ns > (SELECT cores FROM heavy)
        THEN CAST(1000.0 * p.cpu_ns / p.wall_ns AS INTEGER) END)
FROM _peak p
JOIN package k ON k.package_id = p.package_id
GROUP BY p.package_id
ORDER BY p.package_id

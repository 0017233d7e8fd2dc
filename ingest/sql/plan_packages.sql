-- What each package needs, over all its executions: the most memory seen; and, where it is heavy as package_sizes
-- has it, setting heavy_cores in thousandths: it needs more.
WITH heavy AS MATERIALIZED (
    SELECT package_id FROM _package_heavy WHERE by_project = 0 GROUP BY package_id HAVING max(decides))
SELECT p.package_id, k.name, max(p.peak_bytes),
    CASE WHEN p.package_id IN (SELECT package_id FROM heavy) THEN (SELECT CAST(cores * 1000 AS INTEGER) FROM _heavy_rule) END
FROM _peak p
JOIN package k ON k.package_id = p.package_id
GROUP BY p.package_id
ORDER BY p.package_id

-- The packages that add most to the critical path of the only run; none where there are several, or the
-- log has no path.
SELECT p.name, p.duration_s, 100 * p.duration_s / nullif(p.path_s, 0) AS share_pct, p.heavy, p.path_s
FROM (SELECT u.package AS name, total(u.duration_s) AS duration_s, max(u.heavy) AS heavy,
        (SELECT total(e.duration_us) / 1e6 FROM path_step e WHERE e.run_id = u.run_id AND e.path = 1) AS path_s
    FROM _path_usage u
    WHERE u.run_id IN (SELECT run_id FROM scope WHERE (SELECT count(*) FROM scope) = 1) AND u.path = 1 AND u.package IS NOT NULL
    GROUP BY u.package_id) p
WHERE p.duration_s > 0
ORDER BY p.duration_s DESC, p.name LIMIT 3

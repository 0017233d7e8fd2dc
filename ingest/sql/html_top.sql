-- The longest actions. Names are looked up of those alone that are shown.
SELECT u.package, CASE u.identifier WHEN '' THEN u.label ELSE u.identifier END AS identifier, u.category,
    round(u.wall_s, 1) AS wall_s, round(u.cores, 2) AS cores, round(u.max_rss_gib, 2) AS max_rss_gib,
    round(u.ctr_peak_gib, 2) AS ctr_peak_gib, u.mem_limit_gib, u.pool, u.termination_signal, u.executed_utc
FROM (SELECT r.lookup_id
    FROM wanted w
    JOIN result r ON r.lookup_id = w.lookup_id AND r.source = 1 AND r.cpu_ns IS NOT NULL
    ORDER BY r.wall_ns DESC
    LIMIT :top) m
JOIN _usage u ON u.lookup_id = m.lookup_id AND u.source_id = 1
ORDER BY u.wall_ns DESC, u.digest

-- Names are looked up of those alone that are shown. A test has no identifier: its label stands in.
SELECT CASE n.identifier WHEN '' THEN t.label ELSE n.identifier END AS id, c.name AS category,
    m.wall_ns, m.cpu_ns, m.max_rss_bytes, m.termination_signal
FROM (
    SELECT r.lookup_id, r.wall_ns, r.cpu_ns, r.max_rss_bytes, r.termination_signal
    FROM wanted w
    JOIN result r ON r.lookup_id = w.lookup_id AND r.source = 1 AND r.cpu_ns IS NOT NULL
    WHERE r.wall_ns >= :min_wall_s * 1e9
    ORDER BY r.wall_ns DESC
    LIMIT :top) m
JOIN lookup l ON l.lookup_id = m.lookup_id
JOIN action_name n ON n.name_id = l.name_id
JOIN target t ON t.target_id = n.target_id
JOIN category c ON c.category_id = n.category_id
ORDER BY m.wall_ns DESC, l.digest

-- Longest first. A test has no identifier: its label stands in.
SELECT
    CASE n.identifier WHEN '' THEN t.label ELSE n.identifier END AS id,
    c.name AS category,
    r.wall_ns,
    r.cpu_ns,
    r.max_rss_bytes,
    r.termination_signal
FROM wanted
JOIN result r USING (lookup_id)
JOIN lookup l USING (lookup_id)
JOIN action_name n ON n.name_id = l.name_id
JOIN target t USING (target_id)
JOIN category c USING (category_id)
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
ORDER BY r.wall_ns DESC, l.digest

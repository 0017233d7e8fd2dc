-- The heavy results of these runs that ran longest, with their names, and how many there are of them.
, heavy AS MATERIALIZED (
    SELECT h.lookup_id, h.wall_ns, h.cores FROM _heavy h
    WHERE EXISTS (SELECT 1 FROM attempt t WHERE t.lookup_id = h.lookup_id AND +t.run_id IN (SELECT run_id FROM scope)))
SELECT p.name AS package, CASE n.identifier WHEN '' THEN t.label ELSE n.identifier END AS id, m.wall_ns / 1e9 AS wall_s, m.cores,
    k.peak_bytes, (SELECT count(*) FROM heavy) AS heavy
FROM (SELECT * FROM heavy ORDER BY wall_ns DESC LIMIT 40) m
JOIN lookup l ON l.lookup_id = m.lookup_id
JOIN action_name n ON n.name_id = l.name_id
JOIN target t ON t.target_id = n.target_id
JOIN package p ON p.package_id = t.package_id
LEFT JOIN result r ON r.lookup_id = m.lookup_id AND r.source = 1
LEFT JOIN _peak k ON k.result_id = r.result_id
ORDER BY m.wall_ns DESC, l.digest

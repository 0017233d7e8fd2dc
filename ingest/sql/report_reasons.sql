SELECT m.reason, count(DISTINCT d.lookup_id) AS digests
FROM missing_results m
JOIN digests d USING (digest)
GROUP BY m.reason

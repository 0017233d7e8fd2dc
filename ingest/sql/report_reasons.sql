SELECT m.reason, count(*) AS digests
FROM wanted
JOIN _missing m USING (lookup_id)
GROUP BY m.reason

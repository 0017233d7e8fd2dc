SELECT i.name AS instance, nullif(i.cache, '') AS cache,
    (SELECT f.name FROM _digest_function f WHERE f.function = l.function) AS function,
    CASE l.state WHEN 0 THEN 'not asked' WHEN 1 THEN 'found' WHEN 2 THEN 'not found'
        WHEN 3 THEN 'outputs evicted' WHEN 4 THEN 'refused' WHEN 5 THEN 'invalid'
        WHEN 6 THEN 'too large' WHEN 7 THEN 'error' WHEN 8 THEN 'unreachable'
        WHEN 9 THEN 'malformed' END AS answer,
    l.message,
    (SELECT m.reason FROM _missing m WHERE m.lookup_id = l.lookup_id) AS missing_because,
    (SELECT u.portal_url FROM _usage u WHERE u.lookup_id = l.lookup_id) AS portal_url
FROM _lookup l
JOIN instance i USING (instance_id)
WHERE l.digest = :digest
ORDER BY i.cache, i.name

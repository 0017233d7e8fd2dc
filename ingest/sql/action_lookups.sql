SELECT i.name AS instance, nullif(i.cache, '') AS cache,
    CASE l.function WHEN 1 THEN 'sha256' WHEN 2 THEN 'sha1' WHEN 3 THEN 'md5'
        WHEN 5 THEN 'sha384' WHEN 6 THEN 'sha512' WHEN 8 THEN 'sha256tree'
        WHEN 9 THEN 'blake3' WHEN 10 THEN 'gitsha1' END AS function,
    CASE l.state WHEN 0 THEN 'not asked' WHEN 1 THEN 'found' WHEN 2 THEN 'not found'
        WHEN 3 THEN 'outputs evicted' WHEN 4 THEN 'refused' WHEN 5 THEN 'invalid'
        WHEN 6 THEN 'too large' WHEN 7 THEN 'error' WHEN 8 THEN 'unreachable'
        WHEN 9 THEN 'malformed' END AS answer,
    l.message,
    (SELECT m.reason FROM missing_results m WHERE m.digest = :digest) AS missing_because,
    (SELECT u.portal_url FROM usage u WHERE u.digest = :digest AND u.instance = i.name)
        AS portal_url
FROM lookup l
JOIN instance i USING (instance_id)
WHERE l.hash = :hash AND l.size_bytes = :size
ORDER BY i.cache, i.name

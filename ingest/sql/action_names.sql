SELECT :digest AS digest, t.label, p.name AS package, t.buck_package, c.name AS category,
    n.identifier, f.name AS configuration
FROM action_name n
JOIN target t USING (target_id)
JOIN package p USING (package_id)
JOIN category c USING (category_id)
JOIN configuration f USING (configuration_id)
WHERE n.name_id = (
    SELECT name_id FROM (
        SELECT 1 AS rank, name_id FROM _lookup WHERE digest = :digest
        UNION ALL
        SELECT 2, a.name_id
        FROM attempt_digest d
        JOIN action a USING (run_id, span_id)
        WHERE lower(hex(d.hash)) || ':' || d.size_bytes = :digest
        UNION ALL
        SELECT 3, name_id FROM in_flight WHERE lower(hex(hash)) || ':' || size_bytes = :digest)
    ORDER BY rank LIMIT 1)

-- Every digest that a log names: asked ones, never asked ones, those in flight.
SELECT d.digest, min(t.label) AS label
FROM (
    SELECT digest, name_id
    FROM lookup
    WHERE digest_key BETWEEN upper(substr(:low, 1, 4)) AND upper(substr(:high, 1, 4)) || 'G'
        AND digest BETWEEN :low AND :high
    UNION
    SELECT lower(hex(x.hash)) || ':' || x.size_bytes AS digest, a.name_id
    FROM attempt_digest x
    JOIN action a USING (run_id, span_id)
    WHERE lower(hex(x.hash)) || ':' || x.size_bytes BETWEEN :low AND :high
    UNION
    SELECT lower(hex(hash)) || ':' || size_bytes, name_id
    FROM in_flight
    WHERE lower(hex(hash)) || ':' || size_bytes BETWEEN :low AND :high) d
JOIN action_name n USING (name_id)
JOIN target t USING (target_id)
GROUP BY d.digest
ORDER BY d.digest

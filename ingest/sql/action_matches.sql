-- Every digest that a log names: asked ones, never asked ones, those in flight.
SELECT d.hash, d.size_bytes, min(t.label) AS label
FROM (
    SELECT hash, size_bytes, name_id FROM lookup WHERE hash BETWEEN :low AND :high
    UNION
    SELECT x.hash, x.size_bytes, a.name_id
    FROM attempt_digest x
    JOIN action a USING (run_id, span_id)
    WHERE x.hash BETWEEN :low AND :high
    UNION
    SELECT hash, size_bytes, name_id FROM in_flight WHERE hash BETWEEN :low AND :high) d
JOIN action_name n USING (name_id)
JOIN target t USING (target_id)
WHERE :size IS NULL OR d.size_bytes = :size
GROUP BY d.hash, d.size_bytes
ORDER BY d.hash, d.size_bytes

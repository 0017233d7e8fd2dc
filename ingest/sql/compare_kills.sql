-- What looks killed for memory in :b and not in :a; see oom_kills.
WITH kill AS MATERIALIZED (SELECT * FROM _oom_kill WHERE suspect AND run IN (:a, :b))
SELECT k.label, k.category, k.identifier, k.verdict, k.confidence
FROM kill k
WHERE k.run = :b AND NOT EXISTS (
    SELECT 1 FROM kill e WHERE e.run = :a AND e.package IS k.package AND e.category IS k.category AND e.identifier IS k.identifier)
ORDER BY k.killed_utc, k.label, k.identifier

-- Actions that failed in :b and not in :a, each once, with its last attempt's reason.
WITH failed AS MATERIALIZED (
    SELECT g.trace_id AS run, g.project_id, t.label, t.package_id, n.category_id, n.identifier, f.span_id, f.reason, f.exit_code,
        max(ifnull(f.idx, -1)) AS idx
    FROM run g JOIN _failure f ON f.run_id = g.run_id JOIN action_name n ON n.name_id = f.name_id
        JOIN target t ON t.target_id = n.target_id
    WHERE g.trace_id IN (:a, :b) AND f.action_failed
    GROUP BY g.run_id, f.span_id)
SELECT f.label, (SELECT c.name FROM category c WHERE c.category_id = f.category_id) AS category, f.identifier, f.reason, f.exit_code
FROM failed f
WHERE f.run = :b AND NOT EXISTS (
    SELECT 1 FROM failed e WHERE e.run = :a AND e.package_id = f.package_id AND e.category_id = f.category_id AND e.identifier = f.identifier)
ORDER BY f.label, f.category_id, f.identifier, f.span_id

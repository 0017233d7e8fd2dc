-- The latest of these runs whose log has a critical path.
SELECT g.trace_id AS run FROM run g
WHERE g.run_id IN (SELECT run_id FROM scope) AND EXISTS (SELECT 1 FROM path_step e WHERE e.run_id = g.run_id AND e.path = 1)
ORDER BY g.start_ns DESC, g.trace_id LIMIT 1

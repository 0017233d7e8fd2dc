-- The runs of the scope from the newest on, from :skip on. Runs without any action say nothing.
SELECT g.trace_id AS run
FROM run g
WHERE g.run_id IN (SELECT value FROM json_each(:runs))
    AND EXISTS (SELECT 1 FROM action a WHERE a.run_id = g.run_id)
ORDER BY g.start_ns DESC, g.trace_id
LIMIT 1 OFFSET :skip

-- The projects of the runs, by name.
SELECT DISTINCT j.name FROM run g JOIN project j ON j.project_id = g.project_id
WHERE g.run_id IN (SELECT run_id FROM scope) ORDER BY j.name

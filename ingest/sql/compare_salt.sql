-- The runs of the cells of that salt, those of the scope's projects before others; of a cell the cold
-- one first: it is the one that executes.
WITH here(project) AS MATERIALIZED (
    SELECT DISTINCT j.name FROM run g JOIN project j ON j.project_id = g.project_id
    WHERE g.run_id IN (SELECT value FROM json_each(:runs)))
SELECT c.invocation AS run, c.run AS pass, c.log_known, c.started_utc, c.project,
    c.project IN (SELECT project FROM here) AS is_here
FROM cells c
WHERE c.salt = :word
ORDER BY is_here DESC, c.run, c.started_utc, c.invocation

-- The runs of the cell of that salt, the cold one first: it is the one that executes.
SELECT c.invocation AS run, c.run AS pass, c.log_known, c.started_utc, c.project
FROM cells c
WHERE c.salt = :word
ORDER BY c.run, c.started_utc, c.invocation

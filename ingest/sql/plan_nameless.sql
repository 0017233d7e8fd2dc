-- Executions on workers that name no invocation: they belong to no build.
SELECT (SELECT count(*) FROM result WHERE request_id IS NULL AND worker_id IS NOT NULL)
    + (SELECT ifnull(sum(results), 0) FROM request WHERE invocation IS NULL)

CREATE VIEW _span (
    -- How long the phases of each execution took; negative where the clocks disagree. A row a result
    -- with times, of any source.
    result_id, -- of table result
    queued_ns, -- until a worker took it
    fetch_ns,  -- the worker fetched inputs
    run_ns,    -- the command ran
    upload_ns, -- the worker uploaded outputs
    taken_ns,  -- time when a worker took it
    held_ns    -- from then on the worker had it, until it was done
) AS
SELECT result_id, CASE WHEN queued_step_ns IS NOT NULL THEN worker_start_step_ns END,
    CASE WHEN fetch_start_step_ns IS NOT NULL THEN fetch_completed_step_ns END,
    CASE WHEN execution_start_step_ns IS NOT NULL THEN execution_completed_step_ns END,
    CASE WHEN upload_start_step_ns IS NOT NULL THEN upload_completed_step_ns END,
    base_ns + worker_start_step_ns,
    CASE WHEN worker_start_step_ns IS NOT NULL THEN ifnull(fetch_start_step_ns, 0) + ifnull(fetch_completed_step_ns, 0)
        + ifnull(execution_start_step_ns, 0) + ifnull(execution_completed_step_ns, 0) + ifnull(upload_start_step_ns, 0)
        + ifnull(upload_completed_step_ns, 0) + worker_completed_step_ns END
FROM result_time;

CREATE VIEW _irregular_span (
    -- The rows of _span where a phase is unknown or negative: few, as a rule, and all in one index.
    result_id, -- of table result
    queued_ns, -- as in _span, as all below
    fetch_ns, run_ns, upload_ns
) AS
SELECT result_id, CASE WHEN queued_step_ns IS NOT NULL THEN worker_start_step_ns END,
    CASE WHEN fetch_start_step_ns IS NOT NULL THEN fetch_completed_step_ns END,
    CASE WHEN execution_start_step_ns IS NOT NULL THEN execution_completed_step_ns END,
    CASE WHEN upload_start_step_ns IS NOT NULL THEN upload_completed_step_ns END
FROM result_time
-- To the letter as in index result_time_irregular, or SQLite does not take it.
WHERE (queued_step_ns = 0 AND worker_start_step_ns >= 0
    AND fetch_start_step_ns IS NOT NULL AND fetch_completed_step_ns >= 0
    AND execution_start_step_ns IS NOT NULL AND execution_completed_step_ns >= 0
    AND upload_start_step_ns IS NOT NULL AND upload_completed_step_ns >= 0) IS NOT TRUE;

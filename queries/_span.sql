CREATE VIEW _span (
    -- How long the phases of each execution took; negative where the clocks disagree. A row a result
    -- with times, of any source.
    result_id, -- of table result
    queued_ns, -- until a worker took it
    fetch_ns,  -- the worker fetched inputs
    run_ns,    -- the command ran
    upload_ns  -- the worker uploaded outputs
) AS
SELECT result_id, worker_start_off_ns - queued_off_ns, fetch_completed_off_ns - fetch_start_off_ns,
    execution_completed_off_ns - execution_start_off_ns, upload_completed_off_ns - upload_start_off_ns
FROM result_time;

CREATE VIEW _irregular_span (
    -- The rows of _span where a phase is unknown or negative: few, as a rule, and all in one index.
    result_id, -- of table result
    queued_ns, -- as in _span, as all below
    fetch_ns, run_ns, upload_ns
) AS
SELECT result_id, worker_start_off_ns - queued_off_ns, fetch_completed_off_ns - fetch_start_off_ns,
    execution_completed_off_ns - execution_start_off_ns, upload_completed_off_ns - upload_start_off_ns
FROM result_time
-- To the letter as in index result_time_irregular, or SQLite does not take it.
WHERE (worker_start_off_ns >= queued_off_ns AND fetch_completed_off_ns >= fetch_start_off_ns
    AND execution_completed_off_ns >= execution_start_off_ns AND upload_completed_off_ns >= upload_start_off_ns) IS NOT TRUE;

CREATE VIEW _time (
    -- When each execution passed from phase to phase, by the worker's clock and the scheduler's
    -- (queued). A row a result with times, of any source; what is unknown is NULL.
    result_id,                  -- of table result
    queued_ns,                  -- times, as all below
    worker_start_ns, fetch_start_ns, fetch_completed_ns, execution_start_ns, execution_completed_ns,
    upload_start_ns, upload_completed_ns, worker_completed_ns
) AS
SELECT result_id, base_ns + queued_off_ns, base_ns + worker_start_off_ns, base_ns + fetch_start_off_ns,
    base_ns + fetch_completed_off_ns, base_ns + execution_start_off_ns, base_ns + execution_completed_off_ns,
    base_ns + upload_start_off_ns, base_ns + upload_completed_off_ns, base_ns + worker_completed_off_ns
FROM result_time;

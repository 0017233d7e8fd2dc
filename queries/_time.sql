CREATE VIEW _time (
    -- When each execution passed from phase to phase, by the worker's clock and the scheduler's
    -- (queued). A row a result with times, of any source; what is unknown is NULL. In a view with
    -- DISTINCT or GROUP BY ask for it by a subquery: SQLite would make all of it first for a LEFT JOIN.
    result_id,                  -- of table result
    queued_ns,                  -- times, as all below
    worker_start_ns, fetch_start_ns, fetch_completed_ns, execution_start_ns, execution_completed_ns,
    upload_start_ns, upload_completed_ns, worker_completed_ns
) AS
SELECT result_id, base_ns + queued_step_ns,
    base_ns + worker_start_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + fetch_start_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + ifnull(fetch_start_step_ns, 0) + fetch_completed_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + ifnull(fetch_start_step_ns, 0) + ifnull(fetch_completed_step_ns, 0)
        + execution_start_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + ifnull(fetch_start_step_ns, 0) + ifnull(fetch_completed_step_ns, 0)
        + ifnull(execution_start_step_ns, 0) + execution_completed_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + ifnull(fetch_start_step_ns, 0) + ifnull(fetch_completed_step_ns, 0)
        + ifnull(execution_start_step_ns, 0) + ifnull(execution_completed_step_ns, 0) + upload_start_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + ifnull(fetch_start_step_ns, 0) + ifnull(fetch_completed_step_ns, 0)
        + ifnull(execution_start_step_ns, 0) + ifnull(execution_completed_step_ns, 0)
        + ifnull(upload_start_step_ns, 0) + upload_completed_step_ns,
    base_ns + ifnull(worker_start_step_ns, 0) + ifnull(fetch_start_step_ns, 0) + ifnull(fetch_completed_step_ns, 0)
        + ifnull(execution_start_step_ns, 0) + ifnull(execution_completed_step_ns, 0)
        + ifnull(upload_start_step_ns, 0) + ifnull(upload_completed_step_ns, 0) + worker_completed_step_ns
FROM result_time;

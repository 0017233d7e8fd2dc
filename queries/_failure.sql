CREATE VIEW _failed_attempt (
    -- One row an attempt that did not succeed, of an action that failed or that a later attempt saved.
    run_id, -- see _failure, as all below
    span_id, idx, name_id, type, action_failed, kind, status, lookup_id, exit_code, start_ns, wall_us, error_stage, error,
    action_error, message, link_state, link_message, result_id, reason, no_result
) AS
WITH attempted AS (
    SELECT a.*, x.error_stage, x.error, x.message, h.state AS link_state, h.message AS link_message,
        -- Texts: bb-remote-execution pkg/scheduler/in_memory_build_queue.go, pkg/builder/local_build_executor.go.
        CASE
        WHEN a.status = 4 OR instr(x.error, 'context deadline exceeded') THEN 'timeout'
        WHEN instr(x.error, 'Failed to start process') THEN 'start_failure'
        WHEN instr(x.error, 'disappeared while task was executing')
            OR (instr(x.error, 'Attempted to execute task') AND instr(x.error, 'but it never completed')) THEN 'worker_lost'
        WHEN instr(x.error, 'disappeared while task was queued')
            OR instr(x.error, 'No workers exist for instance name prefix') THEN 'no_worker'
        WHEN a.status = 7 OR instr(x.error, 'Task no longer has any waiting clients') THEN 'cancelled'
        WHEN x.error_stage = 'remote_upload_error' THEN 'refused_upload'
        WHEN x.error_stage = 'remote_prepare' AND instr(x.error, 'local_only') THEN 'local_only'
        WHEN a.status = 3 AND a.exit_code < 0 THEN 'signal'
        WHEN a.status = 3 THEN 'exit'
        ELSE 'error' END AS reason
    FROM attempt a INDEXED BY attempt_unsuccessful LEFT JOIN attempt_text x USING (run_id, span_id, idx)
        LEFT JOIN historical h USING (run_id, span_id, idx)
    WHERE a.status <> 2)
SELECT s.run_id, s.span_id, s.idx, b.name_id, b.type, b.failed, s.kind, s.status, s.lookup_id, s.exit_code,
    ifnull(s.start_ns, b.start_ns), s.wall_us, s.error_stage, s.error, y.error, s.message, s.link_state, s.link_message,
    r.result_id, s.reason,
    CASE
    WHEN r.result_id IS NOT NULL THEN NULL
    WHEN s.kind <> 2 THEN 'ran locally: no worker measured it'
    WHEN s.link_state = 0 THEN 'its result was not asked for yet'
    WHEN s.link_state = 2 THEN 'its result is gone from the CAS'
    WHEN s.link_state IN (4, 5) THEN 'the server refuses its result'
    WHEN s.link_state = 6 THEN 'its result is too large'
    WHEN s.link_state IN (7, 8) THEN 'its result could not be fetched yet'
    WHEN s.link_state = 10 THEN 'what its message links is about another action'
    WHEN s.link_state IS NOT NULL THEN 'what its message links is no result'
    WHEN s.reason = 'timeout' THEN 'timed out: the worker told no usage, and Buck2 drops the link'
    WHEN s.reason = 'start_failure' THEN 'never started'
    WHEN s.reason = 'worker_lost' THEN 'its worker was lost and told nothing'
    WHEN s.reason IN ('no_worker', 'refused_upload', 'local_only') THEN 'no worker took it'
    WHEN s.reason = 'cancelled' THEN 'cancelled: nobody waited for a result'
    WHEN s.status = 5 THEN 'the call ended with an error, with which Buck2 drops the link'
    ELSE 'the server''s message has no link' END
FROM attempted s JOIN action b USING (run_id, span_id) LEFT JOIN action_text y USING (run_id, span_id)
    LEFT JOIN result r ON r.source = 2 AND r.attempt_run_id = s.run_id AND r.attempt_span_id = s.span_id AND r.attempt_idx = s.idx;

CREATE VIEW _failure (
    -- One row an attempt that did not succeed, of an action that failed or that a later attempt saved,
    -- with what its log says and where its own numbers are; and one row, idx NULL, an action that failed
    -- though no attempt of it did (its command ended well, but outputs were missing; or it ran no command).
    run_id,        -- of table run
    span_id,       -- of table action
    idx,           -- of table attempt; NULL: see above
    name_id,       -- of table action_name
    type,          -- 1 action, 2 test, 3 listing
    action_failed, -- 0: a later attempt saved the action
    kind,          -- attempt.kind: 1 local, 2 remote, ...
    status,        -- attempt.status: 3 failure, 4 timeout, 5 error, 7 cancelled, 8 worker failure; 0 unknown
    lookup_id,     -- of a remote attempt's digest
    exit_code,     -- as Buck2 saw it; NULL: none was reported
    start_ns,      -- of the attempt, else of the action
    wall_us,       -- Buck2's own time of the attempt
    error_stage,   -- of an Error attempt
    error,         -- its text, which holds the worker's; of a row without an attempt the action's
    action_error,  -- the action's own error text
    message,       -- the server's message, which holds the link to the historical result
    link_state,    -- historical.state; NULL: no link
    link_message,  -- what was wrong with the linked blob
    result_id,     -- of the historical result; NULL: none
    -- What ended it, the first that fits: timeout; start_failure (the worker could not start it);
    -- worker_lost (its worker disappeared, or 10 times a worker never finished it); no_worker (none for its
    -- platform); cancelled (nobody waited any more); refused_upload, local_only (see missing_results); signal
    -- (its command ended on one); exit (with another code than 0); error (another one of the server's or of
    -- Buck2's own); missing_outputs (rows without an attempt).
    reason,
    no_result      -- why it has no numbers of its own, in words; NULL: it has
) AS
SELECT run_id, span_id, idx, name_id, type, action_failed, kind, status, lookup_id, exit_code, start_ns, wall_us, error_stage,
    error, action_error, message, link_state, link_message, result_id, reason, no_result
FROM _failed_attempt
UNION ALL
SELECT b.run_id, b.span_id, NULL, b.name_id, b.type, 1, NULL, NULL, NULL, NULL, b.start_ns, NULL, NULL, y.error, y.error,
    NULL, NULL, NULL, NULL, 'missing_outputs', 'no attempt of it failed'
FROM action b INDEXED BY action_failed LEFT JOIN action_text y USING (run_id, span_id)
WHERE b.failed = 1 AND NOT EXISTS (SELECT 1 FROM attempt a
    WHERE a.run_id = b.run_id AND a.span_id = b.span_id AND a.status <> 2);

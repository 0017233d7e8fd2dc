CREATE VIEW _failed_known (
    -- One row an attempt that did not succeed, with what is known of its end before its texts are searched.
    run, -- see _suspicion, as all below but the last three
    project, run_id, span_id, idx, name_id, kind, action_failed, lookup_id, reason, no_result, result_id, exit_code,
    termination_signal, rss_bytes, worker_id, ended_ns, evidence_action, action_gap, is_lost, text_gap,
    stderr, error, action_error -- its texts
) AS
SELECT k.trace_id, k.project, k.run_id, k.span_id, k.idx, k.name_id, k.kind, k.action_failed, k.lookup_id, k.reason, k.no_result,
    k.result_id, k.exit_code, k.termination_signal, k.max_rss_bytes, k.worker_id,
    ifnull((SELECT m.execution_completed_ns FROM _time m WHERE m.result_id = k.result_id),
        k.start_ns + ifnull(k.wall_us, 0) * 1000),
    CASE
    WHEN k.reason IN ('timeout', 'cancelled') THEN NULL
    WHEN k.termination_signal = 'KILL' THEN 'ended on signal KILL'
    WHEN k.termination_signal IS NOT NULL THEN NULL
    WHEN k.exit_code = 137 THEN 'exit code 137: its shell saw a child killed'
    WHEN k.exit_code = -9 THEN 'exit code -9: ended on signal KILL' END,
    CASE
    WHEN k.reason = 'signal' AND k.exit_code = -1 AND k.termination_signal IS NULL THEN 'it ended on a signal, but on which is not known'
    WHEN k.is_lost THEN 'what its worker said never reached the client' END,
    k.is_lost,
    CASE
    WHEN k.stderr = '' AND k.stderr_bytes > 0 THEN 'its stderr was not kept'
    WHEN EXISTS (SELECT 1 FROM tail_pattern p WHERE k.stderr GLOB p.pattern) THEN 'its stderr shows only the end of a longer log'
    WHEN length(CAST(k.stderr AS BLOB)) < k.stderr_bytes THEN 'only the end of its stderr was kept' END,
    k.stderr, k.error, k.action_error
FROM (SELECT g.trace_id, j.name AS project, f.run_id, f.span_id, f.idx, f.name_id, f.kind, f.action_failed, f.lookup_id, f.reason, f.no_result,
        f.result_id, ifnull(f.exit_code, r.exit_code) AS exit_code, r.termination_signal, r.max_rss_bytes, r.worker_id, f.start_ns,
        f.wall_us, f.error, f.action_error, e.stderr, e.stderr_bytes,
        f.kind = 2 AND f.result_id IS NULL AND f.exit_code IS NULL AND (f.reason = 'worker_lost'
            OR f.reason = 'error' AND f.error_stage IS 'remote_call_error') AS is_lost
    FROM run g JOIN project j ON j.project_id = g.project_id JOIN _failed_attempt f ON f.run_id = g.run_id
        LEFT JOIN attempt_stderr e USING (run_id, span_id, idx) LEFT JOIN result r ON r.result_id = f.result_id) k;

CREATE VIEW _suspicion (
    -- One row an attempt that did not succeed, with what its own result, its log and its texts say of a kill.
    run,                -- trace id
    project,            -- of the run
    run_id, span_id, idx, name_id, kind, action_failed, lookup_id, reason, no_result, result_id, -- of _failure
    exit_code,          -- as Buck2 saw it, else of the result
    termination_signal, -- of the result
    rss_bytes,          -- likewise
    worker_id,          -- likewise
    ended_ns,           -- when its command ended; of an Error attempt when the client heard of it
    evidence_action,    -- see oom_kills
    action_gap,         -- why silence of its result is worth nothing; NULL: it is known
    is_lost,            -- 1: what its worker said never reached the client
    pattern,            -- the row of oom_pattern found in its texts; the longest: 'Killed' alone is part of others
    excerpt,            -- the text around it
    text_gap            -- why silence of its texts is worth nothing; NULL: they are whole
) AS
-- DISTINCT, though no two rows are equal: so the texts are searched once a row, and a filter on run or
-- project is applied before that.
WITH known AS (
    SELECT DISTINCT f.run, f.project, f.run_id, f.span_id, f.idx, f.name_id, f.kind, f.action_failed, f.lookup_id, f.reason, f.no_result,
        f.result_id, f.exit_code, f.termination_signal, f.rss_bytes, f.worker_id, f.ended_ns, f.evidence_action, f.action_gap, f.is_lost,
        -- A command that Buck2 or the worker stopped says nothing of memory.
        (SELECT p.pattern FROM oom_pattern p WHERE f.reason NOT IN ('timeout', 'cancelled')
            AND (instr(f.stderr, p.pattern) OR instr(f.error, p.pattern) OR instr(f.action_error, p.pattern))
            ORDER BY length(p.pattern) DESC, p.pattern LIMIT 1) AS pattern,
        f.text_gap
    FROM _failed_known f)
SELECT run, project, run_id, span_id, idx, name_id, kind, action_failed, lookup_id, reason, no_result, result_id, exit_code,
    termination_signal, rss_bytes, worker_id, ended_ns, evidence_action, action_gap, is_lost, pattern,
    CASE WHEN pattern IS NOT NULL THEN (
        SELECT trim(substr(v.text, max(1, instr(v.text, pattern) - 40), 120), char(10)) FROM (
            SELECT ifnull((SELECT e.stderr FROM attempt_stderr e
                    WHERE e.run_id = k.run_id AND e.span_id = k.span_id AND e.idx = k.idx), '')
                || char(10) || ifnull((SELECT x.error FROM attempt_text x
                    WHERE x.run_id = k.run_id AND x.span_id = k.span_id AND x.idx = k.idx), '')
                || char(10) || ifnull((SELECT y.error FROM action_text y
                    WHERE y.run_id = k.run_id AND y.span_id = k.span_id), '') AS text) v) END,
    text_gap
FROM known k;

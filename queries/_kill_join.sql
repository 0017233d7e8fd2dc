CREATE VIEW _kill_join (
    -- One row a kill of _kill in a runner and an execution that ran there then, by the clock of the node, which
    -- is the worker's as well. A container's end counts for what ran from setting kill_before_s before its
    -- start to kill_after_s after its end; a counted kill for what ran between the two samples;
    -- child_earlier for what ran in that life of the container and looks killed.
    kill,       -- of _kill
    result_id,  -- of table result
    lookup_id,  -- of its digest
    run_id,     -- of the attempt that links it; of the action cache's: of the first reference
    is_shared,  -- 1: its worker runs several at a time in the container; never joined
    looks,      -- 2: it failed with exit code 137 or KILL (a container that lived on: or its text says so);
                -- 1: it failed otherwise; 0: it succeeded
    -- 2: the kill is this one's. 1: it may be. 0: it is not. Of the candidates those that look killed, if any
    -- do. Of a container's end then the one that ended last, but not later than setting kill_order_s after
    -- it; if there is none, or a tie, all these may be meant. Of a kill that the container survived what looks
    -- most like it and is not explained by the container's end; all of several may be meant. Two attempts
    -- that waited for one execution are no tie.
    is_joined
) AS
WITH placed AS MATERIALIZED (
    SELECT w.worker_id, w.pod, x.name GLOB '{*"thread":*' AS is_shared FROM _worker w JOIN worker x ON x.worker_id = w.worker_id),
here AS MATERIALIZED (
    SELECT k.kill, k.meaning IN ('counted', 'child_earlier') AS lived_on, k.meaning, k.at_ns, ifnull(k.from_ns, 0) AS from_ns,
        w.worker_id, w.is_shared
    FROM _kill k JOIN placed w ON w.pod = k.pod WHERE k.is_runner),
limits AS MATERIALIZED (
    SELECT max(CASE key WHEN 'kill_before_s' THEN value END) * 1000000000 AS before_ns,
        max(CASE key WHEN 'kill_after_s' THEN value END) * 1000000000 AS after_ns,
        max(CASE key WHEN 'kill_order_s' THEN value END) * 1000000000 AS order_ns
    FROM setting WHERE key GLOB 'kill_*'),
-- What was under way then, by the sums that the ingest keeps, and what names no invocation: so few results
-- are read.
asked AS (
    SELECT h.*, q.request_id FROM here h CROSS JOIN limits m CROSS JOIN request q WHERE q.first_ns <= h.at_ns + m.before_ns
        AND q.last_ns >= CASE WHEN h.lived_on THEN h.from_ns ELSE h.at_ns - m.after_ns END
    UNION ALL SELECT h.*, NULL FROM here h),
there AS (
    SELECT h.kill, h.lived_on, h.meaning, h.at_ns, h.is_shared, r.result_id, r.source, r.lookup_id, r.attempt_run_id,
        r.attempt_span_id, r.attempt_idx, r.first_run_id, r.exit_code, r.termination_signal,
        t.execution_completed_ns AS ended_ns
    FROM asked h CROSS JOIN result r INDEXED BY result_request ON r.request_id IS h.request_id AND r.worker_id = h.worker_id
        CROSS JOIN _time t ON t.result_id = r.result_id CROSS JOIN limits m
    WHERE CASE WHEN h.lived_on THEN t.execution_start_ns <= h.at_ns AND t.execution_completed_ns > h.from_ns
        ELSE h.at_ns BETWEEN t.execution_start_ns - m.before_ns
            AND t.execution_completed_ns + m.after_ns END),
candidate AS (
    SELECT t.*, CASE
        WHEN exit_code = 137 OR termination_signal = 'KILL' THEN 2
        WHEN lived_on AND EXISTS (SELECT 1 FROM attempt_stderr e JOIN oom_pattern p ON instr(e.stderr, p.pattern)
            WHERE e.run_id = t.attempt_run_id AND e.span_id = t.attempt_span_id AND e.idx = t.attempt_idx) THEN 2
        WHEN source = 2 OR exit_code <> 0 OR termination_signal IS NOT NULL THEN 1 ELSE 0 END AS looks
    FROM there t),
-- Of a container's end: those that look killed, if any do; then the last one in time.
best AS (
    SELECT c.*, NOT lived_on AND NOT is_shared AND (looks = 2) = max(looks = 2) OVER (PARTITION BY kill) AS is_kept
    FROM candidate c WHERE meaning <> 'child_earlier' OR looks = 2),
latest AS (
    SELECT b.*, max(CASE WHEN is_kept AND ended_ns <= at_ns + (SELECT order_ns FROM limits) THEN ended_ns END)
        OVER (PARTITION BY kill) AS last_ns FROM best b),
last_one AS (
    SELECT l.*, CASE WHEN is_kept AND ended_ns = ifnull(last_ns, ended_ns) THEN lookup_id END AS last_id FROM latest l),
ended AS (
    SELECT l.*, CASE WHEN last_id IS NULL THEN 0 WHEN last_ns IS NULL
        OR min(last_id) OVER (PARTITION BY kill) <> max(last_id) OVER (PARTITION BY kill) THEN 1 ELSE 2 END AS is_end FROM last_one l),
-- Of a kill inside: what no end explains.
inside AS (
    SELECT e.*, CASE WHEN lived_on AND NOT is_shared AND max(is_end) OVER (PARTITION BY result_id) < 2 THEN looks END AS look FROM ended e),
likely AS (
    SELECT i.*, CASE WHEN look = max(look) OVER (PARTITION BY kill) THEN lookup_id END AS inside_id FROM inside i)
SELECT kill, result_id, lookup_id, ifnull(attempt_run_id, first_run_id), is_shared, looks,
    CASE WHEN inside_id IS NULL THEN is_end
        WHEN min(inside_id) OVER (PARTITION BY kill) <> max(inside_id) OVER (PARTITION BY kill) THEN 1 ELSE 2 END
FROM likely;

CREATE VIEW _worked (
    -- One row an execution that names who had it executed, failed ones included: who was busy when.
    invocation, -- trace id: a filter on it is a search
    result_id,  -- of table result
    worker_id,  -- of table worker
    queued_ns,  -- time when it was queued; NULL: not known, or later than what follows, as clocks disagree
    started_ns, -- time when the worker took it; NULL: neither of its spans is known
    ended_ns,   -- time when the worker was done, outputs uploaded; NULL: not known, or before it began
    busy_ns     -- it held the worker so long; NULL likewise
) AS
SELECT q.invocation, r.result_id, r.worker_id,
    CASE WHEN t.queued_ns <= t.worker_start_ns THEN t.queued_ns END,
    CASE WHEN t.queued_ns <= t.worker_start_ns OR t.worker_start_ns <= t.worker_completed_ns THEN t.worker_start_ns END,
    CASE WHEN t.worker_start_ns <= t.worker_completed_ns THEN t.worker_completed_ns END,
    CASE WHEN t.worker_start_ns <= t.worker_completed_ns THEN t.worker_completed_ns - t.worker_start_ns END
FROM request q JOIN result r ON r.request_id = q.request_id LEFT JOIN _time t ON t.result_id = r.result_id
-- Several attempts can link one execution, and it is a result of each.
WHERE q.invocation IS NOT NULL AND (r.source = 1 OR NOT EXISTS (
    SELECT 1 FROM result e LEFT JOIN _time m ON m.result_id = e.result_id
    WHERE e.lookup_id = r.lookup_id AND e.source = 2 AND e.result_id < r.result_id AND e.request_id = r.request_id
        AND e.worker_id IS r.worker_id AND m.worker_start_ns IS t.worker_start_ns));

CREATE VIEW _step (
    -- The moments at which the counts of concurrency change, of each invocation. What happens at one moment is
    -- several rows, of which the last one has the counts from then on.
    invocation, -- trace id: a filter on it is a search
    at_ns,      -- time; NULL: not known, and counts for nothing
    until_ns,   -- the next row's, greater only after the last one of a moment; NULL: the last of all
    queued, running -- from then on
) AS
SELECT invocation, at_ns, lead(at_ns) OVER at, sum(queue) OVER at, sum(work) OVER at
FROM (SELECT w.invocation, CASE e.event WHEN 1 THEN w.queued_ns WHEN 2 THEN w.started_ns ELSE w.ended_ns END AS at_ns,
        CASE e.event WHEN 1 THEN w.queued_ns IS NOT NULL WHEN 2 THEN -(w.queued_ns IS NOT NULL) ELSE 0 END AS queue,
        CASE e.event WHEN 1 THEN 0 WHEN 2 THEN w.ended_ns IS NOT NULL ELSE -(w.ended_ns IS NOT NULL) END AS work
    FROM _worked w CROSS JOIN (SELECT 1 AS event UNION ALL VALUES (2), (3)) e)
WINDOW at AS (PARTITION BY invocation ORDER BY at_ns);

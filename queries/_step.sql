CREATE VIEW _executed (
    -- One row an execution that names who had it executed, failed ones included: who was busy when.
    invocation, -- trace id: a filter on it is a search
    result_id,  -- of table result
    worker_id,  -- of table worker
    taken_ns,   -- time when the worker took it
    queued_ns,  -- it had been queued so long; negative, as the next one, where clocks disagree
    held_ns     -- it held the worker so long, until outputs were uploaded
) AS
SELECT q.invocation, r.result_id, r.worker_id, t.taken_ns, t.queued_ns, t.held_ns
FROM request q CROSS JOIN result r ON r.result_id IN (SELECT o.result_id FROM result o WHERE o.request_id = q.request_id)
    LEFT JOIN _span t ON t.result_id = r.result_id
-- Several attempts can link one execution, and it is a result of each.
WHERE q.invocation IS NOT NULL AND (r.source = 1 OR NOT EXISTS (
    SELECT 1 FROM result e LEFT JOIN _span m ON m.result_id = e.result_id
    WHERE e.lookup_id = r.lookup_id AND e.source = 2 AND e.result_id < r.result_id AND e.request_id = r.request_id
        AND e.worker_id IS r.worker_id AND m.taken_ns IS t.taken_ns));

CREATE VIEW _worked (
    -- The same, and what is negative is not known.
    invocation, -- trace id: a filter on it is a search
    result_id, worker_id, taken_ns, -- see _executed
    waited_ns,  -- it had been queued so long; NULL: not known, or clocks disagree
    held_ns     -- it held the worker so long, until outputs were uploaded; NULL likewise
) AS
SELECT invocation, result_id, worker_id, taken_ns, nullif(max(queued_ns, -1), -1), nullif(max(held_ns, -1), -1) FROM _executed;

CREATE VIEW _step_change (
    -- What changes how many wait and run: up to three rows an execution, and one an invocation after all of these.
    invocation, -- trace id: a filter on it is a search
    at_ns,      -- time; the largest integer: after all; NULL: not known, and counts for nothing
    queue, work -- so many more wait and run from then on
) AS
SELECT w.invocation, CASE e.event WHEN 1 THEN w.taken_ns - w.waited_ns WHEN 3 THEN w.taken_ns + w.held_ns
        ELSE CASE WHEN w.waited_ns IS NOT NULL OR w.held_ns IS NOT NULL THEN w.taken_ns END END,
    CASE e.event WHEN 1 THEN 1 WHEN 2 THEN -(w.waited_ns IS NOT NULL) ELSE 0 END,
    CASE e.event WHEN 1 THEN 0 WHEN 2 THEN w.held_ns IS NOT NULL ELSE -1 END
FROM _worked w CROSS JOIN (SELECT 1 AS event UNION ALL VALUES (2), (3)) e
UNION ALL
SELECT q.invocation, 9223372036854775807, 0, 0 FROM request q WHERE q.invocation IS NOT NULL
-- No row: it keeps SQLite from merging this view into the next one, which would work each time out again and again.
UNION ALL SELECT NULL, NULL, NULL, NULL WHERE 0;

CREATE VIEW _step (
    -- How many of an invocation waited and ran from one moment to the next; in practice by invocation and time, as the
    -- window sorts it.
    invocation, -- trace id: a filter on it is a search
    at_ns,      -- from this moment on; NULL: before the first one
    until_ns,   -- to this one; NULL: there is none
    queued, running
) AS
SELECT invocation, since_ns, nullif(at_ns, 9223372036854775807), ifnull(queued, 0), ifnull(running, 0)
-- In one window, which ends before the row itself: lead() alone would cost half as much again.
FROM (SELECT invocation, at_ns, max(at_ns) OVER before AS since_ns, sum(queue) OVER before AS queued, sum(work) OVER before AS running
    FROM _step_change WHERE at_ns IS NOT NULL
    WINDOW before AS (PARTITION BY invocation ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
-- Several things can happen at one moment.
WHERE since_ns IS NULL OR since_ns < at_ns;

CREATE VIEW _tenth (
    -- What changed in an invocation up to each tenth of a second, where something did: the changes of _step_change,
    -- added up. Not made of that view, as SQLite passes a filter through GROUP BY to tables only.
    invocation, -- trace id: a filter on it is a search
    tenth,      -- of a second since 1970
    queue, work -- so many more wait and run from then on
) AS
SELECT x.invocation, (x.taken_ns + CASE e.event WHEN 1 THEN -x.queued_ns WHEN 2 THEN 0 ELSE x.held_ns END + 99999999) / 100000000 AS tenth,
    sum(e.queue), sum(e.work)
-- What is known is told by a row being there, and what changes then is looked up: expressions would be evaluated for
-- each sum, and take all columns that they need through the sorter.
FROM _executed x LEFT JOIN (SELECT 1 AS waited) w ON x.queued_ns >= 0 LEFT JOIN (SELECT 2 AS ran) h ON x.held_ns >= 0
    CROSS JOIN (SELECT 3 AS known, 1 AS event, 1 AS queue, 0 AS work UNION ALL VALUES (3, 2, -1, 1), (3, 3, 0, -1),
        (1, 1, 1, 0), (1, 2, -1, 0), (2, 2, 0, 1), (2, 3, 0, -1)) e ON e.known = ifnull(w.waited, 0) + ifnull(h.ran, 0)
-- The number first: SQLite sorts by one faster than by a text.
GROUP BY tenth, x.invocation;

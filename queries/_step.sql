CREATE VIEW _worked (
    -- One row an execution that names who had it executed, failed ones included: who was busy when.
    invocation, -- trace id: a filter on it is a search
    result_id,  -- of table result
    worker_id,  -- of table worker
    taken_ns,   -- time when the worker took it
    waited_ns,  -- it had been queued so long; NULL: not known, or negative, as clocks disagree
    held_ns     -- it held the worker so long, until outputs were uploaded; NULL likewise
) AS
SELECT q.invocation, r.result_id, r.worker_id, t.taken_ns, nullif(max(t.queued_ns, -1), -1), nullif(max(t.held_ns, -1), -1)
FROM request q JOIN result r ON r.request_id = q.request_id LEFT JOIN _span t ON t.result_id = r.result_id
-- Several attempts can link one execution, and it is a result of each.
WHERE q.invocation IS NOT NULL AND (r.source = 1 OR NOT EXISTS (
    SELECT 1 FROM result e LEFT JOIN _span m ON m.result_id = e.result_id
    WHERE e.lookup_id = r.lookup_id AND e.source = 2 AND e.result_id < r.result_id AND e.request_id = r.request_id
        AND e.worker_id IS r.worker_id AND m.taken_ns IS t.taken_ns));

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
SELECT w.invocation, (CASE e.event WHEN 1 THEN w.taken_ns - w.waited_ns WHEN 3 THEN w.taken_ns + w.held_ns
        ELSE CASE WHEN w.waited_ns IS NOT NULL OR w.held_ns IS NOT NULL THEN w.taken_ns END END + 99999999) / 100000000 AS moment,
    sum(CASE e.event WHEN 1 THEN 1 WHEN 2 THEN -(w.waited_ns IS NOT NULL) ELSE 0 END),
    sum(CASE e.event WHEN 1 THEN 0 WHEN 2 THEN w.held_ns IS NOT NULL ELSE -1 END)
FROM _worked w CROSS JOIN (SELECT 1 AS event UNION ALL VALUES (2), (3)) e
-- The number first: SQLite sorts by one faster than by a text.
GROUP BY moment, w.invocation HAVING moment IS NOT NULL;

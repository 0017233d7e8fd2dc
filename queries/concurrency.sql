CREATE VIEW concurrency (
    -- How many actions of an invocation waited and ran at each tenth of a second, from the workers' results, also
    -- where its log is gone: one row a tenth up to which something changed, by invocation and time. Clocks of workers
    -- agree no better, and what came and went between two tenths is not seen; peaks to the nanosecond are in
    -- concurrency_summary. Filter invocation: each is thousands of rows. An execution without times counts for
    -- nothing here, and is counted in concurrency_summary.
    invocation, -- trace id
    at_utc,     -- from this moment on, by the servers' clocks
    at_s,       -- the same, from the invocation's first known time
    for_s,      -- until the next row; NULL: there is none
    queued,     -- actions that waited for a worker
    running     -- actions that held a worker: it fetched inputs, ran the command, uploaded outputs
) AS
SELECT s.invocation, datetime(s.tenth / 10, 'unixepoch') || '.' || (s.tenth % 10) || '00', s.tenth / 10.0 - f.first_ns / 1e9,
    (s.until - s.tenth) / 10.0, s.queued, s.running
FROM (SELECT invocation, tenth, lead(tenth) OVER so_far AS until, sum(queue) OVER so_far AS queued, sum(work) OVER so_far AS running
    FROM _tenth
    WINDOW so_far AS (PARTITION BY invocation ORDER BY tenth ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) s
    JOIN (SELECT q.invocation, min(q.first_ns) AS first_ns FROM request q GROUP BY q.invocation) f ON f.invocation = s.invocation;

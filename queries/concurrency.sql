CREATE VIEW concurrency (
    -- How many actions of an invocation waited and ran at each moment, from the workers' results, also where its
    -- log is gone: one row a change, by invocation and time. Filter invocation: each is thousands of rows. An
    -- execution without times counts for nothing here, and is counted in concurrency_summary.
    invocation, -- trace id
    at_utc,     -- from this moment on, by the servers' clocks
    at_s,       -- the same, from the invocation's first known time
    for_s,      -- until the next change; NULL: there is none
    queued,     -- actions that waited for a worker
    running     -- actions that held a worker: it fetched inputs, ran the command, uploaded outputs
) AS
SELECT s.invocation, strftime('%Y-%m-%d %H:%M:%f', s.at_ns / 1000000 / 1000.0, 'unixepoch'), (s.at_ns - f.first_ns) / 1e9,
    (s.until_ns - s.at_ns) / 1e9, s.queued, s.running
FROM _step s JOIN (SELECT q.invocation, min(q.first_ns) AS first_ns FROM request q GROUP BY q.invocation) f ON f.invocation = s.invocation
-- In the order of _step: to ask for it here would sort them once more.
WHERE s.at_ns IS NOT NULL;

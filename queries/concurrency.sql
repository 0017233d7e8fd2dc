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
SELECT invocation, strftime('%Y-%m-%d %H:%M:%f', at_ns / 1000000 / 1000.0, 'unixepoch'),
    (at_ns - (SELECT min(q.first_ns) FROM request q WHERE q.invocation = s.invocation)) / 1e9, (until_ns - at_ns) / 1e9, queued, running
FROM _step s WHERE at_ns IS NOT NULL AND (until_ns > at_ns OR until_ns IS NULL)
ORDER BY invocation, at_ns;

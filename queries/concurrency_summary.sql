CREATE VIEW concurrency_summary (
    -- One row an invocation that executed results, of what concurrency shows of it. Filter invocation to be fast.
    -- Only what some known log refers to can be seen: counts are lower bounds.
    invocation,     -- trace id
    results,        -- executions, failed ones included
    unknown,        -- of these, without the times for running: not in any figure of it
    unknown_waits,  -- without those for waiting
    workers,        -- workers seen
    peak_running,   -- most actions that held a worker at once; NULL, as what follows of running: no times are known
    avg_running,    -- the same on average, while at least one did; executions has the average of the whole time
    running_s,      -- time during which at least one did
    idle_s,         -- time from the first to the last of them during which none did
    peak_waiting,   -- most actions that waited at once; NULL, as queued_s: no times are known
    queued_s,       -- time during which at least one waited
    busy_pct        -- held time, of the time from the first to the last times the workers whose times are known; over
                    -- 100 where a worker runs several at once
) AS
SELECT v.invocation, c.n, c.n - c.ended, c.n - c.begun, c.workers,
    CASE WHEN c.ended > 0 THEN v.peak_running END, round(c.held / nullif(v.ran, 0), 2), CASE WHEN c.ended > 0 THEN round(v.ran / 1e9, 3) END,
    round((c.last_ns - c.first_ns - v.ran) / 1e9, 3), CASE WHEN c.begun > 0 THEN v.peak_queued END,
    CASE WHEN c.begun > 0 THEN round(v.waited / 1e9, 3) END,
    round(100 * c.held / nullif(c.timed * (c.last_ns - c.first_ns), 0), 1)
FROM (SELECT invocation, until_ns, max(running) OVER one AS peak_running, max(queued) OVER one AS peak_queued,
        total(CASE WHEN running > 0 THEN until_ns - at_ns END) OVER one AS ran,
        total(CASE WHEN queued > 0 THEN until_ns - at_ns END) OVER one AS waited
    FROM _step WINDOW one AS (PARTITION BY invocation)) v
    JOIN (SELECT invocation, count(*) AS n, count(held_ns) AS ended, count(waited_ns) AS begun, count(DISTINCT worker_id) AS workers,
            count(DISTINCT CASE WHEN held_ns IS NOT NULL THEN worker_id END) AS timed, total(held_ns) AS held,
            min(CASE WHEN held_ns > 0 THEN taken_ns END) AS first_ns, max(CASE WHEN held_ns > 0 THEN taken_ns + held_ns END) AS last_ns
        FROM _worked GROUP BY invocation) c ON c.invocation = v.invocation
-- One row an invocation: the last one.
WHERE v.until_ns IS NULL;

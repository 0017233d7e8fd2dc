CREATE VIEW concurrency_summary (
    -- One row an invocation that executed results, of what concurrency shows of it.
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
SELECT invocation, results, results - ended, results - begun, workers,
    CASE WHEN ended > 0 THEN peak_running END, round(held_ns / nullif(ran_ns, 0), 2), CASE WHEN ended > 0 THEN round(ran_ns / 1e9, 3) END,
    round((span_ns - ran_ns) / 1e9, 3), CASE WHEN begun > 0 THEN peak_waiting END,
    CASE WHEN begun > 0 THEN round(waited_ns / 1e9, 3) END,
    round(100 * held_ns / nullif(timed * span_ns, 0), 1)
FROM _invocation_sum;

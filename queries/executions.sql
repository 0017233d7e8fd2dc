CREATE VIEW executions (
    -- One row an invocation that executed results, latest first, also where its log is gone: the workers'
    -- results name it. Only what some known log refers to can be seen: all figures are lower bounds.
    invocation,  -- its trace id
    run,         -- the same where its log was read; NULL: the log is gone
    project,     -- of the run; where the log is gone, of the run by which most of its results are first known
    variant,     -- of that run, as the next two
    mode,        -- of that run
    salt,        -- of that run
    known_by,    -- trace id of that run
    results,     -- results that name it, historical ones included
    with_usage,  -- of these, from the action cache and with usage
    wall_h,      -- wall time of these, hours
    cpu_h,       -- CPU time of these, hours
    avg_cores,   -- cpu / wall, where both are known
    first_utc,   -- first known time of its first result (queued, as a rule), by the servers' clocks
    last_utc,    -- when its last result was complete
    seconds,     -- from one to the other
    avg_running  -- wall time / seconds: how many commands ran at once on average, from first_utc to last_utc, pauses
                 -- included; concurrency_summary counts what held a worker, while at least one did
) AS
WITH untimed AS MATERIALIZED (
    SELECT q.invocation, total(x.cpu_ns) AS cpu_ns FROM _untimed x JOIN request q ON q.request_id = x.request_id GROUP BY q.invocation)
SELECT e.invocation, r.trace_id, j.name, k.variant, k.mode, k.salt, g.trace_id, e.results, e.with_usage,
    round(e.wall_ns / 3.6e12, 3), round(e.cpu_ns / 3.6e12, 3), round((e.cpu_ns - ifnull(x.cpu_ns, 0)) / nullif(e.wall_ns, 0), 2),
    strftime('%Y-%m-%d %H:%M:%f', e.first_ns / 1000000 / 1000.0, 'unixepoch'), strftime('%Y-%m-%d %H:%M:%f', e.last_ns / 1000000 / 1000.0, 'unixepoch'),
    round((e.last_ns - e.first_ns) / 1e9, 3), round(e.wall_ns / nullif(e.last_ns - e.first_ns, 0), 2)
FROM _invocation e JOIN run g ON g.run_id = e.via_run_id JOIN project j ON j.project_id = g.project_id
    LEFT JOIN run r ON r.run_id = e.run_id LEFT JOIN _run_cell k ON k.run_id = g.run_id
    LEFT JOIN untimed x ON x.invocation = e.invocation
ORDER BY e.first_ns DESC, e.invocation;

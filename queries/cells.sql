CREATE VIEW cells (
    -- One row a measured run, as in the wrapper's own matrix, by salt and time. A run whose log is gone has
    -- a row too if some known run of its salt hit its results: then ok, seconds and the commands are not known.
    variant,     -- wrapped, native
    mode,        -- local, local-cache, remote, remote-cache
    run,         -- cold or warm, as the wrapper's own matrix names it
    ok,          -- 1: it succeeded; 0: not; NULL: not known
    seconds,     -- of the whole command
    commands,    -- cached + remote + local
    cached,      -- served from a cache
    remote,      -- executed remotely
    local,       -- executed locally
    hours,       -- wall hours of the results with usage that this very run executed
    with_usage,  -- how many these are
    salt,        -- the cell
    project,     -- of the run, or of the run by which it is known
    invocation,  -- trace id
    started_utc, -- by the client's clock; where the log is gone, first known time of its first result
    log_known    -- 1: its log was read; 0: gone
) AS
-- Results that name no invocation belong to the run that refers to them first, if it ran at that time and
-- they were no hits.
WITH unnamed AS MATERIALIZED (
    SELECT g.run_id, total(r.wall_ns) AS wall_ns, count(*) AS n
    FROM run g JOIN result r ON r.first_run_id = g.run_id AND r.request_id IS NULL AND r.source = 1 AND r.cpu_ns IS NOT NULL
        JOIN _time t ON t.result_id = r.result_id
    WHERE EXISTS (SELECT 1 FROM attempt a WHERE a.lookup_id = r.lookup_id AND a.run_id = g.run_id AND a.cache_hit = 0)
        AND t.execution_start_ns BETWEEN
        g.start_ns - (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
        AND g.start_ns + g.duration_us * 1000 + (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
    GROUP BY g.run_id),
invocation AS MATERIALIZED (
    SELECT invocation, run_id, via_run_id, with_usage, wall_ns, first_ns FROM _invocation),
row AS (
    SELECT k.variant, k.mode, g.succeeded, g.duration_us / 1e6 AS seconds,
        c.cached_action + c.cached_dep_file AS cached, c.remote, c.local,
        ifnull(e.wall_ns, 0) + ifnull(u.wall_ns, 0) AS wall_ns, ifnull(e.with_usage, 0) + ifnull(u.n, 0) AS with_usage,
        k.salt, g.project_id, g.trace_id, g.start_ns, 1 AS log_known
    FROM run g JOIN _run_cell k ON k.run_id = g.run_id JOIN _run_count c ON c.run_id = g.run_id
        LEFT JOIN invocation e ON e.run_id = g.run_id LEFT JOIN unnamed u ON u.run_id = g.run_id
    WHERE k.salt IS NOT NULL
    UNION ALL
    SELECT k.variant, k.mode, NULL, NULL, NULL, NULL, NULL, e.wall_ns, e.with_usage, k.salt, g.project_id,
        e.invocation, e.first_ns, 0
    FROM invocation e JOIN run g ON g.run_id = e.via_run_id JOIN _run_cell k ON k.run_id = g.run_id
    WHERE e.run_id IS NULL AND k.salt IS NOT NULL)
SELECT r.variant, r.mode,
    -- As _run_pass has it: all of a salt are rows here.
    CASE WHEN r.start_ns > min(r.start_ns) OVER (PARTITION BY r.salt) OR (r.cached > 0 AND r.remote = 0) THEN 'warm'
        ELSE 'cold' END,
    r.succeeded, r.seconds, r.cached + r.remote + r.local, r.cached, r.remote, r.local, round(r.wall_ns / 3.6e12, 6),
    r.with_usage, r.salt, j.name, r.trace_id, strftime('%Y-%m-%d %H:%M:%f', r.start_ns / 1000000 / 1000.0, 'unixepoch'),
    r.log_known
FROM row r JOIN project j ON j.project_id = r.project_id
ORDER BY r.salt, r.start_ns, r.trace_id;

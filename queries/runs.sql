CREATE VIEW runs (
    -- One row a run whose log was read, latest first. Its digests and their usage: summary_by_run.
    run,             -- trace id
    project,         -- project.json's name, else the base name of the root, or --project
    command,         -- build, test, ...
    started_utc,     -- by the client's clock
    seconds,         -- of the whole command; NULL: the log has no end
    ok,              -- 1: it succeeded; 0: not; NULL: the log has no end
    complete,        -- 1: the log's last record was read
    variant,         -- wrapped, native; NULL: nothing says. Rules of these five: view _run_cell
    mode,            -- local, local-cache, remote, remote-cache; NULL: nothing says
    pass,            -- cold, or warm: an earlier execution of the same salt is known, or all remote commands are hits
    salt,            -- of the cell; NULL: not a measured run
    pool,            -- the instance name's prefix; NULL: none
    tag,             -- dev, viewcheck, HHMMSS; NULL: none
    is_dev,          -- 1: a dev or viewcheck run, which must not flatter measured figures
    isolation_dir,   -- of buck-out
    actions,         -- ended actions
    tests,           -- ended test runs and listings
    in_flight,       -- started, not ended in what was read
    failed,          -- failed actions, tests not included
    commands,        -- cached + remote + local, as Buck2 counts them
    cached,          -- served from the action cache or the dep-file cache
    remote,          -- executed remotely
    local,           -- executed locally
    instance,        -- under which its digests are asked; NULL: it has none to ask
    cache,           -- the user's name for the cluster; '' by default
    instance_source, -- where that name came from
    instance_proved, -- 1: an answer proved it, or a flag set it
    errors,          -- how many errors the command ended with; NULL: not known
    error,           -- text of the first one
    host,            -- of the daemon
    user,            -- as Buck2 logged it
    buck2_revision,  -- of the Buck2 that wrote the log
    revision,        -- of the repository
    argv,            -- JSON array; secrets replaced
    working_dir      -- where it was called
) AS
SELECT c.run, j.name, g.command, strftime('%Y-%m-%d %H:%M:%f', g.start_ns / 1000000 / 1000.0, 'unixepoch'), g.duration_us / 1e6,
    g.succeeded, g.complete, k.variant, k.mode, s.pass, k.salt, k.pool, k.tag, k.is_dev, g.isolation_dir, c.actions, c.tests,
    c.in_flight, c.failed, c.cached_action + c.cached_dep_file + c.remote + c.local, c.cached_action + c.cached_dep_file,
    c.remote, c.local, i.name, i.cache, g.instance_source, g.instance_proved, g.error_count, g.error, g.host, g.user,
    g.buck2_revision, g.revision, g.argv, g.working_dir
FROM _run_count c JOIN run g ON g.run_id = c.run_id JOIN project j ON j.project_id = g.project_id
    LEFT JOIN instance i ON i.instance_id = g.instance_id LEFT JOIN _run_cell k ON k.run_id = g.run_id
    LEFT JOIN _run_pass s ON s.run_id = g.run_id
ORDER BY g.start_ns DESC, g.trace_id;

CREATE VIEW cache_use (
    -- One row of how the actions of all runs were served. Actions, not digests; tests are not counted. One
    -- whose result was in the server's cache when it was sent to be executed shows as remote in every log.
    runs,            -- runs whose log was read
    actions,         -- ended actions
    commands,        -- of these, with a command: cached + remote + local, as Buck2 counts them
    cached,          -- served without running: from the action cache or the dep-file cache
    cached_dep_file, -- of these, from the remote dep-file cache
    remote,          -- executed remotely; a hit that only the server saw counts here
    local,           -- executed locally
    other,           -- no command: copies, writes, symlinks; or not known
    cached_pct       -- cached, of all commands
) AS
SELECT t.runs, t.actions, t.cached_action + t.cached_dep_file + t.remote + t.local,
    t.cached_action + t.cached_dep_file, t.cached_dep_file, t.remote, t.local,
    t.actions - t.cached_action - t.cached_dep_file - t.remote - t.local,
    round(100.0 * (t.cached_action + t.cached_dep_file)
        / nullif(t.cached_action + t.cached_dep_file + t.remote + t.local, 0), 1)
FROM (SELECT count(*) AS runs, ifnull(sum(actions), 0) AS actions, ifnull(sum(cached_action), 0) AS cached_action, ifnull(sum(cached_dep_file), 0) AS cached_dep_file, ifnull(sum(remote), 0) AS remote, ifnull(sum(local), 0) AS local FROM _run_count) t;

CREATE VIEW cache_use_by_project (
    -- One row a project, by name; otherwise as cache_use.
    project,         -- of the runs
    runs,            -- runs whose log was read
    actions,         -- ended actions
    commands,        -- of these, with a command: cached + remote + local, as Buck2 counts them
    cached,          -- served without running: from the action cache or the dep-file cache
    cached_dep_file, -- of these, from the remote dep-file cache
    remote,          -- executed remotely; a hit that only the server saw counts here
    local,           -- executed locally
    other,           -- no command: copies, writes, symlinks; or not known
    cached_pct       -- cached, of all commands
) AS
SELECT t.project, t.runs, t.actions, t.cached_action + t.cached_dep_file + t.remote + t.local,
    t.cached_action + t.cached_dep_file, t.cached_dep_file, t.remote, t.local,
    t.actions - t.cached_action - t.cached_dep_file - t.remote - t.local,
    round(100.0 * (t.cached_action + t.cached_dep_file)
        / nullif(t.cached_action + t.cached_dep_file + t.remote + t.local, 0), 1)
FROM (SELECT j.name AS project, count(*) AS runs, sum(c.actions) AS actions, sum(c.cached_action) AS cached_action, sum(c.cached_dep_file) AS cached_dep_file, sum(c.remote) AS remote, sum(c.local) AS local
    FROM project j JOIN _run_count c ON c.project_id = j.project_id GROUP BY j.name) t
ORDER BY t.project;

CREATE VIEW cache_use_by_run (
    -- One row a run, latest first; otherwise as cache_use.
    run,             -- trace id
    project,         -- of the run
    actions,         -- ended actions
    commands,        -- of these, with a command: cached + remote + local, as Buck2 counts them
    cached,          -- served without running: from the action cache or the dep-file cache
    cached_dep_file, -- of these, from the remote dep-file cache
    remote,          -- executed remotely; a hit that only the server saw counts here
    local,           -- executed locally
    other,           -- no command: copies, writes, symlinks; or not known
    cached_pct       -- cached, of all commands
) AS
SELECT c.run, j.name, c.actions, c.cached_action + c.cached_dep_file + c.remote + c.local,
    c.cached_action + c.cached_dep_file, c.cached_dep_file, c.remote, c.local,
    c.actions - c.cached_action - c.cached_dep_file - c.remote - c.local,
    round(100.0 * (c.cached_action + c.cached_dep_file)
        / nullif(c.cached_action + c.cached_dep_file + c.remote + c.local, 0), 1)
FROM _run_count c JOIN project j ON j.project_id = c.project_id
ORDER BY c.start_ns DESC, c.run;

CREATE VIEW slowest_path (
    -- One row a step of a run's slowest path, in chronological order: what `buck2 log slowest-path` prints. The
    -- critical path is what a build with enough workers would have waited for; this is what it did wait for.
    -- Columns as in critical_path.
    run,                     -- trace id
    idx,                     -- from 0
    kind,                    -- as Buck2 prints it
    name,                    -- as Buck2 prints it
    label,                   -- of the step's target; NULL: it has none
    package,                 -- its name
    category,                -- of an action; '' for tests and listings
    identifier,              -- of an action; a materialization's path
    execution_kind,          -- of an action
    start_s,                 -- since the build's start
    duration_s,              -- what the step adds to the path
    share_pct,               -- of the sum of all steps' duration_s
    user_s,                  -- of it, the part that the build's author can change
    total_s,                 -- duration_s, with what was spent beside the path
    potential_improvement_s, -- Buck2 does not compute it for this path
    off_path_s,              -- no part of duration_s
    log_queued_s,            -- of it, in the queue as Buck2 saw it
    reused,                  -- 1: an earlier command computed it
    digest,                  -- <hash>:<size> of the action
    why,                     -- why no usage is known; NULL: it is known
    wall_s,                  -- time of the command itself
    cpu_s,                   -- user + system of all its processes
    cores,                   -- an average
    max_rss_gib,             -- largest single process; a lower bound if it was killed
    queued_s,                -- waited for a worker
    executed_in_this_run,    -- 1: the recorded execution is this run's; 0: another's
    executed_by,             -- trace id of the run that executed it
    heavy,                   -- 1: its package has heavy results in the run's project
    listed                   -- 1: heavy in project.json holds its package
) AS
SELECT run, idx, kind, name, label, package, category, identifier, execution_kind, start_s, duration_s,
    100.0 * duration_us / nullif(total(duration_us) OVER (PARTITION BY run), 0), user_s, total_s,
    potential_improvement_s, off_path_s, log_queued_s, reused, digest, why, wall_s, cpu_s, cores, max_rss_gib, queued_s,
    executed_in_this_run, executed_by, heavy, listed
FROM _path_usage WHERE path = 2 ORDER BY run, idx;

CREATE VIEW critical_path (
    -- One row a step of a run's critical path, in chronological order: what `buck2 log critical-path` prints, with
    -- what each action used. Buck2 computes the path when a build ends, so a cut log has none; nor has a run whose
    -- record of it could not be read, for which one odd value will do: table log_file counts a log's malformed
    -- records, and its note says what is wrong with the first. Times are what this run waited; usage is that of the
    -- recorded execution, whoever hit it since. Unrounded; NULL is unknown.
    run,                     -- trace id
    idx,                     -- from 0
    kind,                    -- action, analysis, load, listing, materialization, waiting, … as Buck2 prints it; NULL: new to this program
    name,                    -- as Buck2 prints it: the label (configuration), a package to load, a reason to wait; an anonymous target has no hash here
    label,                   -- cell//path:name of the step's target; NULL: it has none
    package,                 -- its name, as heavy in project.json holds it
    category,                -- of an action: br2_package, ...; '' for tests and listings
    identifier,              -- of an action; a materialization's path
    execution_kind,          -- of an action: remote, action_cache, local, simple (no command), ... or a number that is new to this program
    start_s,                 -- since the build's start
    duration_s,              -- what the step adds to the path
    share_pct,               -- of the sum of all steps' duration_s
    user_s,                  -- of it, the part that the build's author can change
    total_s,                 -- duration_s, with what was spent beside the path
    potential_improvement_s, -- how much sooner the build would have ended without the step
    off_path_s,              -- waiting and such, which is no part of duration_s
    log_queued_s,            -- of it, in the queue as Buck2 saw it; NULL for hits
    reused,                  -- 1: an earlier command computed it
    digest,                  -- <hash>:<size> of the action
    why,                     -- why no usage is known: no_command, local (ran on Buck2's host), not_logged (no attempt in the log), else a reason of missing_results; NULL: it is known
    wall_s,                  -- time of the command itself
    cpu_s,                   -- user + system of all its processes
    cores,                   -- cpu / wall: an average, says nothing of peaks
    max_rss_gib,             -- largest single process; a lower bound if it was killed
    queued_s,                -- waited for a worker; NULL if the clocks disagree
    executed_in_this_run,    -- 1: the recorded execution is this run's; 0: another's
    executed_by,             -- trace id of the run that executed it
    heavy,                   -- 1: its package has heavy results in the run's project: see heavy_packages; 0: none; NULL: no package
    listed                   -- 1: heavy in project.json holds its package; 0: not; NULL: project.json was not read
) AS
SELECT run, idx, kind, name, label, package, category, identifier, execution_kind, start_s, duration_s,
    100.0 * duration_us / nullif(total(duration_us) OVER (PARTITION BY run), 0), user_s, total_s,
    potential_improvement_s, off_path_s, log_queued_s, reused, digest, why, wall_s, cpu_s, cores, max_rss_gib, queued_s,
    executed_in_this_run, executed_by, heavy, listed
FROM _path_usage WHERE path = 1 ORDER BY run, idx;

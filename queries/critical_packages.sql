CREATE VIEW critical_packages (
    -- One row a run and package on its critical path, by run and the time that the package adds to it: what to
    -- give a bigger worker to first. Steps of no package (loading, waiting) have no row, so shares do not add up
    -- to 100. Usage is that of the recorded executions; a hit's is another run's,
    -- a failed step's is its own.
    run,                     -- trace id
    package,                 -- the target's name
    steps,                   -- of the package on the path
    actions,                 -- of these, actions and tests
    with_usage,              -- of these, with known usage
    duration_s,              -- what the steps add to the path
    share_pct,               -- of the whole path
    potential_improvement_s, -- of the step with the most: how much sooner the build would have ended without it
    log_queued_s,            -- in the queue, as Buck2 saw it; NULL: not queued
    wall_s,                  -- of the commands themselves, where known
    cpu_s,                   -- their user + system
    cores,                   -- cpu_s / wall_s, where both are known: an average
    max_rss_gib,             -- their largest single process; a lower bound if it was killed
    heavy,                   -- 1: the package has heavy results in the run's project: see heavy_packages
    listed                   -- 1: heavy in project.json holds it; NULL: project.json was not read
) AS
SELECT run, package, count(*), sum(is_command), count(cpu_ns), round(total(duration_us) / 1e6, 3),
    round(100.0 * total(duration_us)
        / nullif((SELECT total(e.duration_us) FROM path_step e WHERE e.run_id = u.run_id AND e.path = 1), 0), 1),
    round(max(potential_us) / 1e6, 3), round(sum(log_queued_s), 3), round(sum(wall_ns / 1e9), 3), round(sum(cpu_ns / 1e9), 3),
    round(sum(iif(wall_ns IS NULL, NULL, cpu_ns / 1e9)) / max(sum(iif(cpu_ns IS NULL, NULL, wall_ns / 1e9)), 0.001), 2),
    round(max(max_rss_bytes) / 1073741824.0, 3), max(heavy), max(listed)
FROM _path_usage u WHERE path = 1 AND package_id IS NOT NULL
GROUP BY run, package_id ORDER BY run, total(duration_us) DESC, package;

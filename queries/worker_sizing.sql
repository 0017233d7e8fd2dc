CREATE VIEW worker_sizing (
    -- One row a pool, memory limit in force and requested cores, by these: what executions needed there, and the
    -- size that this recommends. Counted results, each digest once. The peak of one is the larger of its largest
    -- process and of its container's sampled working set: a lower bound. In whole MiB, rounded up; percentiles are
    -- sorted[min(n-1, floor(q n))]. Limits are never mixed, and what is recommended holds under its own only:
    -- make -jN follows the limit, so measure again under another. Memory from the largest, as a kill fails a
    -- build. Below setting sizing_min_results nothing is recommended.
    pool,                 -- as worker names tell it; NULL: not known
    limit_gib,            -- memory limit in force; NULL: none, or not known
    cpu_request,          -- cores requested
    results,              -- results of workers whose memory is known
    unknown,              -- and of which it is not, those without usage included
    verdict,              -- on the limit: raise, lower, keep; limit not known; not enough data; NULL: a setting is missing
    -- Recommended: peak_max + setting sizing_margin_pct; after a kill at least the limit + sizing_oom_pct and
    -- + sizing_oom_mib; rounded up to sizing_step_mib. Never below the largest seen, failed_max included.
    new_limit_gib,
    -- Recommended: peak_p95 + sizing_margin_pct, rounded up to sizing_step_mib. Never below the largest seen, either,
    -- as a node that is full puts out who uses more than it requested.
    new_request_gib,
    new_cpu_request,      -- recommended: cores_p95; what is above is a burst, as there is no CPU limit
    reason,               -- of what is recommended, in words
    request_gib,          -- memory requested; where the pool's requests differ in it, the largest
    oom_kills,            -- kills for memory that containers of the pool and limit tell of
    peak_p50_gib,         -- median of the peaks
    peak_p90_gib,         -- 90th percentile of them
    peak_p95_gib,         -- 95th
    peak_p99_gib,         -- 99th
    peak_max_gib,         -- the largest one
    failed_max_gib,       -- the largest peak of those that failed, which are no results here: a lower bound where killed
    cores_p50,            -- median of average cores, each weighing as long as it ran
    cores_p90,            -- 90th percentile of them
    cores_p95,            -- 95th
    cores_p99,            -- 99th
    cores_max,            -- most average cores of one
    sampled_pct,          -- of those with usage: container sampled three times or more
    sampled_wall_pct      -- the same by wall time; elsewhere the largest process stands for the container
) AS
SELECT pool, limit_gib, cpu_request, results, unknown, verdict, new_limit_gib, new_request_gib, new_cpu_request, reason,
    request_gib, oom_kills, peak_p50_gib, peak_p90_gib, peak_p95_gib, peak_p99_gib, peak_max_gib, failed_max_gib, cores_p50,
    cores_p90, cores_p95, cores_p99, cores_max, sampled_pct, sampled_wall_pct
FROM _worker_sizing WHERE scope = 'all' ORDER BY pool, limit_mib, cpu_request;

CREATE VIEW worker_sizing_by_project (
    -- The rows of worker_sizing of each project, by project. A digest belongs to the project of its first reference.
    project,              -- name
    pool,                 -- as worker names tell it; NULL: not known
    limit_gib,            -- memory limit in force; NULL: none, or not known
    cpu_request,          -- cores requested
    results,              -- results of workers whose memory is known
    unknown,              -- and of which it is not, those without usage included
    verdict,              -- on the limit: raise, lower, keep; limit not known; not enough data; NULL: a setting is missing
    -- Recommended: peak_max + setting sizing_margin_pct; after a kill at least the limit + sizing_oom_pct and
    -- + sizing_oom_mib; rounded up to sizing_step_mib. Never below the largest seen, failed_max included.
    new_limit_gib,
    -- Recommended: peak_p95 + sizing_margin_pct, rounded up to sizing_step_mib. Never below the largest seen, either,
    -- as a node that is full puts out who uses more than it requested.
    new_request_gib,
    new_cpu_request,      -- recommended: cores_p95; what is above is a burst, as there is no CPU limit
    reason,               -- of what is recommended, in words
    request_gib,          -- memory requested; where the pool's requests differ in it, the largest
    oom_kills,            -- kills for memory that containers of the pool and limit tell of
    peak_p50_gib,         -- median of the peaks
    peak_p90_gib,         -- 90th percentile of them
    peak_p95_gib,         -- 95th
    peak_p99_gib,         -- 99th
    peak_max_gib,         -- the largest one
    failed_max_gib,       -- the largest peak of those that failed, which are no results here: a lower bound where killed
    cores_p50,            -- median of average cores, each weighing as long as it ran
    cores_p90,            -- 90th percentile of them
    cores_p95,            -- 95th
    cores_p99,            -- 99th
    cores_max,            -- most average cores of one
    sampled_pct,          -- of those with usage: container sampled three times or more
    sampled_wall_pct      -- the same by wall time; elsewhere the largest process stands for the container
) AS
SELECT name, pool, limit_gib, cpu_request, results, unknown, verdict, new_limit_gib, new_request_gib, new_cpu_request, reason,
    request_gib, oom_kills, peak_p50_gib, peak_p90_gib, peak_p95_gib, peak_p99_gib, peak_max_gib, failed_max_gib, cores_p50,
    cores_p90, cores_p95, cores_p99, cores_max, sampled_pct, sampled_wall_pct
FROM _worker_sizing WHERE scope = 'project' ORDER BY name, pool, limit_mib, cpu_request;

CREATE VIEW worker_sizing_by_run (
    -- The rows of worker_sizing of each run, by run: of all its digests, hits included.
    run,                  -- trace id
    pool,                 -- as worker names tell it; NULL: not known
    limit_gib,            -- memory limit in force; NULL: none, or not known
    cpu_request,          -- cores requested
    results,              -- results of workers whose memory is known
    unknown,              -- and of which it is not, those without usage included
    verdict,              -- on the limit: raise, lower, keep; limit not known; not enough data; NULL: a setting is missing
    -- Recommended: peak_max + setting sizing_margin_pct; after a kill at least the limit + sizing_oom_pct and
    -- + sizing_oom_mib; rounded up to sizing_step_mib. Never below the largest seen, failed_max included.
    new_limit_gib,
    -- Recommended: peak_p95 + sizing_margin_pct, rounded up to sizing_step_mib. Never below the largest seen, either,
    -- as a node that is full puts out who uses more than it requested.
    new_request_gib,
    new_cpu_request,      -- recommended: cores_p95; what is above is a burst, as there is no CPU limit
    reason,               -- of what is recommended, in words
    request_gib,          -- memory requested; where the pool's requests differ in it, the largest
    oom_kills,            -- kills for memory that containers of the pool and limit tell of
    peak_p50_gib,         -- median of the peaks
    peak_p90_gib,         -- 90th percentile of them
    peak_p95_gib,         -- 95th
    peak_p99_gib,         -- 99th
    peak_max_gib,         -- the largest one
    failed_max_gib,       -- the largest peak of those that failed, which are no results here: a lower bound where killed
    cores_p50,            -- median of average cores, each weighing as long as it ran
    cores_p90,            -- 90th percentile of them
    cores_p95,            -- 95th
    cores_p99,            -- 99th
    cores_max,            -- most average cores of one
    sampled_pct,          -- of those with usage: container sampled three times or more
    sampled_wall_pct      -- the same by wall time; elsewhere the largest process stands for the container
) AS
SELECT name, pool, limit_gib, cpu_request, results, unknown, verdict, new_limit_gib, new_request_gib, new_cpu_request, reason,
    request_gib, oom_kills, peak_p50_gib, peak_p90_gib, peak_p95_gib, peak_p99_gib, peak_max_gib, failed_max_gib, cores_p50,
    cores_p90, cores_p95, cores_p99, cores_max, sampled_pct, sampled_wall_pct
FROM _worker_sizing WHERE scope = 'run' ORDER BY name, pool, limit_mib, cpu_request;

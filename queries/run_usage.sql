CREATE VIEW run_usage (
    -- One row a run and digest that has a result, hits included: what a run needed, not what it
    -- spent (that is executed_in_this_run = 1). The figures are the digest's, as in usage; digests of the
    -- run without any result are rows of missing_results_by_run. Unrounded, in no order.
    run,                  -- trace id
    executed_in_this_run, -- 1: the recorded execution is this run's; 0: another's; NULL: not known
    log_wall_s,           -- Buck2's own time of the run's first attempt at it; of a hit, the download
    log_queued_s,         -- how long that attempt was queued, as the client saw it; NULL for hits
    run_project,          -- project of the run
    digest,               -- the rest as in usage: <hash>:<size> of the action
    instance,             -- instance name under which it was found
    project,              -- of the digest's first reference
    label,                -- of that reference
    package,              -- the target's name
    buck_package,         -- cell//path
    category,             -- '' for tests and listings
    identifier,           -- '' where the rule gives none
    configuration,        -- of the target
    source,               -- action_cache, or historical
    wall_ns,              -- of the command itself
    cpu_ns,               -- user + system; NULL: no POSIX usage in the result
    wall_s,               -- in seconds
    cpu_s,                -- in seconds
    user_s,               -- user part of cpu_s
    system_s,             -- system part of cpu_s
    cores,                -- an average
    max_rss_bytes,        -- largest single process
    max_rss_gib,          -- in GiB
    major_faults,         -- page faults that read from disk
    termination_signal,   -- NULL: it ended by itself
    exit_code,            -- -1 if it ended on a signal
    worker,               -- text as received
    pool,                 -- taken out of it
    pod,                  -- taken out of it
    executed_utc,         -- when the command started, by the worker's clock
    executed_by,          -- trace id of the run that executed it
    queued_s,             -- waited for a worker
    fetch_s,              -- the worker fetched inputs
    upload_s,             -- the worker uploaded outputs
    variant,              -- of this run
    mode,                 -- of this run
    salt,                 -- of this run
    first_run,            -- trace id of the earliest known run that refers to the digest
    portal_url,           -- its page in bb-portal
    rss_at_floor,         -- 1: the runner's own RSS
    clock_skew,           -- 1: a phase ended before it began; NULL: not known, as a phase's times are not
    mem_limit_gib,        -- memory limit that it ran under; NULL: not known
    ctr_peak_gib,         -- its container's largest sampled working set; NULL: no sample
    ctr_cores_peak,       -- steepest rise of its container's CPU
    ctr_samples,          -- memory samples while it ran; NULL: not asked
    ctr_confidence,       -- none 0, low 1-2, medium 3-9, high 10 or more
    implausible           -- 1: it says what no machine does, which is NULL here
) AS
SELECT g.trace_id,
    -- By name where the result says who asked for it; else not if it was a hit; else by time, with the
    -- clocks' tolerance.
    CASE WHEN u.executed_by IS NOT NULL THEN u.executed_by = g.trace_id WHEN d.cache_hit > 0 THEN 0
        ELSE u.execution_start_ns BETWEEN
            g.start_ns - (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
            AND g.start_ns + g.duration_us * 1000 + (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
    END,
    d.wall_us / 1e6, d.queue_us / 1e6, (SELECT j.name FROM project j WHERE j.project_id = g.project_id),
    u.digest, u.instance, u.project, u.label, u.package, u.buck_package, u.category, u.identifier, u.configuration,
    u.source, u.wall_ns, u.cpu_ns, u.wall_s, u.cpu_s, u.user_s, u.system_s, u.cores, u.max_rss_bytes, u.max_rss_gib,
    u.major_faults, u.termination_signal, u.exit_code, u.worker, u.pool, u.pod, u.executed_utc, u.executed_by,
    u.queued_s, u.fetch_s, u.upload_s, k.variant, k.mode, k.salt,
    u.first_run, u.portal_url, u.rss_at_floor, u.clock_skew, u.mem_limit_gib, u.ctr_peak_gib,
    u.ctr_cores_peak, u.ctr_samples, u.ctr_confidence, u.implausible
FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN _usage u ON u.lookup_id = d.lookup_id
    LEFT JOIN _run_cell k ON k.run_id = g.run_id
-- Always true: so a filter on digest is a search, as in _lookup.
WHERE u.digest_key = upper(substr(u.digest, 1, 4) || substr(rtrim(u.digest, '0123456789'), -5, 4));

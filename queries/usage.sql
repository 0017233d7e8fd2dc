CREATE VIEW usage (
    -- One row a digest that has a result: that of the action cache, else the newest historical one
    -- (of a failed execution). Unrounded, in no order. Digests without any are rows of
    -- missing_results only. What all sums count are the rows with source = 'action_cache' and a cpu_ns.
    -- Figures are those of the one execution that is recorded, whoever hit it since; NULL is unknown.
    digest,             -- <hash>:<size> of the action
    instance,           -- instance name under which it was found
    project,            -- of the digest's first reference
    label,              -- cell//path:name of that reference; of a test its target
    package,            -- the target's name, as heavy in project.json holds it
    buck_package,       -- cell//path, which can hold several packages
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    configuration,      -- of the target; '' where it has none
    source,             -- action_cache, or historical
    wall_ns,            -- time of the command itself, without fetching and uploading
    cpu_ns,             -- user + system of all its processes; NULL: no POSIX usage in the result
    wall_s,             -- wall_ns in seconds
    cpu_s,              -- cpu_ns in seconds
    user_s,             -- user part of cpu_s
    system_s,           -- system part of cpu_s
    cores,              -- cpu / max(wall, 1 ms): an average, says nothing of peaks
    max_rss_bytes,      -- largest single process, never a sum; a lower bound if it was killed
    max_rss_gib,        -- max_rss_bytes in GiB
    major_faults,       -- page faults that read from disk
    termination_signal, -- KILL, SEGV, ...; NULL: it ended by itself, but a child may have been killed
    exit_code,          -- -1 if it ended on a signal; 137: a shell's child was killed
    worker,             -- the worker's text as received; NULL: uploaded by the client
    pool,               -- taken out of it; see _worker
    pod,                -- taken out of it; see _worker
    executed_utc,       -- when the command started, by the worker's clock
    executed_by,        -- trace id of the run that executed it, whose log is often gone; NULL: not said
    queued_s,           -- waited for a worker; NULL if the clocks disagree
    fetch_s,            -- the worker fetched inputs
    upload_s,           -- the worker uploaded outputs
    variant,            -- of the first reference's run; see _run_cell
    mode,               -- of the first reference's run
    salt,               -- of the first reference's run
    first_run,          -- trace id of that run: the earliest known one that refers to the digest
    portal_url,         -- its page in bb-portal; NULL until setting portal_url has a base
    rss_at_floor,       -- 1: max RSS within setting rss_floor_pct of the worker's smallest: the runner's own, not the action's
    clock_skew,         -- 1: a phase ended before it began; such phases are NULL; NULL: a phase's times are not known
    mem_limit_gib,      -- memory limit that it ran under; make -jN follows it, so never compare across limits; NULL: not known
    ctr_peak_gib,       -- its container's largest sampled working set (all processes, active page cache): a lower bound; NULL: no sample
    ctr_cores_peak,     -- steepest rise of its container's CPU between two samples; NULL: there are not two
    ctr_samples,        -- memory samples while it ran (--prometheus); NULL: Prometheus was not asked
    ctr_confidence,     -- what they are worth: none 0, low 1-2, medium 3-9, high 10 or more; NULL: not asked
    implausible         -- 1: it says what no machine does (table implausible), which is NULL here; else 0
) AS
SELECT u.digest, u.instance, u.project, u.label, u.package, u.buck_package, u.category, u.identifier, u.configuration,
    u.source, u.wall_ns, u.cpu_ns, u.wall_s, u.cpu_s, u.user_s, u.system_s, u.cores, u.max_rss_bytes, u.max_rss_gib,
    u.major_faults, u.termination_signal, u.exit_code, u.worker, u.pool, u.pod, u.executed_utc, u.executed_by,
    u.queued_s, u.fetch_s, u.upload_s, k.variant, k.mode, k.salt, u.first_run, u.portal_url, u.rss_at_floor, u.clock_skew,
    u.mem_limit_gib, u.ctr_peak_gib, u.ctr_cores_peak, u.ctr_samples, u.ctr_confidence, u.implausible
FROM _usage u LEFT JOIN _run_cell k ON k.run_id = u.first_run_id
-- Always true: so a filter on digest is a search, as in _lookup.
WHERE u.digest_key = upper(substr(u.digest, 1, 4) || substr(rtrim(u.digest, '0123456789'), -5, 4));

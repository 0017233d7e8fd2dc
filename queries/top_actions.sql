CREATE VIEW top_actions (
    -- One row a result of the action cache with usage, longest first: add LIMIT 20. Each digest once,
    -- whichever runs hit it.
    project,            -- of the digest's first reference
    identifier,         -- what the rule calls the action; '' where it gives none
    category,           -- br2_package, ...; '' for tests and listings
    label,              -- cell//path:name
    package,            -- the target's name
    wall_s,             -- time of the command itself, seconds
    cores,              -- cpu / wall: an average, says nothing of peaks
    cpu_s,              -- user + system of all its processes, seconds
    max_rss_gib,        -- largest single process; a lower bound if it was killed
    termination_signal, -- NULL: it ended by itself
    exit_code,          -- -1 if it ended on a signal
    worker,             -- text as received
    executed_utc,       -- when the command started, by the worker's clock
    digest,             -- <hash>:<size> of the action
    portal_url          -- its page in bb-portal; NULL until setting portal_url has a base
) AS
SELECT u.project, u.identifier, u.category, u.label, u.package, round(u.wall_s, 1), round(u.cores, 2), round(u.cpu_s, 1),
    round(u.max_rss_gib, 2), u.termination_signal, u.exit_code, u.worker, u.executed_utc, u.digest, u.portal_url
-- The bare indexed column: with LIMIT, the walk over the index stops there.
FROM _usage u WHERE u.source_id = 1 AND u.cpu_ns IS NOT NULL ORDER BY u.wall_ns DESC;

CREATE VIEW top_actions_by_project (
    -- The rows of top_actions, by project and then longest first.
    project,            -- of the digest's first reference
    identifier,         -- what the rule calls the action; '' where it gives none
    category,           -- br2_package, ...; '' for tests and listings
    label,              -- cell//path:name
    package,            -- the target's name
    wall_s,             -- time of the command itself, seconds
    cores,              -- cpu / wall: an average, says nothing of peaks
    cpu_s,              -- user + system of all its processes, seconds
    max_rss_gib,        -- largest single process; a lower bound if it was killed
    termination_signal, -- NULL: it ended by itself
    exit_code,          -- -1 if it ended on a signal
    worker,             -- text as received
    executed_utc,       -- when the command started, by the worker's clock
    digest,             -- <hash>:<size> of the action
    portal_url          -- its page in bb-portal; NULL until setting portal_url has a base
) AS
SELECT u.project, u.identifier, u.category, u.label, u.package, round(u.wall_s, 1), round(u.cores, 2), round(u.cpu_s, 1),
    round(u.max_rss_gib, 2), u.termination_signal, u.exit_code, u.worker, u.executed_utc, u.digest, u.portal_url
FROM _usage u WHERE u.source_id = 1 AND u.cpu_ns IS NOT NULL ORDER BY u.project, u.wall_ns DESC, u.digest;

CREATE VIEW top_actions_by_run (
    -- One row a run and digest of it with usage, by run and then longest first. Hits included: what the
    -- run needed, not what it spent.
    run,                -- trace id
    identifier,         -- what the rule calls the action; '' where it gives none
    category,           -- br2_package, ...; '' for tests and listings
    label,              -- cell//path:name
    package,            -- the target's name
    wall_s,             -- time of the command itself, seconds
    cores,              -- cpu / wall: an average, says nothing of peaks
    cpu_s,              -- user + system of all its processes, seconds
    max_rss_gib,        -- largest single process; a lower bound if it was killed
    termination_signal, -- NULL: it ended by itself
    exit_code,          -- -1 if it ended on a signal
    worker,             -- text as received
    executed_utc,       -- when the command started, by the worker's clock
    digest,             -- <hash>:<size> of the action
    portal_url          -- its page in bb-portal; NULL until setting portal_url has a base
) AS
SELECT g.trace_id, u.identifier, u.category, u.label, u.package, round(u.wall_s, 1), round(u.cores, 2), round(u.cpu_s, 1),
    round(u.max_rss_gib, 2), u.termination_signal, u.exit_code, u.worker, u.executed_utc, u.digest, u.portal_url
FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN _usage u ON u.lookup_id = d.lookup_id
WHERE u.source_id = 1 AND u.cpu_ns IS NOT NULL
-- By run: with the plain column SQLite, asked for one run, would make up each row before it drops what LIMIT leaves out.
ORDER BY iif(d.run_id, g.trace_id, NULL), u.wall_ns DESC, u.digest;

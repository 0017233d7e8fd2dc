CREATE VIEW signals (
    -- One row an execution whose command ended on a signal, in no order. A digest can have several. A
    -- command whose child was killed has none: see oom_kills.
    project,            -- of the digest's first reference
    run,                -- trace id: of the first attempt that links a historical one, else of the first reference
    termination_signal, -- KILL, SEGV, ABRT, ...
    label,              -- cell//path:name
    package,            -- the target's name
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    source,             -- action_cache, or historical (a failed execution)
    exit_code,          -- -1 goes with a signal
    wall_s,             -- time of the command until then, seconds
    cpu_s,              -- user + system, seconds
    max_rss_gib,        -- largest single process until then: a lower bound
    worker,             -- text as received
    executed_utc,       -- when the command started, by the worker's clock
    executed_by,        -- trace id of the run that executed it; NULL: not said
    digest              -- <hash>:<size> of the action
) AS
SELECT j.name, g.trace_id, s.termination_signal, s.label, s.package, s.category, s.identifier, s.source, s.exit_code, s.wall_s, s.cpu_s, s.max_rss_gib, s.worker, s.executed_utc, s.executed_by, s.digest
FROM _signal s JOIN project j ON j.project_id = s.project_id
    JOIN run g ON g.run_id = ifnull(s.attempt_run_id, s.first_run_id)
WHERE s.source_id = 1 OR s.result_id NOT IN (SELECT x.result_id FROM _relinked x);

CREATE VIEW signals_by_project (
    -- The rows and columns of signals.
    project,            -- of the digest's first reference
    run,                -- trace id: of the first attempt that links a historical one, else of the first reference
    termination_signal, -- KILL, SEGV, ABRT, ...
    label,              -- cell//path:name
    package,            -- the target's name
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    source,             -- action_cache, or historical (a failed execution)
    exit_code,          -- -1 goes with a signal
    wall_s,             -- time of the command until then, seconds
    cpu_s,              -- user + system, seconds
    max_rss_gib,        -- largest single process until then: a lower bound
    worker,             -- text as received
    executed_utc,       -- when the command started, by the worker's clock
    executed_by,        -- trace id of the run that executed it; NULL: not said
    digest              -- <hash>:<size> of the action
) AS
SELECT j.name, g.trace_id, s.termination_signal, s.label, s.package, s.category, s.identifier, s.source, s.exit_code, s.wall_s, s.cpu_s, s.max_rss_gib, s.worker, s.executed_utc, s.executed_by, s.digest
FROM _signal s JOIN project j ON j.project_id = s.project_id
    JOIN run g ON g.run_id = ifnull(s.attempt_run_id, s.first_run_id)
WHERE s.source_id = 1 OR s.result_id NOT IN (SELECT x.result_id FROM _relinked x);

CREATE VIEW signals_by_run (
    -- One row a run and execution that ended on a signal. Hits included: an execution of the action
    -- cache is a row of each run that refers to it, a historical one of the run that saw it.
    run,                -- trace id
    project,            -- of the run
    termination_signal, -- KILL, SEGV, ABRT, ...
    label,              -- cell//path:name
    package,            -- the target's name
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    source,             -- action_cache, or historical (a failed execution)
    exit_code,          -- -1 goes with a signal
    wall_s,             -- time of the command until then, seconds
    cpu_s,              -- user + system, seconds
    max_rss_gib,        -- largest single process until then: a lower bound
    worker,             -- text as received
    executed_utc,       -- when the command started, by the worker's clock
    executed_by,        -- trace id of the run that executed it; NULL: not said
    digest              -- <hash>:<size> of the action
) AS
SELECT g.trace_id, j.name, s.termination_signal, s.label, s.package, s.category, s.identifier, s.source, s.exit_code, s.wall_s, s.cpu_s, s.max_rss_gib, s.worker, s.executed_utc, s.executed_by, s.digest
FROM _signal s JOIN run g ON g.run_id = s.attempt_run_id JOIN project j ON j.project_id = g.project_id
UNION ALL
SELECT g.trace_id, j.name, s.termination_signal, s.label, s.package, s.category, s.identifier, s.source, s.exit_code, s.wall_s, s.cpu_s, s.max_rss_gib, s.worker, s.executed_utc, s.executed_by, s.digest
FROM _signal s JOIN _run_digest d ON d.lookup_id = s.lookup_id JOIN run g ON g.run_id = d.run_id
    JOIN project j ON j.project_id = g.project_id
WHERE s.source_id = 1;

CREATE VIEW failures (
    -- One row an attempt that did not succeed, with its own result where Buildbarn kept it and the log links
    -- it, and one row an action that failed though no attempt of it did; in no order. NULL is unknown.
    -- reason, the first that fits: timeout; start_failure (the worker could not start it); worker_lost (its
    -- worker disappeared, or 10 times a worker never finished it); no_worker (none for its platform); cancelled
    -- (nobody waited any more); refused_upload (the cache refused its inputs); local_only (may not run
    -- remotely); signal (it ended on one); exit (with another code than 0); error (another one of the server's
    -- or of Buck2's own); missing_outputs (its command ended well, or it has none).
    run,                -- trace id
    project,            -- of the run
    label,              -- cell//path:name
    package,            -- the target's name
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    attempt,            -- number of the attempt in its action, from 0; NULL: no attempt of it failed
    kind,               -- remote or local; NULL likewise
    action_failed,      -- 0: a later attempt saved the action
    reason,             -- see above
    exit_code,          -- as Buck2 saw it, else of the result; -1 if it ended on a signal; NULL: none was reported
    termination_signal, -- of the result: KILL, SEGV, ...
    started_utc,        -- start of the attempt as the log has it, else of the action
    log_wall_s,         -- Buck2's own time of it
    wall_s,             -- the rest of its own result: time of the command, without fetching and uploading
    cpu_s,              -- user + system of all its processes
    cores,              -- cpu / max(wall, 1 ms): an average
    max_rss_gib,        -- largest single process
    rss_is_lower_bound, -- 1: it, or a child of its shell, was stopped by a signal before it had all it wanted
    major_faults,       -- page faults that read from disk
    worker,             -- the worker's text as received
    pool,               -- taken out of it
    pod,                -- taken out of it
    executed_utc,       -- when the command started, by the worker's clock
    no_result,          -- why there is no result, in words; NULL: there is
    error,              -- of the attempt, else of the action
    message,            -- the server's words with the result's address
    digest,             -- <hash>:<size> of the action; NULL: local
    portal_url,         -- the action's page in bb-portal; NULL until setting portal_url has a base
    result_url          -- its result's page there; NULL: no link
) AS
SELECT run, project, label, package, category, identifier, attempt, kind, action_failed, reason, exit_code,
    termination_signal, started_utc, log_wall_s, wall_s, cpu_s, cores, max_rss_gib, rss_is_lower_bound,
    major_faults, worker, pool, pod, executed_utc, no_result, error, message, digest, portal_url, result_url
FROM _failure_shown;

CREATE VIEW failures_by_project (
    -- The rows of failures with the project as first column.
    project,            -- of the run
    run,                -- trace id
    label,              -- cell//path:name
    package,            -- the target's name
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    attempt,            -- number of the attempt in its action, from 0; NULL: no attempt of it failed
    kind,               -- remote or local; NULL likewise
    action_failed,      -- 0: a later attempt saved the action
    reason,             -- see above
    exit_code,          -- as Buck2 saw it, else of the result; -1 if it ended on a signal; NULL: none was reported
    termination_signal, -- of the result: KILL, SEGV, ...
    started_utc,        -- start of the attempt as the log has it, else of the action
    log_wall_s,         -- Buck2's own time of it
    wall_s,             -- the rest of its own result: time of the command, without fetching and uploading
    cpu_s,              -- user + system of all its processes
    cores,              -- cpu / max(wall, 1 ms): an average
    max_rss_gib,        -- largest single process
    rss_is_lower_bound, -- 1: it, or a child of its shell, was stopped by a signal before it had all it wanted
    major_faults,       -- page faults that read from disk
    worker,             -- the worker's text as received
    pool,               -- taken out of it
    pod,                -- taken out of it
    executed_utc,       -- when the command started, by the worker's clock
    no_result,          -- why there is no result, in words; NULL: there is
    error,              -- of the attempt, else of the action
    message,            -- the server's words with the result's address
    digest,             -- <hash>:<size> of the action; NULL: local
    portal_url,         -- the action's page in bb-portal; NULL until setting portal_url has a base
    result_url          -- its result's page there; NULL: no link
) AS
SELECT project, run, label, package, category, identifier, attempt, kind, action_failed, reason, exit_code,
    termination_signal, started_utc, log_wall_s, wall_s, cpu_s, cores, max_rss_gib, rss_is_lower_bound,
    major_faults, worker, pool, pod, executed_utc, no_result, error, message, digest, portal_url, result_url
FROM _failure_shown;

CREATE VIEW failures_by_run (
    -- The rows and columns of failures.
    run,                -- trace id
    project,            -- of the run
    label,              -- cell//path:name
    package,            -- the target's name
    category,           -- br2_package, ...; '' for tests and listings
    identifier,         -- what the rule calls the action; '' where it gives none
    attempt,            -- number of the attempt in its action, from 0; NULL: no attempt of it failed
    kind,               -- remote or local; NULL likewise
    action_failed,      -- 0: a later attempt saved the action
    reason,             -- see above
    exit_code,          -- as Buck2 saw it, else of the result; -1 if it ended on a signal; NULL: none was reported
    termination_signal, -- of the result: KILL, SEGV, ...
    started_utc,        -- start of the attempt as the log has it, else of the action
    log_wall_s,         -- Buck2's own time of it
    wall_s,             -- the rest of its own result: time of the command, without fetching and uploading
    cpu_s,              -- user + system of all its processes
    cores,              -- cpu / max(wall, 1 ms): an average
    max_rss_gib,        -- largest single process
    rss_is_lower_bound, -- 1: it, or a child of its shell, was stopped by a signal before it had all it wanted
    major_faults,       -- page faults that read from disk
    worker,             -- the worker's text as received
    pool,               -- taken out of it
    pod,                -- taken out of it
    executed_utc,       -- when the command started, by the worker's clock
    no_result,          -- why there is no result, in words; NULL: there is
    error,              -- of the attempt, else of the action
    message,            -- the server's words with the result's address
    digest,             -- <hash>:<size> of the action; NULL: local
    portal_url,         -- the action's page in bb-portal; NULL until setting portal_url has a base
    result_url          -- its result's page there; NULL: no link
) AS
SELECT run, project, label, package, category, identifier, attempt, kind, action_failed, reason, exit_code,
    termination_signal, started_utc, log_wall_s, wall_s, cpu_s, cores, max_rss_gib, rss_is_lower_bound,
    major_faults, worker, pool, pod, executed_utc, no_result, error, message, digest, portal_url, result_url
FROM _failure_shown;

CREATE VIEW oom_kills (
    -- One row a failed attempt that looks like a kill for memory: exit code 137, or a text of table
    -- oom_pattern in its stderr or error; in no order. A suspicion, not a proof: 137 is any KILL. Silence is
    -- no proof either: a wrapper that prints only the end of its log leaves the words out.
    project,       -- of the run
    run,           -- trace id
    label,         -- cell//path:name
    package,       -- the target's name
    category,      -- br2_package, ...; '' for tests and listings
    identifier,    -- what the rule calls the action; '' where it gives none
    attempt,       -- number of the attempt in its action, from 0
    kind,          -- remote or local
    action_failed, -- 0: a later attempt saved the action
    started_utc,   -- start of the attempt as the log has it
    wall_s,        -- Buck2's own time of it
    exit_code,     -- NULL: none was reported
    exit_137,      -- 1: a shell's child was killed by KILL
    pattern,       -- the row of oom_pattern found in its text; NULL: none
    excerpt,       -- the text around it
    digest         -- <hash>:<size> of the action; NULL: local
) AS
SELECT project, run, label, package, category, identifier, attempt, kind, action_failed, started_utc, wall_s, exit_code, exit_137, pattern, excerpt, digest
FROM _oom_kill;

CREATE VIEW oom_kills_by_project (
    -- The rows and columns of oom_kills.
    project,       -- of the run
    run,           -- trace id
    label,         -- cell//path:name
    package,       -- the target's name
    category,      -- br2_package, ...; '' for tests and listings
    identifier,    -- what the rule calls the action; '' where it gives none
    attempt,       -- number of the attempt in its action, from 0
    kind,          -- remote or local
    action_failed, -- 0: a later attempt saved the action
    started_utc,   -- start of the attempt as the log has it
    wall_s,        -- Buck2's own time of it
    exit_code,     -- NULL: none was reported
    exit_137,      -- 1: a shell's child was killed by KILL
    pattern,       -- the row of oom_pattern found in its text; NULL: none
    excerpt,       -- the text around it
    digest         -- <hash>:<size> of the action; NULL: local
) AS
SELECT project, run, label, package, category, identifier, attempt, kind, action_failed, started_utc, wall_s, exit_code, exit_137, pattern, excerpt, digest
FROM _oom_kill;

CREATE VIEW oom_kills_by_run (
    -- The rows of oom_kills with the run as first column.
    run,           -- trace id
    project,       -- of the run
    label,         -- cell//path:name
    package,       -- the target's name
    category,      -- br2_package, ...; '' for tests and listings
    identifier,    -- what the rule calls the action; '' where it gives none
    attempt,       -- number of the attempt in its action, from 0
    kind,          -- remote or local
    action_failed, -- 0: a later attempt saved the action
    started_utc,   -- start of the attempt as the log has it
    wall_s,        -- Buck2's own time of it
    exit_code,     -- NULL: none was reported
    exit_137,      -- 1: a shell's child was killed by KILL
    pattern,       -- the row of oom_pattern found in its text; NULL: none
    excerpt,       -- the text around it
    digest         -- <hash>:<size> of the action; NULL: local
) AS
SELECT run, project, label, package, category, identifier, attempt, kind, action_failed, started_utc, wall_s, exit_code, exit_137, pattern, excerpt, digest
FROM _oom_kill;

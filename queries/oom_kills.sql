CREATE VIEW oom_kills (
    -- One row a suspected kill for memory, with what each layer of evidence says; in no order. Three kinds of
    -- rows: failed attempts; kills of containers without an action (another client's, or one whose response never
    -- came; also where several may be meant); executions that succeeded though such a kill falls on them.
    -- `WHERE suspect` leaves out what is listed only so that an empty list is not misread. Each column's
    -- silence is worth what was looked at: see oom_checked.
    --
    -- verdict, the first that fits: OOM killer (its container ended as OOMKilled, not with 143) | timed out, not
    -- memory | child killed, container survived (a counted kill inside of it, or OOMKilled with 143 later,
    -- which is a flag that is never taken back, and its own result or text looks like it) | killed by a signal
    -- (KILL, or its container ended with 137 for another reason) | suspected (exit code 137, a text; a
    -- container's end that may be another's) | cannot tell (nothing seen, but its text is only the end of a
    -- log, its signal is not known, or its worker's answer was lost). SEGV and ABRT are no kills: see signals.
    --
    -- A container's end belongs to an execution on that pod: of those that ran then (settings kill_before_s,
    -- kill_after_s) the ones with exit code 137 or KILL, all if there are none; of these the one that ended
    -- last, but not later than kill_order_s after it. None or a tie: ambiguous.
    --
    -- confidence, how much speaks for memory: high (a container tells of it, and so does the result or text),
    -- medium (two of: action, text, container, RSS near the limit; or a container and a failure), low.
    run,                 -- trace id; NULL: of a kill that no one run is known to have had
    project,             -- of the run; NULL likewise
    label,               -- cell//path:name; NULL: a kill without a known action
    package,             -- the target's name
    category,            -- br2_package, ...; '' for tests and listings
    identifier,          -- what the rule calls the action; '' where it gives none
    attempt,             -- number of the attempt in its action, from 0; NULL: a kill without an attempt
    kind,                -- remote or local
    action_failed,       -- 0: a later attempt saved the action
    killed_utc,          -- the container's end or the count that tells of it, else when the command ended
    verdict,             -- see above
    confidence,          -- high, medium or low; see above
    suspect,             -- 0: timed out, not memory; cannot tell. 1: all others
    ambiguous,           -- 1: what a container tells may be another action's
    evidence_action,     -- layer 1, its own result: exit code 137, signal KILL; NULL: nothing, as in each layer
    evidence_text,       -- layer 2, the row of oom_pattern found in its stderr or error
    evidence_pods,       -- layer 3, how its container ended, as the list of pods has it
    evidence_prometheus, -- layer 4, the same as Prometheus has it, and the kernel's kills that were counted in it
    rss_near_limit,      -- 1: max RSS is setting kill_rss_pct of the limit, or more: a hint besides the others; NULL:
                         -- not known
    pod,                 -- of the worker, or that was killed
    node,                -- where the pod ran
    limit_gib,           -- memory limit of the pod's runner, or of the container that was killed; NULL: none, or not
                         -- known
    max_rss_gib,         -- largest single process until then; NULL: not known
    rss_is_lower_bound,  -- 1: it was stopped before it had all it wanted; NULL: not known
    exit_code,           -- NULL: none was reported
    termination_signal,  -- of the result; NULL: none, or no result
    text_complete,       -- 0: silence of its text says nothing, since it is only the end of a log; NULL: no attempt
    note,                -- what else is to be known
    excerpt,             -- the text around what layer 2 found
    digest               -- <hash>:<size> of the action; NULL: local, or no action
) AS
SELECT run, project, label, package, category, identifier, attempt, kind, action_failed, killed_utc, verdict,
    confidence, suspect, ambiguous, evidence_action, evidence_text, evidence_pods, evidence_prometheus,
    rss_near_limit, pod, node, limit_gib, max_rss_gib, rss_is_lower_bound, exit_code, termination_signal,
    text_complete, note, excerpt, digest
FROM _oom_kill;

CREATE VIEW oom_kills_by_project (
    -- The rows of oom_kills with the project as first column.
    project,             -- of the run; NULL likewise
    run,                 -- trace id; NULL: of a kill that no one run is known to have had
    label,               -- cell//path:name; NULL: a kill without a known action
    package,             -- the target's name
    category,            -- br2_package, ...; '' for tests and listings
    identifier,          -- what the rule calls the action; '' where it gives none
    attempt,             -- number of the attempt in its action, from 0; NULL: a kill without an attempt
    kind,                -- remote or local
    action_failed,       -- 0: a later attempt saved the action
    killed_utc,          -- the container's end or the count that tells of it, else when the command ended
    verdict,             -- see above
    confidence,          -- high, medium or low; see above
    suspect,             -- 0: timed out, not memory; cannot tell. 1: all others
    ambiguous,           -- 1: what a container tells may be another action's
    evidence_action,     -- layer 1, its own result: exit code 137, signal KILL; NULL: nothing, as in each layer
    evidence_text,       -- layer 2, the row of oom_pattern found in its stderr or error
    evidence_pods,       -- layer 3, how its container ended, as the list of pods has it
    evidence_prometheus, -- layer 4, the same as Prometheus has it, and the kernel's kills that were counted in it
    rss_near_limit,      -- 1: max RSS is setting kill_rss_pct of the limit, or more: a hint besides the others; NULL:
                         -- not known
    pod,                 -- of the worker, or that was killed
    node,                -- where the pod ran
    limit_gib,           -- memory limit of the pod's runner, or of the container that was killed; NULL: none, or not
                         -- known
    max_rss_gib,         -- largest single process until then; NULL: not known
    rss_is_lower_bound,  -- 1: it was stopped before it had all it wanted; NULL: not known
    exit_code,           -- NULL: none was reported
    termination_signal,  -- of the result; NULL: none, or no result
    text_complete,       -- 0: silence of its text says nothing, since it is only the end of a log; NULL: no attempt
    note,                -- what else is to be known
    excerpt,             -- the text around what layer 2 found
    digest               -- <hash>:<size> of the action; NULL: local, or no action
) AS
SELECT project, run, label, package, category, identifier, attempt, kind, action_failed, killed_utc, verdict,
    confidence, suspect, ambiguous, evidence_action, evidence_text, evidence_pods, evidence_prometheus,
    rss_near_limit, pod, node, limit_gib, max_rss_gib, rss_is_lower_bound, exit_code, termination_signal,
    text_complete, note, excerpt, digest
FROM _oom_kill;

CREATE VIEW oom_kills_by_run (
    -- The rows and columns of oom_kills.
    run,                 -- trace id; NULL: of a kill that no one run is known to have had
    project,             -- of the run; NULL likewise
    label,               -- cell//path:name; NULL: a kill without a known action
    package,             -- the target's name
    category,            -- br2_package, ...; '' for tests and listings
    identifier,          -- what the rule calls the action; '' where it gives none
    attempt,             -- number of the attempt in its action, from 0; NULL: a kill without an attempt
    kind,                -- remote or local
    action_failed,       -- 0: a later attempt saved the action
    killed_utc,          -- the container's end or the count that tells of it, else when the command ended
    verdict,             -- see above
    confidence,          -- high, medium or low; see above
    suspect,             -- 0: timed out, not memory; cannot tell. 1: all others
    ambiguous,           -- 1: what a container tells may be another action's
    evidence_action,     -- layer 1, its own result: exit code 137, signal KILL; NULL: nothing, as in each layer
    evidence_text,       -- layer 2, the row of oom_pattern found in its stderr or error
    evidence_pods,       -- layer 3, how its container ended, as the list of pods has it
    evidence_prometheus, -- layer 4, the same as Prometheus has it, and the kernel's kills that were counted in it
    rss_near_limit,      -- 1: max RSS is setting kill_rss_pct of the limit, or more: a hint besides the others; NULL:
                         -- not known
    pod,                 -- of the worker, or that was killed
    node,                -- where the pod ran
    limit_gib,           -- memory limit of the pod's runner, or of the container that was killed; NULL: none, or not
                         -- known
    max_rss_gib,         -- largest single process until then; NULL: not known
    rss_is_lower_bound,  -- 1: it was stopped before it had all it wanted; NULL: not known
    exit_code,           -- NULL: none was reported
    termination_signal,  -- of the result; NULL: none, or no result
    text_complete,       -- 0: silence of its text says nothing, since it is only the end of a log; NULL: no attempt
    note,                -- what else is to be known
    excerpt,             -- the text around what layer 2 found
    digest               -- <hash>:<size> of the action; NULL: local, or no action
) AS
SELECT run, project, label, package, category, identifier, attempt, kind, action_failed, killed_utc, verdict,
    confidence, suspect, ambiguous, evidence_action, evidence_text, evidence_pods, evidence_prometheus,
    rss_near_limit, pod, node, limit_gib, max_rss_gib, rss_is_lower_bound, exit_code, termination_signal,
    text_complete, note, excerpt, digest
FROM _oom_kill;

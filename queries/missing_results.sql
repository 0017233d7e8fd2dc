CREATE VIEW missing_results (
    -- One row a digest of which no usage is known; in no order. Local commands are never asked for and
    -- are not here, nor are failed actions whose own result was found: those are rows of usage with
    -- source historical.
    -- reason, the first that fits: refused_upload (the cache refused the inputs), local_only (may not
    -- run remotely), failed (a failed action is never in the action cache, and no result of its own was
    -- found: see failures), evicted (was there, is gone; or ran where the rule forbids caching, which no
    -- log tells), never_stored (succeeded, but no answer ever proved the instance name), outputs_evicted (the entry is there, an output is gone),
    -- no_usage (a worker that reports none, or a CPU time that cannot be), uploaded_by_client (run locally by Buck2: wall only),
    -- refused (no access), unreachable, malformed (or too large), not_asked.
    project,    -- of the digest's first reference
    run,        -- trace id of that reference's run
    digest,     -- <hash>:<size> of the action
    label,      -- cell//path:name
    identifier, -- what the rule calls the action; '' where it gives none
    mode,       -- of that run; local-cache explains uploaded_by_client
    reason,     -- see above
    instance,   -- instance name under which it was asked
    category,   -- '' for tests and listings
    package,    -- the target's name
    message     -- the server's words, else those of an attempt's error; NULL: none
) AS
WITH said AS MATERIALIZED (SELECT a.lookup_id, min(x.error) AS error
    FROM attempt_text x CROSS JOIN attempt a USING (run_id, span_id, idx) WHERE x.error IS NOT NULL AND a.lookup_id IS NOT NULL GROUP BY 1)
SELECT j.name, g.trace_id, m.digest, t.label, n.identifier, k.mode, m.reason, i.name, c.name, p.name, coalesce(m.message, s.error)
FROM _missing m JOIN run g ON g.run_id = m.first_run_id
    JOIN project j ON j.project_id = g.project_id
    JOIN instance i ON i.instance_id = m.instance_id JOIN action_name n ON n.name_id = m.name_id
    JOIN category c ON c.category_id = n.category_id JOIN target t ON t.target_id = n.target_id
    JOIN package p ON p.package_id = t.package_id LEFT JOIN _run_cell k ON k.run_id = g.run_id
    LEFT JOIN said s ON s.lookup_id = m.lookup_id;

CREATE VIEW missing_results_by_project (
    -- The rows and columns of missing_results.
    project,    -- of the digest's first reference
    run,        -- trace id of that reference's run
    digest,     -- <hash>:<size> of the action
    label,      -- cell//path:name
    identifier, -- what the rule calls the action; '' where it gives none
    mode,       -- of that run; local-cache explains uploaded_by_client
    reason,     -- see above
    instance,   -- instance name under which it was asked
    category,   -- '' for tests and listings
    package,    -- the target's name
    message     -- the server's words, else those of an attempt's error; NULL: none
) AS
SELECT project, run, digest, label, identifier, mode, reason, instance, category, package, message FROM missing_results;

CREATE VIEW missing_results_by_run (
    -- One row a run and digest without usage, in no order; reasons as in missing_results.
    run,        -- trace id
    project,    -- of the run
    digest,     -- <hash>:<size> of the action
    label,      -- cell//path:name
    identifier, -- what the rule calls the action; '' where it gives none
    mode,       -- of that run; local-cache explains uploaded_by_client
    reason,     -- see above
    instance,   -- instance name under which it was asked
    category,   -- '' for tests and listings
    package,    -- the target's name
    message     -- the server's words, else those of an attempt's error; NULL: none
) AS
SELECT g.trace_id, j.name, m.digest, t.label, n.identifier, k.mode, m.reason, i.name, c.name, p.name,
    coalesce(m.message, (SELECT min(x.error) FROM attempt a JOIN attempt_text x USING (run_id, span_id, idx)
        WHERE a.lookup_id = m.lookup_id))
FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN _missing m ON m.lookup_id = d.lookup_id
    JOIN project j ON j.project_id = g.project_id
    JOIN instance i ON i.instance_id = m.instance_id JOIN action_name n ON n.name_id = m.name_id
    JOIN category c ON c.category_id = n.category_id JOIN target t ON t.target_id = n.target_id
    JOIN package p ON p.package_id = t.package_id LEFT JOIN _run_cell k ON k.run_id = g.run_id;

CREATE VIEW _signal (
    -- One row an execution that ended on a signal, of any source, and attempt that links it; see signals.
    result_id,      -- of table result
    lookup_id,      -- of table lookup
    source_id,      -- result.source
    attempt_run_id, -- run of the attempt that links a historical one; else NULL
    first_run_id,   -- run of the digest's first reference
    project_id,     -- its project
    termination_signal, label, package, category, identifier, source, exit_code, wall_s, cpu_s, max_rss_gib, worker,
    executed_utc, executed_by, digest -- see signals
) AS
SELECT r.result_id, r.lookup_id, r.source, r.attempt_run_id, r.first_run_id, r.project_id, r.termination_signal, t.label, p.name, c.name,
    n.identifier, CASE r.source WHEN 1 THEN 'action_cache' ELSE 'historical' END, r.exit_code, r.wall_ns / 1e9, r.cpu_ns / 1e9,
    r.max_rss_bytes / 1073741824.0, (SELECT w.name FROM worker w WHERE w.worker_id = r.worker_id),
    (SELECT strftime('%Y-%m-%d %H:%M:%f', m.execution_start_ns / 1000000 / 1000.0, 'unixepoch')
        FROM _time m WHERE m.result_id = r.result_id),
    (SELECT q.invocation FROM request q WHERE q.request_id = r.request_id), l.digest
FROM result r JOIN lookup l ON l.lookup_id = r.lookup_id JOIN action_name n ON n.name_id = l.name_id
    JOIN category c ON c.category_id = n.category_id JOIN target t ON t.target_id = n.target_id
    JOIN package p ON p.package_id = t.package_id
WHERE r.termination_signal IS NOT NULL;

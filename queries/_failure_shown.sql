CREATE VIEW _failure_shown (
    -- What failures shows.
    run, -- see failures, as all below
    project, label, package, category, identifier, attempt, kind, action_failed, reason, exit_code,
    termination_signal, started_utc, log_wall_s, wall_s, cpu_s, cores, max_rss_gib, rss_is_lower_bound,
    major_faults, worker, pool, pod, executed_utc, no_result, error, message, digest, portal_url, result_url
) AS
SELECT g.trace_id, j.name, t.label, p.name, c.name, n.identifier, f.idx, CASE WHEN f.kind = 2 THEN 'remote' WHEN f.kind > 0 THEN 'local' END,
    f.action_failed, f.reason, ifnull(f.exit_code, r.exit_code), r.termination_signal,
    strftime('%Y-%m-%d %H:%M:%f', nullif(f.start_ns, 0) / 1000000 / 1000.0, 'unixepoch'), f.wall_us / 1e6, r.wall_ns / 1e9, r.cpu_ns / 1e9,
    r.cores, r.max_rss_bytes / 1073741824.0,
    CASE WHEN r.max_rss_bytes IS NOT NULL THEN r.termination_signal IS NOT NULL OR ifnull(r.exit_code = 137, 0) END,
    (SELECT u.major_faults FROM rusage u WHERE u.result_id = f.result_id), (SELECT w.name FROM worker w WHERE w.worker_id = r.worker_id),
    (SELECT w.pool FROM _worker w WHERE w.worker_id = r.worker_id), (SELECT w.pod FROM _worker w WHERE w.worker_id = r.worker_id),
    (SELECT strftime('%Y-%m-%d %H:%M:%f', m.execution_start_ns / 1000000 / 1000.0, 'unixepoch')
        FROM _time m WHERE m.result_id = f.result_id),
    f.no_result, ifnull(f.error, f.action_error), f.message, l.digest,
    b.place || y.name || '/action/' || replace(l.digest, ':', '-') || '/',
    (SELECT b.place || z.name || '/historical_execute_response/' || lower(hex(h.hash)) || '-' || h.size_bytes || '/'
        FROM historical h JOIN _digest_function z ON z.function = h.function
        WHERE h.run_id = f.run_id AND h.span_id = f.span_id AND h.idx = f.idx)
FROM run g JOIN project j ON j.project_id = g.project_id JOIN _failure f ON f.run_id = g.run_id
    JOIN action_name n ON n.name_id = f.name_id JOIN category c ON c.category_id = n.category_id
    JOIN target t ON t.target_id = n.target_id JOIN package p ON p.package_id = t.package_id
    LEFT JOIN result r ON r.result_id = f.result_id LEFT JOIN lookup l ON l.lookup_id = f.lookup_id
    LEFT JOIN _digest_function y ON y.function = l.function LEFT JOIN _portal b ON b.instance_id = l.instance_id;

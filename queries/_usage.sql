CREATE VIEW _historical (
    -- One row a historical result. Of a digest's, the latest is the one of which the columns from base_ns on, taken
    -- as a row, are the greatest; a time that is not known is below all.
    result_id, -- of table result
    lookup_id, -- of table lookup
    run_id,    -- of the attempt that links it
    base_ns,   -- first time of its execution
    start_ns,  -- of that run, as the next
    trace_id,
    span_id,   -- of that attempt
    idx        -- likewise
) AS
SELECT h.result_id, h.lookup_id, h.attempt_run_id, ifnull(m.base_ns, -1e19), ifnull(g.start_ns, -1e19), g.trace_id, h.attempt_span_id, h.attempt_idx
FROM result h CROSS JOIN run g ON g.run_id = h.attempt_run_id LEFT JOIN result_time m ON m.result_id = h.result_id
WHERE h.source = 2;

CREATE VIEW _usage (
    -- What usage and run_usage show, with the keys that join them. A view's columns that are
    -- subqueries cost nothing unless they are asked for.
    lookup_id,            -- of table lookup
    result_id,            -- of table result
    first_run_id,         -- run of the first reference
    source_id,            -- result.source: 1 action cache, 2 historical
    execution_start_ns,   -- time; NULL: unknown
    digest_key,           -- of lookup: what is shown to be filtered by digest says what _lookup says of it
    digest,               -- see usage, as all below
    instance, project, label, package, buck_package, category, identifier, configuration, source, wall_ns, cpu_ns,
    wall_s, cpu_s, user_s, system_s, cores, max_rss_bytes, max_rss_gib, major_faults, termination_signal, exit_code,
    worker, pool, pod, executed_utc, executed_by, queued_s, fetch_s, upload_s, first_run, portal_url,
    rss_at_floor, clock_skew, mem_limit_gib, ctr_peak_gib, ctr_cores_peak, ctr_samples, ctr_confidence, implausible
) AS
SELECT r.lookup_id, r.result_id, r.first_run_id, r.source,
    (SELECT t.execution_start_ns FROM _time t WHERE t.result_id = r.result_id),
    l.digest_key, l.digest, i.name, j.name, t.label, p.name, t.buck_package, c.name, n.identifier,
    (SELECT f.name FROM configuration f WHERE f.configuration_id = n.configuration_id),
    CASE r.source WHEN 1 THEN 'action_cache' ELSE 'historical' END,
    r.wall_ns, r.cpu_ns, r.wall_ns / 1e9, r.cpu_ns / 1e9,
    (SELECT u.user_ns / 1e9 FROM rusage u WHERE u.result_id = r.result_id),
    (SELECT u.system_ns / 1e9 FROM rusage u WHERE u.result_id = r.result_id),
    r.cores, r.max_rss_bytes, r.max_rss_bytes / 1073741824.0,
    (SELECT u.major_faults FROM rusage u WHERE u.result_id = r.result_id),
    r.termination_signal, r.exit_code,
    (SELECT w.name FROM worker w WHERE w.worker_id = r.worker_id),
    (SELECT w.pool FROM _worker w WHERE w.worker_id = r.worker_id),
    (SELECT w.pod FROM _worker w WHERE w.worker_id = r.worker_id),
    (SELECT strftime('%Y-%m-%d %H:%M:%f', t.execution_start_ns / 1000000 / 1000.0, 'unixepoch')
        FROM _time t WHERE t.result_id = r.result_id),
    q.invocation,
    (SELECT t.queued_ns / 1e9 FROM _span t WHERE t.result_id = r.result_id AND t.queued_ns >= 0),
    (SELECT t.fetch_ns / 1e9 FROM _span t WHERE t.result_id = r.result_id AND t.fetch_ns >= 0),
    (SELECT t.upload_ns / 1e9 FROM _span t WHERE t.result_id = r.result_id AND t.upload_ns >= 0),
    g.trace_id,
    (SELECT b.place || y.name || '/action/' || replace(l.digest, ':', '-') || '/'
        FROM _portal b JOIN _digest_function y ON y.function = l.function WHERE b.instance_id = l.instance_id),
    (SELECT r.max_rss_bytes <= w.rss_min_bytes * (1 + (SELECT value FROM setting WHERE key = 'rss_floor_pct') / 100.0)
        FROM worker w WHERE w.worker_id = r.worker_id),
    (SELECT t.queued_ns < 0 OR t.fetch_ns < 0 OR t.run_ns < 0 OR t.upload_ns < 0 FROM _span t WHERE t.result_id = r.result_id),
    (SELECT p.limit_bytes / 1073741824.0 FROM _peak p WHERE p.result_id = r.result_id),
    (SELECT p.container_bytes / 1073741824.0 FROM _peak p WHERE p.result_id = r.result_id),
    (SELECT p.cores_peak_milli / 1000.0 FROM _peak p WHERE p.result_id = r.result_id),
    (SELECT p.samples FROM _peak p WHERE p.result_id = r.result_id),
    (SELECT p.confidence FROM _peak p WHERE p.result_id = r.result_id),
    EXISTS (SELECT 1 FROM implausible x WHERE x.result_id = r.result_id)
FROM result r JOIN lookup l ON l.lookup_id = r.lookup_id JOIN instance i ON i.instance_id = l.instance_id
    JOIN project j ON j.project_id = r.project_id JOIN run g ON g.run_id = r.first_run_id JOIN action_name n ON n.name_id = l.name_id
    JOIN target t ON t.target_id = n.target_id JOIN package p ON p.package_id = t.package_id
        -- An equality in disguise: so a filter on label or package searches result_package, and whoever
        -- knows the lookup does not mistake that index for the better one.
        AND r.package_id BETWEEN p.package_id AND p.package_id
    JOIN category c ON c.category_id = n.category_id
    -- Last, so that it hinders no other join; a filter on executed_by turns it into a search.
    LEFT JOIN request q ON q.request_id = r.request_id
-- One row a digest: what the action cache holds, else the newest historical execution.
-- Most often the latest of a digest's is of the run stored last: looked at first, it tells at once that another is not the one.
WHERE r.source = 1 OR (NOT EXISTS (SELECT 1 FROM result a WHERE a.lookup_id = r.lookup_id AND a.source = 1)
    AND (SELECT later.result_id FROM _historical own CROSS JOIN _historical later
        WHERE own.result_id = r.result_id AND later.lookup_id = r.lookup_id
            AND (later.base_ns, later.start_ns, later.trace_id, later.span_id, later.idx)
            > (own.base_ns, own.start_ns, own.trace_id, own.span_id, own.idx)
        ORDER BY ifnull(later.run_id, 0) DESC LIMIT 1) IS NULL);

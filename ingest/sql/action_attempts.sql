SELECT r.trace_id AS run, p.name AS project,
    strftime('%Y-%m-%d %H:%M:%f', r.start_ns / 1000000 / 1000.0, 'unixepoch') AS started_utc,
    r.command, t.idx AS attempt,
    CASE t.kind WHEN 1 THEN 'local' WHEN 2 THEN 'remote' WHEN 3 THEN 'omitted local'
        WHEN 4 THEN 'worker init' WHEN 5 THEN 'worker' END AS kind,
    CASE t.status WHEN 2 THEN 'success' WHEN 3 THEN 'failure' WHEN 4 THEN 'timeout'
        WHEN 5 THEN 'error' WHEN 7 THEN 'cancelled' WHEN 8 THEN 'worker failure' END AS status,
    CASE t.cache_hit WHEN 0 THEN 'no' WHEN 1 THEN 'yes' WHEN 2 THEN 'dep file' END AS cache_hit,
    t.exit_code, t.wall_us / 1e6 AS log_wall_s, t.queue_us / 1e6 AS log_queued_s
FROM attempt t
JOIN run r USING (run_id)
JOIN project p USING (project_id)
WHERE t.lookup_id IN (SELECT lookup_id FROM _lookup WHERE digest = :digest)
    OR (t.run_id, t.span_id, t.idx) IN (
        SELECT run_id, span_id, idx FROM attempt_digest
        WHERE lower(hex(hash)) || ':' || size_bytes = :digest)
ORDER BY r.start_ns, r.trace_id, t.span_id, t.idx

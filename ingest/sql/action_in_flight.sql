SELECT r.trace_id AS run, p.name AS project,
    strftime('%Y-%m-%d %H:%M:%f', f.start_ns / 1000000 / 1000.0, 'unixepoch') AS started_utc,
    f.stage
FROM in_flight f
JOIN run r USING (run_id)
JOIN project p USING (project_id)
WHERE lower(hex(f.hash)) || ':' || f.size_bytes = :digest
ORDER BY f.start_ns, r.trace_id, f.span_id

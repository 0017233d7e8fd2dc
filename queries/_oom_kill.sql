CREATE VIEW _oom_kill (
    -- Failed attempts with exit code 137, or whose text holds a row of oom_pattern.
    run,          -- see oom_kills, as all below
    project, label, package, category, identifier, attempt, kind, action_failed, started_utc, wall_s, exit_code,
    exit_137, pattern, excerpt, digest
) AS
WITH failed AS (
    SELECT a.*, ifnull(z.stderr, '') || char(10) || ifnull(x.error, '') || char(10) || ifnull(y.error, '') AS text
    FROM attempt a INDEXED BY attempt_unsuccessful LEFT JOIN attempt_text x USING (run_id, span_id, idx)
        LEFT JOIN attempt_stderr z USING (run_id, span_id, idx) LEFT JOIN action_text y USING (run_id, span_id)
    WHERE a.status <> 2),
-- The longest text that is found says most: 'Killed' alone is part of others.
suspect AS MATERIALIZED (
    SELECT run_id, span_id, idx, kind, lookup_id, exit_code, start_ns, wall_us, text, (SELECT p.pattern FROM oom_pattern p
        WHERE instr(f.text, p.pattern) > 0 ORDER BY length(p.pattern) DESC, p.pattern LIMIT 1) AS pattern
    FROM failed f)
SELECT g.trace_id, j.name, t.label, p.name, c.name, n.identifier, s.idx,
    CASE s.kind WHEN 2 THEN 'remote' ELSE 'local' END, b.failed, strftime('%Y-%m-%d %H:%M:%f', s.start_ns / 1000000 / 1000.0, 'unixepoch'), s.wall_us / 1e6, s.exit_code,
    ifnull(s.exit_code = 137, 0), s.pattern,
    trim(substr(s.text, max(1, instr(s.text, s.pattern) - 40), 120), char(10)),
    (SELECT l.digest FROM lookup l WHERE l.lookup_id = s.lookup_id)
FROM suspect s JOIN action b USING (run_id, span_id) JOIN run g USING (run_id) JOIN project j ON j.project_id = g.project_id
    JOIN action_name n ON n.name_id = b.name_id JOIN category c ON c.category_id = n.category_id
    JOIN target t ON t.target_id = n.target_id JOIN package p ON p.package_id = t.package_id
WHERE s.exit_code = 137 OR s.pattern IS NOT NULL;

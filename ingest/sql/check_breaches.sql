-- What is over a limit, a row each. :runs is a JSON array of run_ids; :max_oom and
-- :max_rss_bytes are NULL where they are not checked; :action, :text, :pods and
-- :prometheus are 1 for the layers whose word counts.
WITH scope(run_id) AS MATERIALIZED (SELECT value FROM json_each(:runs)),
told AS (
    SELECT k.run, k.project, k.label, k.identifier, k.verdict AS what, substr(
        ifnull('; ' || CASE WHEN :action THEN k.evidence_action END, '')
        || ifnull('; text: ' || CASE WHEN :text THEN k.evidence_text END, '')
        || ifnull('; pod: ' || CASE WHEN :pods THEN k.evidence_pods END, '')
        || ifnull('; Prometheus: ' || CASE WHEN :prometheus THEN k.evidence_prometheus END, ''),
        3) AS evidence
    FROM oom_kills k
    WHERE :max_oom IS NOT NULL
        AND k.run IN (SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope))
        AND k.suspect),
killed AS MATERIALIZED (SELECT * FROM told WHERE evidence <> ''),
-- An execution of the action cache counts for the first of these runs that refers to it.
large AS (
    SELECT r.*, CASE r.source WHEN 1 THEN (
            SELECT a.run_id FROM attempt a JOIN run g ON g.run_id = a.run_id
            WHERE a.lookup_id = r.lookup_id AND +a.run_id IN (SELECT run_id FROM scope)
            ORDER BY g.start_ns IS NULL, g.start_ns, g.trace_id LIMIT 1)
        ELSE r.attempt_run_id END AS run_id
    FROM result r
    WHERE r.max_rss_bytes > :max_rss_bytes)
SELECT run, project, label, identifier, what, evidence
FROM killed
WHERE (SELECT count(*) FROM killed) > :max_oom
UNION ALL
SELECT g.trace_id, j.name, t.label, n.identifier, 'max RSS over the limit',
    printf('%.3f GiB', r.max_rss_bytes / 1073741824.0) || ifnull(' on ' || w.pod, '')
        || ', digest ' || l.digest
FROM large r
JOIN run g ON g.run_id = r.run_id
JOIN project j ON j.project_id = g.project_id
JOIN lookup l ON l.lookup_id = r.lookup_id
JOIN action_name n ON n.name_id = r.name_id
JOIN target t ON t.target_id = n.target_id
LEFT JOIN _worker w ON w.worker_id = r.worker_id
WHERE r.run_id IN (SELECT run_id FROM scope)
ORDER BY 1, 3, 4, 5, 6

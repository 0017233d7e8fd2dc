-- Layers that a check needs and that were not looked at: a row each. Parameters as in
-- check_breaches. A kill needs the results of failed attempts only, max RSS all.
WITH scope(run_id) AS MATERIALIZED (SELECT value FROM json_each(:runs)),
gap(layer, run_id) AS (
    SELECT 'action', h.run_id
    FROM historical h
    WHERE h.run_id IN (SELECT run_id FROM scope) AND h.state IN (0, 4, 5, 7, 8)
        AND (:action AND :max_oom IS NOT NULL OR :max_rss_bytes IS NOT NULL)
    UNION
    SELECT 'action', a.run_id
    FROM scope s
    CROSS JOIN attempt a ON a.run_id = s.run_id
    JOIN lookup l ON l.lookup_id = a.lookup_id
    WHERE :max_rss_bytes IS NOT NULL AND a.status IN (0, 2) AND l.state IN (0, 4, 5, 7, 8)
    UNION
    SELECT 'text', e.run_id
    FROM attempt_stderr e
    WHERE :text AND :max_oom IS NOT NULL AND e.run_id IN (SELECT run_id FROM scope)
        AND e.stderr = '' AND e.stderr_bytes > 0
    UNION
    -- A list shows how pods ended that were there when it was made: pods that a run made
    -- come after its beginning.
    SELECT 'pods', t.run_id
    FROM _run_time t
    WHERE :pods AND :max_oom IS NOT NULL AND t.run_id IN (SELECT run_id FROM scope)
        AND NOT EXISTS (
            SELECT 1 FROM layer_look k
            WHERE k.layer = 3 AND k.cache = t.cache AND k.from_ns <= t.to_ns AND k.to_ns >= t.to_ns)
    UNION
    SELECT 'prometheus', t.run_id
    FROM _run_time t
    WHERE :prometheus AND :max_oom IS NOT NULL AND t.run_id IN (SELECT run_id FROM scope)
        AND NOT EXISTS (
            SELECT 1 FROM layer_look k
            WHERE k.layer = 4 AND k.cache = t.cache AND k.from_ns <= t.from_ns AND k.to_ns >= t.to_ns))
SELECT p.layer, count(*) AS runs,
    (SELECT g.trace_id FROM gap q JOIN run g ON g.run_id = q.run_id WHERE q.layer = p.layer
     ORDER BY g.start_ns IS NULL, g.start_ns, g.trace_id LIMIT 1) AS first_run
FROM gap p
GROUP BY p.layer
ORDER BY p.layer

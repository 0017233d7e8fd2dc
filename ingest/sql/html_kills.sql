-- Suspected kills for memory of these runs; of the whole file also those of which no run is known.
SELECT verdict, confidence, package, CASE identifier WHEN '' THEN label ELSE identifier END AS identifier, killed_utc, limit_gib,
    round(max_rss_gib, 2) AS max_rss_gib, evidence_action, evidence_text, evidence_pods, evidence_prometheus, pod
FROM oom_kills
WHERE suspect AND (run IN (SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope))
    OR (run IS NULL AND NOT EXISTS (SELECT 1 FROM run WHERE run_id NOT IN (SELECT run_id FROM scope))))
ORDER BY CASE confidence WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, killed_utc DESC, package, identifier

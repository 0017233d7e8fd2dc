-- What each layer tells of a kill of this action.
SELECT k.run, k.attempt, k.verdict, k.confidence, nullif(k.ambiguous, 0) AS ambiguous,
    k.evidence_action, k.evidence_text, k.evidence_pods, k.evidence_prometheus,
    k.limit_gib, k.note
FROM _oom_kill k
WHERE k.digest = :digest
ORDER BY k.killed_utc, k.run, k.attempt

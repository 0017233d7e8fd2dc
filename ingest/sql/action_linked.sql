-- The action whose attempt was told this link to a historical result.
SELECT l.digest
FROM attempt_text x
JOIN attempt t USING (run_id, span_id, idx)
JOIN lookup l USING (lookup_id)
WHERE instr(x.message, :link)

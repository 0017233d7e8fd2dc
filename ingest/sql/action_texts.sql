SELECT r.trace_id AS run, t.idx AS attempt, a.error AS action_error, x.error_stage, x.error,
    x.message, f.no_result AS no_numbers_because, z.stderr_bytes, nullif(z.stderr, '') AS stderr
FROM attempt t
JOIN run r ON r.run_id = t.run_id
LEFT JOIN attempt_text x ON x.run_id = t.run_id AND x.span_id = t.span_id AND x.idx = t.idx
LEFT JOIN attempt_stderr z ON z.run_id = t.run_id AND z.span_id = t.span_id AND z.idx = t.idx
LEFT JOIN _failure f ON f.run_id = t.run_id AND f.span_id = t.span_id AND f.idx = t.idx
LEFT JOIN action_text a ON a.run_id = t.run_id AND a.span_id = t.span_id
WHERE t.lookup_id IN (SELECT lookup_id FROM _lookup WHERE digest = :digest)
    AND (x.run_id IS NOT NULL OR z.run_id IS NOT NULL OR a.error IS NOT NULL)
ORDER BY r.start_ns, r.trace_id, t.span_id, t.idx

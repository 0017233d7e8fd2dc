-- What one invocation executed; those that no worker had are not there.
SELECT t.queued_ns, t.worker_start_ns, t.worker_completed_ns, s.run_ns, p.cpu_ns, p.peak_bytes,
    p.package_id, p.worker_id, p.allotment_id, p.is_lower_bound
FROM request q
JOIN _peak p ON p.request_id = q.request_id
LEFT JOIN _time t ON t.result_id = p.result_id
LEFT JOIN _span s ON s.result_id = p.result_id
WHERE q.invocation = :invocation AND p.worker_id IS NOT NULL

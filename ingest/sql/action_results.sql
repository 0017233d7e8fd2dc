SELECT CASE r.source WHEN 1 THEN 'action_cache' ELSE 'historical' END AS source,
    -- Which attempt linked a historical one.
    (SELECT trace_id FROM run WHERE run_id = r.attempt_run_id) AS run,
    r.attempt_idx AS attempt,
    r.status_code, r.status_message, r.exit_code, r.termination_signal,
    r.wall_ns / 1e9 AS wall_s, r.cpu_ns / 1e9 AS cpu_s, r.cores,
    g.user_ns / 1e9 AS user_s, g.system_ns / 1e9 AS system_s,
    r.max_rss_bytes, r.max_rss_bytes / 1073741824.0 AS max_rss_gib,
    w.name AS worker, v.pool, v.pod, v.rss_floor_bytes,
    -- What it ran under, and whose word that is: nothing known has no line.
    CASE a.source WHEN 1 THEN 'its container' WHEN 2 THEN 'pool_spec' END AS given_by,
    a.cpu_request_milli / 1000.0 AS cpu_request, a.cpu_limit_milli / 1000.0 AS cpu_limit,
    a.memory_request_bytes / 1073741824.0 AS mem_request_gib, a.memory_limit_bytes / 1073741824.0 AS mem_limit_gib,
    -- What Prometheus saw of its container meanwhile.
    CASE c.status WHEN 1 THEN 'sampled' WHEN 2 THEN 'no sample while it ran' WHEN 3 THEN 'its pod is not known'
        WHEN 4 THEN 'that time was forgotten' WHEN 5 THEN 'its worker ran several actions at a time' END AS ctr_status,
    c.memory_samples AS ctr_samples, p.confidence AS ctr_confidence, c.interval_ms / 1e3 AS ctr_interval_s,
    c.working_set_peak_bytes / 1073741824.0 AS ctr_peak_gib, c.anon_peak_bytes / 1073741824.0 AS ctr_anon_peak_gib,
    p.cores_avg_milli / 1000.0 AS ctr_cores, c.cores_peak_milli / 1000.0 AS ctr_cores_peak,
    q.invocation AS executed_by, q.tool_name, q.tool_version, q.correlated_invocations_id,
    q.action_mnemonic, q.target_id, q.configuration_id,
    strftime('%Y-%m-%d %H:%M:%f', k.queued_ns / 1000000 / 1000.0, 'unixepoch')
        AS queued_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.worker_start_ns / 1000000 / 1000.0, 'unixepoch')
        AS worker_start_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.fetch_start_ns / 1000000 / 1000.0, 'unixepoch')
        AS fetch_start_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.fetch_completed_ns / 1000000 / 1000.0, 'unixepoch')
        AS fetch_completed_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.execution_start_ns / 1000000 / 1000.0, 'unixepoch')
        AS execution_start_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.execution_completed_ns / 1000000 / 1000.0, 'unixepoch')
        AS execution_completed_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.upload_start_ns / 1000000 / 1000.0, 'unixepoch')
        AS upload_start_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.upload_completed_ns / 1000000 / 1000.0, 'unixepoch')
        AS upload_completed_utc,
    strftime('%Y-%m-%d %H:%M:%f', k.worker_completed_ns / 1000000 / 1000.0, 'unixepoch')
        AS worker_completed_utc,
    -- A difference of two clocks that is negative says nothing but that they differ.
    CASE WHEN s.queued_ns >= 0 THEN s.queued_ns / 1e9 END AS queued_s,
    CASE WHEN s.fetch_ns >= 0 THEN s.fetch_ns / 1e9 END AS fetch_s,
    CASE WHEN s.run_ns >= 0 THEN s.run_ns / 1e9 END AS ran_s,
    CASE WHEN s.upload_ns >= 0 THEN s.upload_ns / 1e9 END AS upload_s,
    CASE WHEN m.is_virtual THEN r.wall_ns / 1e9 END AS virtual_s,
    g.minor_faults, g.major_faults, g.swaps, g.block_in, g.block_out,
    g.messages_sent, g.messages_received, g.signals_received, g.voluntary_ctx, g.involuntary_ctx,
    o.files_created, o.files_count_peak, o.files_bytes_peak,
    o.reads, o.read_bytes, o.writes, o.write_bytes, o.truncates,
    d.directories_resolved, d.directories_read, d.files_read,
    (SELECT group_concat(e.name || ' ' || e.cost || ' ' || e.currency, ', ')
     FROM expense e WHERE e.result_id = r.result_id) AS expenses,
    (SELECT group_concat(x.type || ' (' || length(x.bytes) || ' bytes)', ', ')
     FROM aux_message x WHERE x.result_id = r.result_id) AS unknown_messages
FROM result r
LEFT JOIN worker w USING (worker_id)
LEFT JOIN _worker v USING (worker_id)
LEFT JOIN request q USING (request_id)
LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
LEFT JOIN result_container c ON c.result_id = r.result_id
LEFT JOIN _peak p ON p.result_id = r.result_id
LEFT JOIN result_time m ON m.result_id = r.result_id
LEFT JOIN _time k ON k.result_id = r.result_id
LEFT JOIN _span s ON s.result_id = r.result_id
LEFT JOIN rusage g ON g.result_id = r.result_id
LEFT JOIN file_pool_usage o ON o.result_id = r.result_id
LEFT JOIN input_root_usage d ON d.result_id = r.result_id
WHERE r.lookup_id IN (SELECT lookup_id FROM _lookup WHERE digest = :digest)
ORDER BY r.source, m.base_ns, r.result_id

-- One row a digest with usage. The first ten columns are those of the script
-- that the report takes over from; others depend on them: new ones go to the end.
SELECT
    u.digest, u.category, u.identifier AS id, u.worker, u.wall_s, u.cpu_s, u.cores,
    u.max_rss_gib, u.major_faults, u.termination_signal,
    u.label, u.package, u.buck_package, u.configuration, u.project, u.instance, u.source,
    u.exit_code, u.user_s, u.system_s, u.max_rss_bytes, u.pool, u.pod, u.executed_utc,
    u.executed_by, u.queued_s, u.fetch_s, u.upload_s, k.variant, k.mode, k.salt, u.first_run,
    u.portal_url, u.rss_at_floor, u.clock_skew, u.mem_limit_gib, u.ctr_peak_gib, u.ctr_cores_peak,
    u.ctr_samples, u.ctr_confidence
FROM wanted w
JOIN _usage u ON u.lookup_id = w.lookup_id
LEFT JOIN _run_cell k ON k.run_id = u.first_run_id
WHERE u.source = 'action_cache' AND u.cpu_ns IS NOT NULL AND u.wall_s >= :min_wall_s
ORDER BY u.wall_ns DESC, u.digest

-- Every table's rows by natural keys: no surrogate ids, nothing that depends on
-- the order of ingest. Two databases hold the same if these give the same sets of
-- rows. One SELECT a table, below a line that names it. Names that are stored once
-- (action_name, target, …) appear where rows refer to them.

-- setting
SELECT key, value, about FROM setting;
-- setting_default
SELECT key, value, about FROM setting_default;
-- mode
SELECT * FROM mode;
-- variant
SELECT variant FROM variant;
-- oom_pattern
SELECT * FROM oom_pattern;
-- canned_view
SELECT name, sql FROM canned_view;
-- pruned_run
SELECT trace_id FROM pruned_run;
-- run
SELECT r.trace_id, p.name AS project, r.isolation_dir, r.command, r.argv, r.working_dir, r.start_ns,
    r.duration_us, r.succeeded, r.exit_code, r.error, r.error_count, r.complete, r.host, r.os, r.os_version,
    r.arch, r.user, r.buck2_revision, r.daemon_uuid, r.revision, r.digest_function, i.cache, i.name AS instance,
    r.instance_proved, r.instance_source
FROM run r JOIN project p ON p.project_id = r.project_id LEFT JOIN instance i ON i.instance_id = r.instance_id;
-- run_config
SELECT r.trace_id, c.key, c.value FROM run_config c JOIN run r ON r.run_id = c.run_id;
-- log_file
SELECT path, bytes, mtime_ns, ending, records, malformed, too_large, note FROM log_file
    /* without proposal: a file that showed the run first is proposed to again */;
-- run_log
SELECT r.trace_id, f.path, l.project, l.project_rank, l.isolation_dir
FROM run_log l JOIN run r ON r.run_id = l.run_id JOIN log_file f ON f.log_file_id = l.log_file_id;
-- instance_candidate
SELECT r.trace_id, c.cache, c.name, c.rank, c.source FROM instance_candidate c JOIN run r ON r.run_id = c.run_id;
-- lookup
SELECT i.cache, i.name AS instance, l.function, hex(l.hash) AS hash, l.size_bytes, l.digest, l.state, l.message,
    r.trace_id AS first_run, l.first_seq, t.label, c.name AS category, n.identifier, f.name AS configuration
FROM lookup l JOIN instance i ON i.instance_id = l.instance_id JOIN run r ON r.run_id = l.first_run_id
    JOIN action_name n ON n.name_id = l.name_id JOIN target t ON t.target_id = n.target_id
    JOIN category c ON c.category_id = n.category_id JOIN configuration f ON f.configuration_id = n.configuration_id;
-- action
SELECT r.trace_id, a.span_id, a.seq, t.label, t.buck_package, p.name AS package, c.name AS category, n.identifier,
    f.name AS configuration, a.type, a.kind, a.execution_kind, a.failed, a.start_ns, a.duration_us, a.wall_us,
    a.output_bytes, a.input_bytes, a.upload_result, a.dep_file_upload_result, a.scheduling_mode, u.name AS rule
FROM action a JOIN run r ON r.run_id = a.run_id JOIN action_name n ON n.name_id = a.name_id
    JOIN target t ON t.target_id = n.target_id JOIN package p ON p.package_id = t.package_id
    JOIN category c ON c.category_id = n.category_id JOIN configuration f ON f.configuration_id = n.configuration_id
    LEFT JOIN rule u ON u.rule_id = a.rule_id;
-- action_count
SELECT r.trace_id, c.type, c.execution_kind, c.failed, c.actions FROM action_count c JOIN run r ON r.run_id = c.run_id;
-- action_text
SELECT r.trace_id, x.span_id, x.error, x.suite, x.host, x.dep_file_key FROM action_text x JOIN run r ON r.run_id = x.run_id;
-- attempt
SELECT r.trace_id, a.span_id, a.idx, a.kind, a.status, i.cache, i.name AS instance, l.function, l.digest, a.cache_hit,
    a.exit_code, a.start_ns, a.wall_us, a.execution_us, a.queue_us, a.server_queue_us, a.input_us,
    a.memory_peak_bytes, p.properties, u.name AS use_case
FROM attempt a JOIN run r ON r.run_id = a.run_id LEFT JOIN lookup l ON l.lookup_id = a.lookup_id
    LEFT JOIN instance i ON i.instance_id = l.instance_id LEFT JOIN platform p ON p.platform_id = a.platform_id
    LEFT JOIN rule u ON u.rule_id = a.use_case_id;
-- attempt_digest
SELECT r.trace_id, d.span_id, d.idx, d.function, hex(d.hash) AS hash, d.size_bytes
FROM attempt_digest d JOIN run r ON r.run_id = d.run_id;
-- attempt_text
SELECT r.trace_id, x.span_id, x.idx, x.error_stage, x.error, x.message
FROM attempt_text x JOIN run r ON r.run_id = x.run_id;
-- attempt_stderr
SELECT r.trace_id, x.span_id, x.idx, x.stderr, x.stderr_bytes FROM attempt_stderr x JOIN run r ON r.run_id = x.run_id;
-- in_flight
SELECT r.trace_id, s.span_id, s.seq, t.label, c.name AS category, n.identifier, f.name AS configuration, s.type,
    s.start_ns, s.stage, s.stage_seq, hex(s.hash) AS hash, s.size_bytes, s.function
FROM in_flight s JOIN run r ON r.run_id = s.run_id JOIN action_name n ON n.name_id = s.name_id
    JOIN target t ON t.target_id = n.target_id JOIN category c ON c.category_id = n.category_id
    JOIN configuration f ON f.configuration_id = n.configuration_id;
-- cancelled_span
SELECT r.trace_id, s.span_id FROM cancelled_span s JOIN run r ON r.run_id = s.run_id;
-- worker
SELECT name, results, failed, with_usage, wall_ns, cpu_ns, rss_min_bytes, rss_max_bytes FROM worker;
-- request
SELECT invocation, tool_name, tool_version, correlated_invocations_id, action_mnemonic, target_id, configuration_id,
    results, with_usage, wall_ns, cpu_ns, first_ns, last_ns FROM request;
-- result
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, s.wall_ns, s.cpu_ns, s.max_rss_bytes, s.exit_code,
    s.termination_signal, w.name AS worker, q.invocation, q.tool_name, t.label, c.name AS category, n.identifier,
    k.name AS package, p.name AS project, f.trace_id AS first_run, r.trace_id AS attempt_run, s.attempt_span_id,
    s.attempt_idx, s.status_code, s.status_message, a.source AS allotted_by, a.pool, a.cpu_request_milli,
    a.cpu_limit_milli, a.memory_request_bytes, a.memory_limit_bytes
FROM result s JOIN lookup l ON l.lookup_id = s.lookup_id JOIN instance i ON i.instance_id = l.instance_id
    JOIN action_name n ON n.name_id = s.name_id JOIN target t ON t.target_id = n.target_id
    JOIN category c ON c.category_id = n.category_id JOIN package k ON k.package_id = s.package_id
    JOIN project p ON p.project_id = s.project_id JOIN run f ON f.run_id = s.first_run_id
    LEFT JOIN worker w ON w.worker_id = s.worker_id LEFT JOIN request q ON q.request_id = s.request_id
    LEFT JOIN run r ON r.run_id = s.attempt_run_id
    LEFT JOIN allotment a ON a.allotment_id = s.allotment_id;
-- bucket_sum
SELECT * FROM bucket_sum;
-- phase_sum
SELECT * FROM phase_sum;
-- size_count
SELECT a.source, a.pool, a.cpu_request_milli, a.cpu_limit_milli, a.memory_request_bytes, a.memory_limit_bytes,
    c.name AS category, s.kind, s.size, p.name AS project, s.results, s.wall_s, s.wall_rest_ns
FROM size_count s LEFT JOIN category c ON c.category_id = s.category_id LEFT JOIN project p ON p.project_id = s.project_id
    LEFT JOIN allotment a ON a.allotment_id = s.allotment_id;
-- busy_sum
SELECT a.source, a.pool, a.cpu_request_milli, a.cpu_limit_milli, a.memory_request_bytes, a.memory_limit_bytes,
    p.name AS project, s.results, s.known, s.busy_high, s.busy_low, s.cpu_high, s.cpu_low, s.held_high, s.held_low
FROM busy_sum s JOIN project p ON p.project_id = s.project_id LEFT JOIN allotment a ON a.allotment_id = s.allotment_id;
-- package_sum
SELECT j.name AS project, p.name AS package, s.limit_bytes, s.results, s.unknown, s.wall_s, s.wall_rest_ns, s.cpu_s, s.cpu_rest_ns,
    s.wall_max_ns, s.rss_max_bytes, s.cores_max
FROM package_sum s JOIN package p ON p.package_id = s.package_id LEFT JOIN project j ON j.project_id = s.project_id;
-- package_due
SELECT p.name FROM package_due d JOIN package p ON p.package_id = d.package_id;
-- invocation_sum
SELECT * FROM invocation_sum;
-- invocation_due
SELECT * FROM invocation_due;
-- result_time
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.base_ns, x.queued_step_ns, x.worker_start_step_ns,
    x.fetch_start_step_ns, x.fetch_completed_step_ns, x.execution_start_step_ns, x.execution_completed_step_ns,
    x.upload_start_step_ns, x.upload_completed_step_ns, x.worker_completed_step_ns, x.is_virtual
FROM result_time x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- rusage
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.user_ns, x.system_ns, x.minor_faults,
    x.major_faults, x.swaps, x.block_in, x.block_out, x.messages_sent, x.messages_received, x.signals_received,
    x.voluntary_ctx, x.involuntary_ctx
FROM rusage x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- file_pool_usage
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.files_created, x.files_count_peak,
    x.files_bytes_peak, x.reads, x.read_bytes, x.writes, x.write_bytes, x.truncates
FROM file_pool_usage x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- input_root_usage
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.directories_resolved, x.directories_read, x.files_read
FROM input_root_usage x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- expense
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.name, x.currency, x.cost
FROM expense x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- aux_message
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.idx, x.type, hex(x.bytes) AS bytes
FROM aux_message x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- implausible
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, x.wall_ns, x.cpu_ns, x.max_rss_bytes
FROM implausible x JOIN result s ON s.result_id = x.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id;
-- historical
SELECT r.trace_id, h.span_id, h.idx, h.function, hex(h.hash) AS hash, h.size_bytes, h.state, h.message
FROM historical h JOIN run r ON r.run_id = h.run_id;
-- pod
SELECT namespace, name, uid, node FROM pod;
-- container
SELECT p.namespace, p.name AS pod, c.name, c.cpu_request_milli, c.cpu_limit_milli, c.memory_request_bytes,
    c.memory_limit_bytes, c.restarts, c.disputed
FROM container c JOIN pod p ON p.pod_id = c.pod_id;
-- container_said
SELECT p.namespace, p.name AS pod, c.name, c.uid, c.node, c.cpu_request_milli, c.cpu_limit_milli, c.memory_request_bytes,
    c.memory_limit_bytes
FROM container_said c JOIN pod p ON p.pod_id = c.pod_id;
-- termination
SELECT p.namespace, p.name AS pod, t.container, t.finished_ns, t.layer, t.started_ns, t.exit_code, t.signal, t.reason,
    t.container_id, t.restarts
FROM termination t JOIN pod p ON p.pod_id = t.pod_id;
-- oom_count
SELECT p.namespace, p.name AS pod, o.container, o.container_id, o.last_ns, o.first_ns, o.count
FROM oom_count o JOIN pod p ON p.pod_id = o.pod_id;
-- layer_look
SELECT * FROM layer_look;
-- tail_pattern
SELECT * FROM tail_pattern;
-- pool_spec
SELECT * FROM pool_spec;
-- pool_allotment
SELECT s.cache, s.pool, s.valid_from_ns, a.source, a.cpu_request_milli, a.cpu_limit_milli, a.memory_request_bytes,
    a.memory_limit_bytes
FROM pool_allotment s LEFT JOIN allotment a ON a.allotment_id = s.allotment_id;
-- allotment_due
SELECT DISTINCT kind, name FROM allotment_due;
-- allotment_rule
SELECT part, value FROM allotment_rule;
-- shape
SELECT * FROM shape;
-- allotment
SELECT DISTINCT a.source, a.pool, a.cpu_request_milli, a.cpu_limit_milli, a.memory_request_bytes, a.memory_limit_bytes
FROM allotment a JOIN result s ON s.allotment_id = a.allotment_id;
-- project_file
SELECT p.name, f.path, f.mtime_ns FROM project_file f JOIN project p ON p.project_id = f.project_id;
-- listed_package
SELECT p.name, l.package, l.position FROM listed_package l JOIN project p ON p.project_id = l.project_id;
-- container_life
SELECT p.namespace, p.name AS pod, l.container, l.container_id FROM container_life l JOIN pod p ON p.pod_id = l.pod_id;
-- container_usage
SELECT p.namespace, p.name AS pod, l.container, l.container_id, u.minute, u.memory_samples, u.working_set_peak_bytes,
    u.anon_peak_bytes, u.cpu_samples, u.cpu_ns, u.cpu_window_ns
FROM container_usage u JOIN container_life l ON l.life_id = u.life_id JOIN pod p ON p.pod_id = l.pod_id;
-- result_container
SELECT i.cache, i.name AS instance, l.function, l.digest, s.source, r.trace_id AS attempt_run, s.attempt_span_id,
    s.attempt_idx, c.status, c.settled, c.interval_ms, c.lives, c.memory_samples, c.working_set_peak_bytes,
    c.anon_peak_bytes, c.cpu_samples, c.cpu_ns, c.cpu_window_ns, c.cores_peak_milli, c.wall_ns
FROM result_container c JOIN result s ON s.result_id = c.result_id JOIN lookup l ON l.lookup_id = s.lookup_id
    JOIN instance i ON i.instance_id = l.instance_id LEFT JOIN run r ON r.run_id = s.attempt_run_id;
-- build_graph
SELECT r.trace_id, b.seq, b.nodes, b.edges FROM build_graph b JOIN run r ON r.run_id = b.run_id;
-- path_step
SELECT r.trace_id, s.path, s.idx, s.kind, t.label, c.name AS category, n.identifier, f.name AS configuration,
    d.name AS detail, u.name AS rule, s.execution_kind, s.span_id, hex(s.hash) AS hash, s.size_bytes, s.reused,
    s.start_off_ns, s.duration_us, s.user_us, s.total_us, s.potential_us, s.queue_us, s.off_path_us
FROM path_step s JOIN run r ON r.run_id = s.run_id LEFT JOIN action_name n ON n.name_id = s.name_id
    LEFT JOIN target t ON t.target_id = n.target_id LEFT JOIN category c ON c.category_id = n.category_id
    LEFT JOIN configuration f ON f.configuration_id = n.configuration_id
    LEFT JOIN rule d ON d.rule_id = s.detail_id LEFT JOIN rule u ON u.rule_id = s.rule_id;

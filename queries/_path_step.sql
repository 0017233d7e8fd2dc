CREATE VIEW _path_step (
    -- One row a step of a run's critical or slowest path, with the digest that it asked for. A filter on run
    -- (and path) is a search.
    run,          -- trace id
    path,         -- see table path_step, as idx and kind
    idx, kind,
    run_id,       -- of table run
    project_id,   -- of the run
    start_ns, run_duration_us, -- of the run
    name_id, detail_id, rule_id, execution_kind, hash, size_bytes, reused, -- see table path_step
    start_off_ns, duration_us, user_us, total_us, potential_us, queue_us, off_path_us,
    is_command,   -- 1: an action, test or listing that may have run a command
    last_idx,     -- of its action's last attempt in this run; NULL: the run's log has none
    lookup_id,    -- of the last attempt; of the step's digest where the log has no attempt; NULL: nothing was asked
    hit           -- of that attempt: 1 it came from a cache
) AS
SELECT g.trace_id, s.path, s.idx, s.kind, g.run_id, g.project_id, g.start_ns, g.duration_us, s.name_id, s.detail_id, s.rule_id,
    s.execution_kind, s.hash, s.size_bytes, s.reused, s.start_off_ns, s.duration_us, s.user_us, s.total_us, s.potential_us,
    s.queue_us, s.off_path_us, s.kind IN (101, 107, 108),
    (SELECT a.idx FROM attempt a WHERE a.run_id = s.run_id AND a.span_id = s.span_id AND s.kind IN (101, 107, 108)
        ORDER BY a.idx DESC LIMIT 1),
    CASE WHEN s.kind NOT IN (101, 107, 108) THEN NULL
    WHEN EXISTS (SELECT 1 FROM attempt a WHERE a.run_id = s.run_id AND a.span_id = s.span_id) THEN
        (SELECT a.lookup_id FROM attempt a WHERE a.run_id = s.run_id AND a.span_id = s.span_id ORDER BY a.idx DESC LIMIT 1)
    -- Of what ran on the client's own host the cache has at most another's execution.
    WHEN s.execution_kind NOT IN (1, 7, 8, 10) THEN
        (SELECT l.lookup_id FROM lookup l WHERE l.digest_key = hex(substr(s.hash, 1, 2)) || hex(substr(s.hash, -2))
            AND l.hash = s.hash AND l.size_bytes = s.size_bytes AND l.instance_id = g.instance_id ORDER BY l.function LIMIT 1)
    END,
    (SELECT a.cache_hit > 0 FROM attempt a WHERE a.run_id = s.run_id AND a.span_id = s.span_id ORDER BY a.idx DESC LIMIT 1)
FROM run g JOIN path_step s ON s.run_id = g.run_id;

CREATE VIEW _path_usage (
    -- The rows of _path_step, with names and what is known of the usage.
    run,  -- see _path_step, as path and idx
    path, idx,
    kind, -- see critical_path, as all below
    name, label, package, category, identifier, execution_kind, rule_type, reused,
    start_s, duration_s, user_s, total_s, potential_improvement_s, off_path_s, log_queued_s,
    digest, why, wall_s, cpu_s, cores, max_rss_gib, queued_s, executed_in_this_run, executed_by,
    heavy, listed,
    run_id, package_id, is_command, duration_us, potential_us, wall_ns, cpu_ns, max_rss_bytes -- the same in integers
) AS
SELECT x.run, x.path, x.idx,
    CASE x.kind WHEN 100 THEN 'analysis' WHEN 101 THEN 'action' WHEN 102 THEN 'materialization' WHEN 103 THEN 'compute-critical-path'
        WHEN 104 THEN 'load' WHEN 105 THEN 'listing' WHEN 106 THEN d.name WHEN 107 THEN 'test-execution' WHEN 108 THEN 'test-listing'
        WHEN 109 THEN 'waiting' WHEN 110 THEN 'dynamic_analysis' WHEN 111 THEN 'ensure_transitive_set_projection'
        WHEN 112 THEN 'anon_analysis' WHEN 113 THEN 'page_in' END,
    CASE WHEN t.label IS NOT NULL THEN t.label || iif(f.name = '', '', ' (' || f.name || ')')
        WHEN x.kind IN (104, 105, 109, 113) THEN ifnull(d.name, '') WHEN x.kind IN (103, 106, 111) THEN ''
        WHEN x.kind = 110 THEN 'anon-unknown' WHEN x.kind IS NOT NULL THEN 'unknown' END,
    t.label, p.name, c.name, CASE x.kind WHEN 101 THEN n.identifier WHEN 102 THEN d.name END,
    CASE x.execution_kind WHEN 0 THEN 'not_set' WHEN 1 THEN 'local' WHEN 2 THEN 'remote' WHEN 3 THEN 'action_cache'
        WHEN 4 THEN 'simple' WHEN 6 THEN 'deferred' WHEN 7 THEN 'local_dep_file' WHEN 8 THEN 'local_worker'
        WHEN 9 THEN 'remote_dep_file_cache' WHEN 10 THEN 'local_action_cache' WHEN 11 THEN 'remote_worker'
        ELSE CAST(x.execution_kind AS TEXT) END,
    (SELECT u.name FROM rule u WHERE u.rule_id = x.rule_id), x.reused,
    x.start_off_ns / 1e9, x.duration_us / 1e6, x.user_us / 1e6, x.total_us / 1e6,
    x.potential_us / 1e6, x.off_path_us / 1e6, x.queue_us / 1e6,
    lower(hex(x.hash)) || ':' || x.size_bytes,
    CASE WHEN r.cpu_ns IS NOT NULL THEN NULL
        WHEN x.is_command IS NOT 1 OR x.execution_kind IN (4, 6, 7) THEN 'no_command'
        WHEN x.lookup_id IS NOT NULL THEN ifnull((SELECT m.reason FROM _missing m WHERE m.lookup_id = x.lookup_id), 'no_usage')
        WHEN x.last_idx IS NOT NULL OR x.execution_kind IN (1, 8, 10) THEN 'local'
        ELSE 'not_logged' END,
    r.wall_ns / 1e9, r.cpu_ns / 1e9, r.cores, r.max_rss_bytes / 1073741824.0,
    (SELECT o.queued_ns / 1e9 FROM _span o WHERE o.result_id = r.result_id AND o.queued_ns >= 0),
    -- As run_usage has it.
    CASE WHEN r.result_id IS NULL THEN NULL WHEN q.invocation IS NOT NULL THEN q.invocation = x.run WHEN x.hit THEN 0
        ELSE (SELECT m.execution_start_ns FROM _time m WHERE m.result_id = r.result_id) BETWEEN
            x.start_ns - (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
            AND x.start_ns + x.run_duration_us * 1000 + (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
    END, q.invocation,
    -- As _heavy has it; by package, the long results come first in the index.
    CASE WHEN p.package_id IS NOT NULL THEN CASE WHEN EXISTS (SELECT 1 FROM result h INDEXED BY result_package
            WHERE h.package_id = p.package_id AND h.wall_ns > (SELECT wall_ns FROM _heavy_rule)
            AND h.source = 1 AND h.cpu_ns IS NOT NULL AND h.project_id = x.project_id)
        OR EXISTS (SELECT 1 FROM result h INDEXED BY result_package
            WHERE h.package_id = p.package_id AND h.wall_ns > (SELECT cores_wall_ns FROM _heavy_rule)
            AND h.source = 1 AND h.cpu_ns IS NOT NULL AND h.project_id = x.project_id
            AND h.cores > (SELECT cores FROM _heavy_rule)) THEN 1 WHEN (SELECT is_whole FROM _heavy_rule) THEN 0 END END,
    CASE WHEN p.package_id IS NOT NULL AND EXISTS (SELECT 1 FROM project_file k WHERE k.project_id = x.project_id) THEN
        EXISTS (SELECT 1 FROM listed_package l WHERE l.project_id = x.project_id AND l.package = p.name) END,
    x.run_id, p.package_id, x.is_command, x.duration_us, x.potential_us, r.wall_ns, r.cpu_ns, r.max_rss_bytes
FROM (SELECT s.*, (SELECT u.result_id FROM _usage u WHERE u.lookup_id = s.lookup_id) AS result_id FROM _path_step s) x
    LEFT JOIN result r ON r.result_id = x.result_id LEFT JOIN request q ON q.request_id = r.request_id
    LEFT JOIN action_name n ON n.name_id = x.name_id LEFT JOIN target t ON t.target_id = n.target_id
    LEFT JOIN package p ON p.package_id = t.package_id LEFT JOIN category c ON c.category_id = n.category_id AND x.kind = 101
    LEFT JOIN configuration f ON f.configuration_id = n.configuration_id LEFT JOIN rule d ON d.rule_id = x.detail_id;

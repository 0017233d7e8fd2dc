CREATE VIEW _worker_sizing (
    -- What worker_sizing shows, of each scope that it is asked for.
    scope, -- of _percentile, as the next one
    name,
    pool, limit_gib, cpu_request, results, unknown, verdict, new_limit_gib, new_request_gib, new_cpu_request, reason,
    request_gib, oom_kills, peak_p50_gib, peak_p90_gib, peak_p95_gib, peak_p99_gib, peak_max_gib, failed_max_gib, cores_p50,
    cores_p90, cores_p95, cores_p99, cores_max, sampled_pct, sampled_wall_pct,
    limit_mib -- unrounded, to sort by
) AS
WITH at AS MATERIALIZED (SELECT least, margin, step, oom_pct, oom_mib, is_whole FROM _sizing_rule),
about(scope) AS (VALUES ('all'), ('project'), ('run')),
kill AS MATERIALIZED (SELECT run, project, pool, limit_bytes, is_told FROM _pool_kill),
kills AS MATERIALIZED (
    SELECT w.scope, CASE w.scope WHEN 'all' THEN '' WHEN 'project' THEN k.project ELSE k.run END AS name, k.pool, k.limit_bytes,
        sum(k.is_told) AS n, sum(NOT k.is_told) AS suspected
    FROM kill k CROSS JOIN about w GROUP BY 1, 2, 3, 4),
failed AS MATERIALIZED (
    SELECT w.scope, CASE w.scope WHEN 'all' THEN '' WHEN 'project' THEN j.name ELSE g.trace_id END AS name, a.group_id, max(p.mib) AS mib
    FROM _failed_peak p LEFT JOIN run g ON g.run_id = p.run_id JOIN project j ON j.project_id = p.project_id
        JOIN _allotment a ON a.allotment_id = ifnull(p.allotment_id, 0) CROSS JOIN about w
    GROUP BY 1, 2, 3),
-- In steps, not yet rounded.
needed AS (
    SELECT q.scope, q.name, q.counted, q.wall_ns, q.known, q.unknown, q.sampled, q.sampled_wall_ns, q.m50, q.m90, q.m95, q.m99, q.m100, q.c50, q.c90,
        q.c95, q.c99, q.c100, a.pool, a.cpu_request_milli, a.memory_request_bytes / 1073741824.0 AS request_gib,
        a.memory_limit_bytes / 1048576.0 AS limit_mib, ifnull(k.n, 0) AS kills, ifnull(k.suspected, 0) AS suspected,
        f.mib AS failed, at.step, at.margin,
        CASE WHEN q.known >= at.least THEN max(q.m95 * (100 + at.margin) / 100.0, 1.0 * q.m100, 1.0 * ifnull(f.mib, 0)) / at.step END AS request,
        CASE WHEN q.known >= at.least THEN max(q.m100 * (100 + at.margin) / 100.0, 1.0 * ifnull(f.mib, 0)) / at.step END AS largest,
        CASE WHEN k.n > 0 AND a.memory_limit_bytes IS NOT NULL THEN max(a.memory_limit_bytes / 1048576.0 * (100 + at.oom_pct) / 100.0,
            a.memory_limit_bytes / 1048576.0 + at.oom_mib) / at.step ELSE 0 END AS killed
    FROM _percentile q JOIN _allotment_group a ON a.group_id = q.group_id CROSS JOIN at
        LEFT JOIN kills k ON k.scope = q.scope AND k.name = q.name AND k.pool IS a.pool AND k.limit_bytes IS a.memory_limit_bytes
        LEFT JOIN failed f ON f.scope = q.scope AND f.name = q.name AND f.group_id = q.group_id),
sized AS (
    SELECT n.scope, n.name, n.counted, n.wall_ns, n.known, n.unknown, n.sampled, n.sampled_wall_ns, n.m50, n.m90, n.m95, n.m99, n.m100, n.c50,
        n.c90, n.c95, n.c99, n.c100, n.pool, n.cpu_request_milli, n.request_gib, n.limit_mib, n.kills, n.suspected,
        n.failed, n.largest, n.killed, n.failed > n.m100 * (100 + n.margin) / 100.0 AS by_failed,
        n.step * (CAST(n.request AS INTEGER) + (n.request > CAST(n.request AS INTEGER))) AS new_request_mib,
        n.step * (CAST(max(n.largest, n.killed) AS INTEGER) + (max(n.largest, n.killed) > CAST(max(n.largest, n.killed) AS INTEGER)))
            AS new_limit_mib
    FROM needed n)
SELECT v.scope, v.name, v.pool, round(v.limit_mib / 1024, 3), v.cpu_request_milli / 1000.0, v.known, v.unknown,
    CASE WHEN NOT at.is_whole THEN NULL WHEN v.new_limit_mib IS NULL THEN 'not enough data' WHEN v.limit_mib IS NULL THEN 'limit not known'
        WHEN v.new_limit_mib > v.limit_mib THEN 'raise' WHEN v.new_limit_mib < v.limit_mib THEN 'lower' ELSE 'keep' END,
    CASE WHEN at.is_whole THEN round(v.new_limit_mib / 1024.0, 3) END,
    CASE WHEN at.is_whole THEN round(v.new_request_mib / 1024.0, 3) END,
    CASE WHEN at.is_whole AND v.new_limit_mib IS NOT NULL THEN v.c95 / 100.0 END,
    CASE WHEN NOT at.is_whole THEN 'a setting sizing_* is missing'
        WHEN v.new_limit_mib IS NULL THEN v.known || ' results with known memory, ' || at.least || ' needed'
        WHEN v.killed > v.largest THEN 'limit: killed under this one, + ' || at.oom_pct || ' %'
        WHEN v.by_failed THEN 'limit: the largest seen, of one that failed'
        ELSE 'limit: largest of ' || v.known || ' + ' || at.margin || ' %' END
        || CASE WHEN NOT at.is_whole OR v.new_limit_mib IS NULL THEN '' ELSE '; request: ' || iif(v.m95 * (100 + at.margin) > max(v.m100, ifnull(v.failed, 0)) * 100,
            'p95 + ' || at.margin || ' %', 'largest seen') || '; CPU: p95 by wall time' END
        || CASE WHEN v.kills > 0 THEN '; kills for memory: ' || v.kills ELSE '' END
        || CASE WHEN v.suspected > 0 THEN '; suspected ones, of which no container tells: ' || v.suspected ELSE '' END
        || CASE WHEN v.sampled_wall_ns < v.wall_ns THEN '; a lower bound: largest process only for '
            || CAST(100 - 100 * v.sampled_wall_ns / v.wall_ns AS INTEGER) || ' % of the wall time' ELSE '' END,
    round(v.request_gib, 3), v.kills,
    round(v.m50 / 1024.0, 3), round(v.m90 / 1024.0, 3), round(v.m95 / 1024.0, 3), round(v.m99 / 1024.0, 3), round(v.m100 / 1024.0, 3), round(v.failed / 1024.0, 3),
    v.c50 / 100.0, v.c90 / 100.0, v.c95 / 100.0, v.c99 / 100.0, v.c100 / 100.0,
    round(100.0 * v.sampled / nullif(v.counted, 0), 1), round(100 * v.sampled_wall_ns / nullif(v.wall_ns, 0), 1), v.limit_mib
FROM sized v CROSS JOIN at;

CREATE VIEW worker_sizing (
    -- One row a pool, memory limit in force and requested cores, by these: what executions needed there, and the
    -- size that this recommends. Counted results, each digest once. The peak of one is the larger of its largest
    -- process and of its container's sampled working set: a lower bound. In whole MiB, rounded up; percentiles are
    -- sorted[min(n-1, floor(q n))]. Limits are never mixed, and what is recommended holds under its own only:
    -- make -jN follows the limit, so measure again under another. Memory from the largest, as a kill fails a
    -- build. Below setting sizing_min_results nothing is recommended.
    pool,                 -- as worker names tell it; NULL: not known
    limit_gib,            -- memory limit in force; NULL: none, or not known
    cpu_request,          -- cores requested
    results,              -- results of workers whose memory is known
    unknown,              -- and of which it is not
    verdict,              -- on the limit: raise, lower, keep; limit not known; not enough data; NULL: a setting is missing
    -- Recommended: peak_max + setting sizing_margin_pct; after a kill at least the limit + sizing_oom_pct and
    -- + sizing_oom_mib; rounded up to sizing_step_mib. Never below the largest seen, failed_max included.
    new_limit_gib,
    -- Recommended: peak_p95 + sizing_margin_pct, rounded up to sizing_step_mib. Never below the largest seen, either,
    -- as a node that is full puts out who uses more than it requested.
    new_request_gib,
    new_cpu_request,      -- recommended: cores_p95; what is above is a burst, as there is no CPU limit
    reason,               -- of what is recommended, in words
    request_gib,          -- memory requested; where the pool's requests differ in it, the largest
    oom_kills,            -- kills for memory that containers of the pool and limit tell of
    peak_p50_gib,         -- median of the peaks
    peak_p90_gib,         -- 90th percentile of them
    peak_p95_gib,         -- 95th
    peak_p99_gib,         -- 99th
    peak_max_gib,         -- the largest one
    failed_max_gib,       -- the largest peak of those that failed, which are no results here: a lower bound where killed
    cores_p50,            -- median of average cores, each weighing as long as it ran
    cores_p90,            -- 90th percentile of them
    cores_p95,            -- 95th
    cores_p99,            -- 99th
    cores_max,            -- most average cores of one
    sampled_pct,          -- of those with usage: container sampled three times or more
    sampled_wall_pct      -- the same by wall time; elsewhere the largest process stands for the container
) AS
WITH at AS MATERIALIZED (SELECT least, margin, step, oom_pct, oom_mib, is_whole FROM _sizing_rule),
kills AS MATERIALIZED (SELECT pool, limit_bytes, sum(is_told) AS n, sum(NOT is_told) AS suspected FROM _pool_kill
    GROUP BY pool, limit_bytes),
failed AS MATERIALIZED (SELECT a.group_id, max(p.mib) AS mib
    FROM _failed_peak p JOIN _allotment a ON a.allotment_id = ifnull(p.allotment_id, 0)
    GROUP BY 1),
-- In steps, not yet rounded.
needed AS (
    SELECT q.counted, q.wall_ns, q.known, q.unknown, q.sampled, q.sampled_wall_ns, q.m50, q.m90, q.m95, q.m99, q.m100, q.c50, q.c90,
        q.c95, q.c99, q.c100, a.pool, a.cpu_request_milli, a.memory_request_bytes / 1073741824.0 AS request_gib,
        a.memory_limit_bytes / 1048576.0 AS limit_mib, ifnull(k.n, 0) AS kills, ifnull(k.suspected, 0) AS suspected,
        f.mib AS failed, at.step, at.margin,
        CASE WHEN q.known >= at.least THEN max(q.m95 * (100 + at.margin) / 100.0, 1.0 * q.m100, 1.0 * ifnull(f.mib, 0)) / at.step END AS request,
        CASE WHEN q.known >= at.least THEN max(q.m100 * (100 + at.margin) / 100.0, 1.0 * ifnull(f.mib, 0)) / at.step END AS largest,
        CASE WHEN k.n > 0 AND a.memory_limit_bytes IS NOT NULL THEN max(a.memory_limit_bytes / 1048576.0 * (100 + at.oom_pct) / 100.0,
            a.memory_limit_bytes / 1048576.0 + at.oom_mib) / at.step ELSE 0 END AS killed
    FROM _percentile q JOIN _allotment_group a ON a.group_id = q.group_id CROSS JOIN at
        LEFT JOIN kills k ON k.pool IS a.pool AND k.limit_bytes IS a.memory_limit_bytes
        LEFT JOIN failed f ON f.group_id = q.group_id),
sized AS (
    SELECT n.counted, n.wall_ns, n.known, n.unknown, n.sampled, n.sampled_wall_ns, n.m50, n.m90, n.m95, n.m99, n.m100, n.c50,
        n.c90, n.c95, n.c99, n.c100, n.pool, n.cpu_request_milli, n.request_gib, n.limit_mib, n.kills, n.suspected,
        n.failed, n.largest, n.killed, n.failed > n.m100 * (100 + n.margin) / 100.0 AS by_failed,
        n.step * (CAST(n.request AS INTEGER) + (n.request > CAST(n.request AS INTEGER))) AS new_request_mib,
        n.step * (CAST(max(n.largest, n.killed) AS INTEGER) + (max(n.largest, n.killed) > CAST(max(n.largest, n.killed) AS INTEGER)))
            AS new_limit_mib
    FROM needed n)
SELECT v.pool, round(v.limit_mib / 1024, 3), v.cpu_request_milli / 1000.0, v.known, v.unknown,
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
    round(100.0 * v.sampled / nullif(v.counted, 0), 1), round(100 * v.sampled_wall_ns / nullif(v.wall_ns, 0), 1)
FROM sized v CROSS JOIN at
ORDER BY v.pool, v.limit_mib, v.cpu_request_milli;

CREATE VIEW worker_sizing_by_project (
    -- The rows of worker_sizing of each project, by project. A digest belongs to the project of its first reference.
    project,              -- name
    pool,                 -- as worker names tell it; NULL: not known
    limit_gib,            -- memory limit in force; NULL: none, or not known
    cpu_request,          -- cores requested
    results,              -- results of workers whose memory is known
    unknown,              -- and of which it is not
    verdict,              -- on the limit: raise, lower, keep; limit not known; not enough data; NULL: a setting is missing
    -- Recommended: peak_max + setting sizing_margin_pct; after a kill at least the limit + sizing_oom_pct and
    -- + sizing_oom_mib; rounded up to sizing_step_mib. Never below the largest seen, failed_max included.
    new_limit_gib,
    -- Recommended: peak_p95 + sizing_margin_pct, rounded up to sizing_step_mib. Never below the largest seen, either,
    -- as a node that is full puts out who uses more than it requested.
    new_request_gib,
    new_cpu_request,      -- recommended: cores_p95; what is above is a burst, as there is no CPU limit
    reason,               -- of what is recommended, in words
    request_gib,          -- memory requested; where the pool's requests differ in it, the largest
    oom_kills,            -- kills for memory that containers of the pool and limit tell of
    peak_p50_gib,         -- median of the peaks
    peak_p90_gib,         -- 90th percentile of them
    peak_p95_gib,         -- 95th
    peak_p99_gib,         -- 99th
    peak_max_gib,         -- the largest one
    failed_max_gib,       -- the largest peak of those that failed, which are no results here: a lower bound where killed
    cores_p50,            -- median of average cores, each weighing as long as it ran
    cores_p90,            -- 90th percentile of them
    cores_p95,            -- 95th
    cores_p99,            -- 99th
    cores_max,            -- most average cores of one
    sampled_pct,          -- of those with usage: container sampled three times or more
    sampled_wall_pct      -- the same by wall time; elsewhere the largest process stands for the container
) AS
WITH at AS MATERIALIZED (SELECT least, margin, step, oom_pct, oom_mib, is_whole FROM _sizing_rule),
kills AS MATERIALIZED (SELECT project, pool, limit_bytes, sum(is_told) AS n, sum(NOT is_told) AS suspected FROM _pool_kill
    GROUP BY project, pool, limit_bytes),
failed AS MATERIALIZED (SELECT j.name AS project, a.group_id, max(p.mib) AS mib
    FROM _failed_peak p JOIN project j ON j.project_id = p.project_id JOIN _allotment a ON a.allotment_id = ifnull(p.allotment_id, 0)
    GROUP BY 1, 2),
-- In steps, not yet rounded.
needed AS (
    SELECT q.project, q.counted, q.wall_ns, q.known, q.unknown, q.sampled, q.sampled_wall_ns, q.m50, q.m90, q.m95, q.m99, q.m100, q.c50, q.c90,
        q.c95, q.c99, q.c100, a.pool, a.cpu_request_milli, a.memory_request_bytes / 1073741824.0 AS request_gib,
        a.memory_limit_bytes / 1048576.0 AS limit_mib, ifnull(k.n, 0) AS kills, ifnull(k.suspected, 0) AS suspected,
        f.mib AS failed, at.step, at.margin,
        CASE WHEN q.known >= at.least THEN max(q.m95 * (100 + at.margin) / 100.0, 1.0 * q.m100, 1.0 * ifnull(f.mib, 0)) / at.step END AS request,
        CASE WHEN q.known >= at.least THEN max(q.m100 * (100 + at.margin) / 100.0, 1.0 * ifnull(f.mib, 0)) / at.step END AS largest,
        CASE WHEN k.n > 0 AND a.memory_limit_bytes IS NOT NULL THEN max(a.memory_limit_bytes / 1048576.0 * (100 + at.oom_pct) / 100.0,
            a.memory_limit_bytes / 1048576.0 + at.oom_mib) / at.step ELSE 0 END AS killed
    FROM _percentile_by_project q JOIN _allotment_group a ON a.group_id = q.group_id CROSS JOIN at
        LEFT JOIN kills k ON k.project = q.project AND k.pool IS a.pool AND k.limit_bytes IS a.memory_limit_bytes
        LEFT JOIN failed f ON f.project = q.project AND f.group_id = q.group_id),
sized AS (
    SELECT n.project, n.counted, n.wall_ns, n.known, n.unknown, n.sampled, n.sampled_wall_ns, n.m50, n.m90, n.m95, n.m99, n.m100, n.c50,
        n.c90, n.c95, n.c99, n.c100, n.pool, n.cpu_request_milli, n.request_gib, n.limit_mib, n.kills, n.suspected,
        n.failed, n.largest, n.killed, n.failed > n.m100 * (100 + n.margin) / 100.0 AS by_failed,
        n.step * (CAST(n.request AS INTEGER) + (n.request > CAST(n.request AS INTEGER))) AS new_request_mib,
        n.step * (CAST(max(n.largest, n.killed) AS INTEGER) + (max(n.largest, n.killed) > CAST(max(n.largest, n.killed) AS INTEGER)))
            AS new_limit_mib
    FROM needed n)
SELECT v.project, v.pool, round(v.limit_mib / 1024, 3), v.cpu_request_milli / 1000.0, v.known, v.unknown,
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
    round(100.0 * v.sampled / nullif(v.counted, 0), 1), round(100 * v.sampled_wall_ns / nullif(v.wall_ns, 0), 1)
FROM sized v CROSS JOIN at
ORDER BY v.project, v.pool, v.limit_mib, v.cpu_request_milli;

CREATE VIEW worker_sizing_by_run (
    -- The rows of worker_sizing of each run, by run: of all its digests, hits included.
    run,                  -- trace id
    pool,                 -- as worker names tell it; NULL: not known
    limit_gib,            -- memory limit in force; NULL: none, or not known
    cpu_request,          -- cores requested
    results,              -- results of workers whose memory is known
    unknown,              -- and of which it is not
    verdict,              -- on the limit: raise, lower, keep; limit not known; not enough data; NULL: a setting is missing
    -- Recommended: peak_max + setting sizing_margin_pct; after a kill at least the limit + sizing_oom_pct and
    -- + sizing_oom_mib; rounded up to sizing_step_mib. Never below the largest seen, failed_max included.
    new_limit_gib,
    -- Recommended: peak_p95 + sizing_margin_pct, rounded up to sizing_step_mib. Never below the largest seen, either,
    -- as a node that is full puts out who uses more than it requested.
    new_request_gib,
    new_cpu_request,      -- recommended: cores_p95; what is above is a burst, as there is no CPU limit
    reason,               -- of what is recommended, in words
    request_gib,          -- memory requested; where the pool's requests differ in it, the largest
    oom_kills,            -- kills for memory that containers of the pool and limit tell of
    peak_p50_gib,         -- median of the peaks
    peak_p90_gib,         -- 90th percentile of them
    peak_p95_gib,         -- 95th
    peak_p99_gib,         -- 99th
    peak_max_gib,         -- the largest one
    failed_max_gib,       -- the largest peak of those that failed, which are no results here: a lower bound where killed
    cores_p50,            -- median of average cores, each weighing as long as it ran
    cores_p90,            -- 90th percentile of them
    cores_p95,            -- 95th
    cores_p99,            -- 99th
    cores_max,            -- most average cores of one
    sampled_pct,          -- of those with usage: container sampled three times or more
    sampled_wall_pct      -- the same by wall time; elsewhere the largest process stands for the container
) AS
WITH at AS MATERIALIZED (SELECT least, margin, step, oom_pct, oom_mib, is_whole FROM _sizing_rule),
kills AS MATERIALIZED (SELECT run, pool, limit_bytes, sum(is_told) AS n, sum(NOT is_told) AS suspected FROM _pool_kill
    GROUP BY run, pool, limit_bytes),
failed AS MATERIALIZED (SELECT g.trace_id AS run, a.group_id, max(p.mib) AS mib
    FROM _failed_peak p JOIN run g ON g.run_id = p.run_id JOIN _allotment a ON a.allotment_id = ifnull(p.allotment_id, 0)
    GROUP BY 1, 2),
-- In steps, not yet rounded.
needed AS (
    SELECT q.run, q.counted, q.wall_ns, q.known, q.unknown, q.sampled, q.sampled_wall_ns, q.m50, q.m90, q.m95, q.m99, q.m100, q.c50, q.c90,
        q.c95, q.c99, q.c100, a.pool, a.cpu_request_milli, a.memory_request_bytes / 1073741824.0 AS request_gib,
        a.memory_limit_bytes / 1048576.0 AS limit_mib, ifnull(k.n, 0) AS kills, ifnull(k.suspected, 0) AS suspected,
        f.mib AS failed, at.step, at.margin,
        CASE WHEN q.known >= at.least THEN max(q.m95 * (100 + at.margin) / 100.0, 1.0 * q.m100, 1.0 * ifnull(f.mib, 0)) / at.step END AS request,
        CASE WHEN q.known >= at.least THEN max(q.m100 * (100 + at.margin) / 100.0, 1.0 * ifnull(f.mib, 0)) / at.step END AS largest,
        CASE WHEN k.n > 0 AND a.memory_limit_bytes IS NOT NULL THEN max(a.memory_limit_bytes / 1048576.0 * (100 + at.oom_pct) / 100.0,
            a.memory_limit_bytes / 1048576.0 + at.oom_mib) / at.step ELSE 0 END AS killed
    FROM _percentile_by_run q JOIN _allotment_group a ON a.group_id = q.group_id CROSS JOIN at
        LEFT JOIN kills k ON k.run = q.run AND k.pool IS a.pool AND k.limit_bytes IS a.memory_limit_bytes
        LEFT JOIN failed f ON f.run = q.run AND f.group_id = q.group_id),
sized AS (
    SELECT n.run, n.counted, n.wall_ns, n.known, n.unknown, n.sampled, n.sampled_wall_ns, n.m50, n.m90, n.m95, n.m99, n.m100, n.c50,
        n.c90, n.c95, n.c99, n.c100, n.pool, n.cpu_request_milli, n.request_gib, n.limit_mib, n.kills, n.suspected,
        n.failed, n.largest, n.killed, n.failed > n.m100 * (100 + n.margin) / 100.0 AS by_failed,
        n.step * (CAST(n.request AS INTEGER) + (n.request > CAST(n.request AS INTEGER))) AS new_request_mib,
        n.step * (CAST(max(n.largest, n.killed) AS INTEGER) + (max(n.largest, n.killed) > CAST(max(n.largest, n.killed) AS INTEGER)))
            AS new_limit_mib
    FROM needed n)
SELECT v.run, v.pool, round(v.limit_mib / 1024, 3), v.cpu_request_milli / 1000.0, v.known, v.unknown,
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
    round(100.0 * v.sampled / nullif(v.counted, 0), 1), round(100 * v.sampled_wall_ns / nullif(v.wall_ns, 0), 1)
FROM sized v CROSS JOIN at
ORDER BY v.run, v.pool, v.limit_mib, v.cpu_request_milli;

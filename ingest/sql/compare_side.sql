-- One row: what is known of the run :run. Its figures are of its digests with usage, hits included.
WITH item AS MATERIALIZED (SELECT * FROM _run_item WHERE run = :run),
cell AS MATERIALIZED (SELECT c.run FROM cells c WHERE c.invocation = :run),
executed AS MATERIALIZED (SELECT * FROM _invocation WHERE invocation = :run)
SELECT :run AS run, j.name AS project,
    strftime('%Y-%m-%d %H:%M:%f', ifnull(g.start_ns, e.first_ns) / 1000000 / 1000.0, 'unixepoch') AS started_utc,
    CASE WHEN g.run_id IS NULL THEN 'gone' WHEN g.complete THEN 'whole' ELSE 'incomplete' END AS log,
    k.variant, k.mode, (SELECT run FROM cell) AS pass, k.salt, k.tag,
    g.succeeded AS ok, round(g.duration_us / 1e6, 3) AS seconds,
    round((e.last_ns - e.first_ns) / 1e9, 3) AS executing_s,
    (SELECT count(*) FROM item) AS actions,
    (SELECT count(*) FROM item WHERE executed) AS executed,
    (SELECT count(*) FROM item WHERE hit) AS hits,
    (SELECT count(*) FROM item WHERE result_id IS NULL) AS unknown,
    CASE WHEN g.run_id IS NOT NULL THEN
        (SELECT count(*) FROM action a INDEXED BY action_failed WHERE a.run_id = g.run_id AND a.failed = 1) END AS failed,
    CASE WHEN g.run_id IS NOT NULL THEN
        (SELECT count(*) FROM _oom_kill o WHERE o.suspect AND o.run = :run) END AS suspected_kills,
    (SELECT round(sum(wall_ns) / 1e9, 3) FROM item) AS wall_s,
    (SELECT round(sum(cpu_ns) / 1e9, 3) FROM item) AS cpu_s,
    (SELECT round(1.0 * sum(cpu_ns) / nullif(sum(wall_ns), 0), 2) FROM item) AS avg_cores,
    (SELECT round(max(rss_bytes) / 1073741824.0, 2) FROM item) AS max_rss_gib,
    (SELECT round(min(limit_bytes) / 1073741824.0, 2) FROM item) AS min_limit_gib,
    (SELECT round(max(limit_bytes) / 1073741824.0, 2) FROM item) AS max_limit_gib
FROM (SELECT :run AS run) s
LEFT JOIN run g ON g.trace_id = s.run
LEFT JOIN executed e
JOIN run v ON v.run_id = ifnull(g.run_id, e.via_run_id)
JOIN project j ON j.project_id = v.project_id
LEFT JOIN _run_cell k ON k.run_id = v.run_id

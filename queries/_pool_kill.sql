CREATE VIEW _pool_kill (
    -- One row a kill for memory that a container tells of, of it or of a child that it survived; and one a failed
    -- attempt that is suspected to be one, of which no container tells.
    run,        -- see oom_kills, as the next two
    project, package,
    is_told,    -- 1: a container tells of it; 0: suspected
    pool,       -- of the worker whose pod it was, of a suspected one as it was allotted; NULL: not known
    limit_bytes -- memory limit of the container, of a suspected one as it was allotted; NULL: none, or not known
) AS
WITH pools AS MATERIALIZED (SELECT pod, pool FROM _worker)
SELECT k.run, k.project, k.package, k.is_told, iif(k.is_told, (SELECT w.pool FROM pools w WHERE w.pod = k.pod), a.pool),
    iif(k.is_told, CAST(k.limit_gib * 1073741824 AS INTEGER), a.memory_limit_bytes)
FROM (SELECT o.run, o.project, o.package, o.pod, o.limit_gib, o.verdict IN ('OOM killer', 'child killed, container survived') AS is_told,
        o.lookup_id, o.worker_id
    FROM _oom_kill o WHERE o.suspect) k
    LEFT JOIN allotment a ON NOT k.is_told AND a.allotment_id = (SELECT max(r.allotment_id) FROM result r
        WHERE r.lookup_id = k.lookup_id AND r.worker_id = k.worker_id);

CREATE VIEW _package_kill (
    -- The rows of _pool_kill that are of a package: the rule of _oom_kill for its verdict, without all that is shown of
    -- a kill.
    project_id, -- of the run
    package_id, -- of table package
    is_told, limit_bytes -- see _pool_kill
) AS
WITH told AS MATERIALIZED (SELECT result_id, meaning, is_ambiguous, looks FROM _kill_told),
pods AS MATERIALIZED (SELECT worker_id, pod FROM _worker)
SELECT g.project_id, t.package_id, k.is_told, CASE WHEN k.is_told
    THEN (SELECT u.limit_bytes FROM pods w JOIN _runner u ON u.pod = w.pod WHERE w.worker_id = k.worker_id)
    ELSE (SELECT o.memory_limit_bytes FROM allotment o WHERE o.allotment_id = (SELECT max(r.allotment_id) FROM result r
        WHERE r.lookup_id = k.lookup_id AND r.worker_id = k.worker_id)) END
FROM (SELECT f.run_id, f.name_id, f.lookup_id, f.worker_id, ifnull(d.meaning = 'oom' OR d.meaning <> 'sigkill' AND f.reason <> 'timeout', 0) AS is_told
    FROM _failed_known f LEFT JOIN told d ON d.result_id = f.result_id
        LEFT JOIN _kill_lost l ON l.run_id = f.run_id AND l.span_id = f.span_id AND l.idx = f.idx
    WHERE d.meaning IS 'oom' OR f.reason <> 'timeout' AND (d.result_id IS NOT NULL OR l.run_id IS NOT NULL OR f.evidence_action IS NOT NULL
        OR f.reason <> 'cancelled' AND EXISTS (SELECT 1 FROM oom_pattern p
            WHERE instr(f.stderr, p.pattern) OR instr(f.error, p.pattern) OR instr(f.action_error, p.pattern)))
    UNION ALL
    SELECT r.first_run_id, r.name_id, r.lookup_id, r.worker_id, ifnull(d.meaning <> 'sigkill', 0)
    FROM told d JOIN result r ON r.result_id = d.result_id WHERE r.source = 1 AND (d.looks > 0 OR d.meaning IS NOT NULL)) k
    JOIN run g ON g.run_id = k.run_id JOIN action_name n ON n.name_id = k.name_id JOIN target t ON t.target_id = n.target_id;

CREATE VIEW _kill_shown (
    -- One row an execution that was killed for memory, or is suspected to be: the rule of _oom_kill for its verdict, without
    -- all that is shown of a kill.
    run_id,  -- of the execution, as the next three
    name_id, result_id, worker_id,
    is_told  -- 1: a container tells of it, of it or of a child that it survived; 0: suspected
) AS
WITH told AS MATERIALIZED (SELECT result_id, meaning, is_ambiguous, looks FROM _kill_told)
SELECT f.run_id, f.name_id, f.result_id, f.worker_id, ifnull(d.meaning = 'oom' OR d.meaning <> 'sigkill' AND f.reason <> 'timeout', 0)
FROM _failed_known f LEFT JOIN told d ON d.result_id = f.result_id
    LEFT JOIN _kill_lost l ON l.run_id = f.run_id AND l.span_id = f.span_id AND l.idx = f.idx
WHERE d.meaning IS 'oom' OR f.reason <> 'timeout' AND (d.result_id IS NOT NULL OR l.run_id IS NOT NULL OR f.evidence_action IS NOT NULL
    OR f.reason <> 'cancelled' AND EXISTS (SELECT 1 FROM oom_pattern p
        WHERE instr(f.stderr, p.pattern) OR instr(f.error, p.pattern) OR instr(f.action_error, p.pattern)))
UNION ALL
SELECT r.first_run_id, r.name_id, r.result_id, r.worker_id, ifnull(d.meaning <> 'sigkill', 0)
FROM told d JOIN result r ON r.result_id = d.result_id WHERE r.source = 1 AND (d.looks > 0 OR d.meaning IS NOT NULL);

CREATE VIEW _pool_kill (
    -- One row a kill for memory that a container tells of, of it or of a child that it survived; and one a failed
    -- attempt that is suspected to be one, of which no container tells.
    run,        -- trace id; of a kill without an action if all whom it may belong to agree
    project,    -- likewise, its name
    is_told,    -- 1: a container tells of it; 0: suspected
    pool,       -- of the worker whose pod it was, of a suspected one as it was allotted; NULL: not known
    limit_bytes -- memory limit of the container, of a suspected one as it was allotted; NULL: none, or not known
) AS
WITH workers AS MATERIALIZED (SELECT worker_id, pod, pool FROM _worker)
SELECT g.trace_id, j.name, k.is_told, iif(k.is_told, w.pool, a.pool),
    iif(k.is_told, (SELECT u.limit_bytes FROM _runner u WHERE u.pod = w.pod), a.memory_limit_bytes)
FROM _kill_shown k JOIN run g ON g.run_id = k.run_id JOIN project j ON j.project_id = g.project_id
    LEFT JOIN workers w ON k.is_told AND w.worker_id = k.worker_id
    LEFT JOIN allotment a ON NOT k.is_told AND a.allotment_id = (SELECT r.allotment_id FROM result r WHERE r.result_id = k.result_id)
UNION ALL
SELECT k.run, (SELECT j.name FROM project j WHERE j.project_id = k.project_id), k.meaning <> 'sigkill',
    iif(k.meaning <> 'sigkill', (SELECT w.pool FROM workers w WHERE w.pod = k.pod), NULL), iif(k.meaning <> 'sigkill', k.limit_bytes, NULL)
FROM _kill_alone k;

CREATE VIEW _package_kill (
    -- The rows of _pool_kill that are of a package.
    project_id, -- of the run
    package_id, -- of table package
    is_told, limit_bytes -- see _pool_kill
) AS
WITH workers AS MATERIALIZED (SELECT worker_id, pod FROM _worker)
SELECT g.project_id, t.package_id, k.is_told, CASE WHEN k.is_told
    THEN (SELECT u.limit_bytes FROM workers w JOIN _runner u ON u.pod = w.pod WHERE w.worker_id = k.worker_id)
    ELSE (SELECT o.memory_limit_bytes FROM result r JOIN allotment o ON o.allotment_id = r.allotment_id WHERE r.result_id = k.result_id) END
FROM _kill_shown k JOIN run g ON g.run_id = k.run_id JOIN action_name n ON n.name_id = k.name_id JOIN target t ON t.target_id = n.target_id;

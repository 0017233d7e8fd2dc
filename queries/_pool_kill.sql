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

CREATE VIEW _pool_kill (
    -- One row a kill for memory that a container tells of: of it or of a child that it survived.
    run,        -- see oom_kills, as the next two
    project, package,
    pool,       -- of the worker whose pod it was; NULL: no known execution ran there
    limit_bytes -- memory limit of the container; NULL: none, or not known
) AS
SELECT k.run, k.project, k.package, (SELECT w.pool FROM _worker w WHERE w.pod = k.pod), CAST(k.limit_gib * 1073741824 AS INTEGER)
FROM _oom_kill k WHERE k.verdict IN ('OOM killer', 'child killed, container survived');

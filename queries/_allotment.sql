CREATE VIEW _allotment (
    -- What executions were given, one row an allotment; and one, of id 0, for those of which it is not known.
    -- Figures are put together within a group: same pool, memory limit and requested cores.
    allotment_id,         -- of table allotment; 0: not known
    group_id,             -- the smallest allotment_id of its group
    pool,                 -- NULL: the worker tells none
    cpu_request_milli,    -- thousandths of a core
    memory_request_bytes,
    memory_limit_bytes    -- NULL: none, or not known
) AS
SELECT allotment_id, min(allotment_id) OVER (PARTITION BY pool, memory_limit_bytes, cpu_request_milli),
    pool, cpu_request_milli, memory_request_bytes, memory_limit_bytes
FROM (SELECT allotment_id, pool, cpu_request_milli, memory_request_bytes, memory_limit_bytes FROM allotment
    UNION ALL SELECT 0, NULL, NULL, NULL, NULL);

CREATE VIEW _allotment_group (
    -- One row a group of _allotment.
    group_id, -- see _allotment, as the next three
    pool, cpu_request_milli, memory_limit_bytes,
    memory_request_bytes  -- the largest in the group
) AS
SELECT group_id, pool, cpu_request_milli, memory_limit_bytes, max(memory_request_bytes) FROM _allotment GROUP BY group_id;

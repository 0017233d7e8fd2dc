CREATE VIEW waste (
    -- One row a pool, memory limit in force and requested cores, by pool and limit: what executions held of their
    -- workers against what they used. Counted results, each digest once. Time in which a worker waited for
    -- work is in no row; a worker that runs several actions at a time is counted several times.
    pool,             -- as worker names tell it; NULL: not known
    limit_gib,        -- memory limit in force; NULL: none, or not known
    cpu_request,      -- cores requested
    results,          -- counted results of which all below is known
    unknown,          -- and the others: no allotment, times or memory is known, or the clocks disagree
    busy_h,           -- fetch + run + upload of the results: how long they held a worker, hours; NULL, as all
                      -- below, where there is none
    requested_core_h, -- cores requested times that, the pod's other containers included (setting pod_overhead_cpu); of
                      -- whole pods, their start and idle time included: br2-ingest plan
    used_core_h,      -- their CPU time
    used_core_pct,    -- of the requested; over 100: bursts
    requested_gib_h,  -- memory requested times that, likewise (pod_overhead_gib)
    used_gib_h,       -- their peaks times their wall time: as if it were needed throughout, so rather too much
    used_gib_pct      -- of the requested
) AS
SELECT a.pool, round(a.memory_limit_bytes / 1073741824.0, 3), a.cpu_request_milli / 1000.0, v.n, v.unknown, CASE WHEN v.n > 0 THEN round(v.busy_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.core_ns / 3.6e12, 3) END,
    CASE WHEN v.n > 0 THEN round(v.cpu_ns / 3.6e12, 3) END, round(100 * v.cpu_ns / nullif(v.core_ns, 0), 1),
    CASE WHEN v.n > 0 THEN round(v.gib_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.used_gib_ns / 3.6e12, 3) END,
    round(100 * v.used_gib_ns / nullif(v.gib_ns, 0), 1)
FROM (SELECT g.group_id, sum(CASE WHEN h.cores IS NOT NULL THEN u.known ELSE 0 END) AS n,
        sum(u.results - CASE WHEN h.cores IS NOT NULL THEN u.known ELSE 0 END) AS unknown,
        total(CASE WHEN h.cores IS NOT NULL THEN u.busy_ns END) AS busy_ns, total(u.busy_ns * h.cores) AS core_ns,
        total(CASE WHEN h.cores IS NOT NULL THEN u.cpu_ns END) AS cpu_ns, total(u.busy_ns * h.gib) AS gib_ns,
        total(CASE WHEN h.cores IS NOT NULL THEN u.gib_ns END) AS used_gib_ns
    FROM _busy_sum u JOIN _allotment g ON g.allotment_id = u.allotment_id LEFT JOIN _held h ON h.allotment_id = u.allotment_id
    GROUP BY g.group_id) v JOIN _allotment_group a ON a.group_id = v.group_id
ORDER BY a.pool, a.memory_limit_bytes, a.cpu_request_milli;

CREATE VIEW waste_by_project (
    -- One row a project, by name: what its executions held of their workers against what they used, as in waste. A
    -- digest belongs to the project of its first reference.
    project,          -- name
    results,          -- counted results of which all below is known
    unknown,          -- and the others: no allotment, times or memory is known, or the clocks disagree
    busy_h,           -- fetch + run + upload of the results: how long they held a worker, hours; NULL, as all
                      -- below, where there is none
    requested_core_h, -- cores requested times that, the pod's other containers included (setting pod_overhead_cpu); of
                      -- whole pods, their start and idle time included: br2-ingest plan
    used_core_h,      -- their CPU time
    used_core_pct,    -- of the requested; over 100: bursts
    requested_gib_h,  -- memory requested times that, likewise (pod_overhead_gib)
    used_gib_h,       -- their peaks times their wall time: as if it were needed throughout, so rather too much
    used_gib_pct      -- of the requested
) AS
SELECT v.project, v.n, v.unknown, CASE WHEN v.n > 0 THEN round(v.busy_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.core_ns / 3.6e12, 3) END,
    CASE WHEN v.n > 0 THEN round(v.cpu_ns / 3.6e12, 3) END, round(100 * v.cpu_ns / nullif(v.core_ns, 0), 1),
    CASE WHEN v.n > 0 THEN round(v.gib_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.used_gib_ns / 3.6e12, 3) END,
    round(100 * v.used_gib_ns / nullif(v.gib_ns, 0), 1)
FROM (SELECT j.name AS project, sum(CASE WHEN h.cores IS NOT NULL THEN u.known ELSE 0 END) AS n,
        sum(u.results - CASE WHEN h.cores IS NOT NULL THEN u.known ELSE 0 END) AS unknown,
        total(CASE WHEN h.cores IS NOT NULL THEN u.busy_ns END) AS busy_ns, total(u.busy_ns * h.cores) AS core_ns,
        total(CASE WHEN h.cores IS NOT NULL THEN u.cpu_ns END) AS cpu_ns, total(u.busy_ns * h.gib) AS gib_ns,
        total(CASE WHEN h.cores IS NOT NULL THEN u.gib_ns END) AS used_gib_ns
    FROM project j JOIN _busy_sum u ON u.project_id = j.project_id LEFT JOIN _held h ON h.allotment_id = u.allotment_id
    GROUP BY j.name) v
ORDER BY v.project;

CREATE VIEW waste_by_package (
    -- One row a package, by name: what its executions held of their workers against what they used, as in waste.
    package,          -- the target's name
    results,          -- counted results of which all below is known
    unknown,          -- and the others: no allotment, times or memory is known, or the clocks disagree
    busy_h,           -- fetch + run + upload of the results: how long they held a worker, hours; NULL, as all
                      -- below, where there is none
    requested_core_h, -- cores requested times that, the pod's other containers included (setting pod_overhead_cpu); of
                      -- whole pods, their start and idle time included: br2-ingest plan
    used_core_h,      -- their CPU time
    used_core_pct,    -- of the requested; over 100: bursts
    requested_gib_h,  -- memory requested times that, likewise (pod_overhead_gib)
    used_gib_h,       -- their peaks times their wall time: as if it were needed throughout, so rather too much
    used_gib_pct      -- of the requested
) AS
SELECT v.package, v.n, v.unknown, CASE WHEN v.n > 0 THEN round(v.busy_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.core_ns / 3.6e12, 3) END,
    CASE WHEN v.n > 0 THEN round(v.cpu_ns / 3.6e12, 3) END, round(100 * v.cpu_ns / nullif(v.core_ns, 0), 1),
    CASE WHEN v.n > 0 THEN round(v.gib_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.used_gib_ns / 3.6e12, 3) END,
    round(100 * v.used_gib_ns / nullif(v.gib_ns, 0), 1)
FROM (SELECT p.name AS package, count(s.is_known) AS n, count(*) - count(s.is_known) AS unknown, total(s.busy_ns) AS busy_ns, total(s.busy_ns * s.held_cores) AS core_ns,
        total(s.cpu_ns) AS cpu_ns, total(s.busy_ns * s.held_gib) AS gib_ns, total(s.gib_ns) AS used_gib_ns
    FROM package p JOIN _spent s ON s.package_id = p.package_id GROUP BY p.name) v
ORDER BY v.package;

CREATE VIEW waste_by_invocation (
    -- One row an invocation that executed results, whether its log is known or not, by its id: what these held of
    -- their workers against what they used, as in waste. The results of which it is not said have a row, too.
    invocation,       -- its trace id; NULL: not said
    results,          -- counted results of which all below is known
    unknown,          -- and the others: no allotment, times or memory is known, or the clocks disagree
    busy_h,           -- fetch + run + upload of the results: how long they held a worker, hours; NULL, as all
                      -- below, where there is none
    requested_core_h, -- cores requested times that, the pod's other containers included (setting pod_overhead_cpu); of
                      -- whole pods, their start and idle time included: br2-ingest plan
    used_core_h,      -- their CPU time
    used_core_pct,    -- of the requested; over 100: bursts
    requested_gib_h,  -- memory requested times that, likewise (pod_overhead_gib)
    used_gib_h,       -- their peaks times their wall time: as if it were needed throughout, so rather too much
    used_gib_pct      -- of the requested
) AS
SELECT v.invocation, v.n, v.unknown, CASE WHEN v.n > 0 THEN round(v.busy_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.core_ns / 3.6e12, 3) END,
    CASE WHEN v.n > 0 THEN round(v.cpu_ns / 3.6e12, 3) END, round(100 * v.cpu_ns / nullif(v.core_ns, 0), 1),
    CASE WHEN v.n > 0 THEN round(v.gib_ns / 3.6e12, 3) END, CASE WHEN v.n > 0 THEN round(v.used_gib_ns / 3.6e12, 3) END,
    round(100 * v.used_gib_ns / nullif(v.gib_ns, 0), 1)
FROM (SELECT q.invocation, count(s.is_known) AS n, count(*) - count(s.is_known) AS unknown, total(s.busy_ns) AS busy_ns, total(s.busy_ns * s.held_cores) AS core_ns,
        total(s.cpu_ns) AS cpu_ns, total(s.busy_ns * s.held_gib) AS gib_ns, total(s.gib_ns) AS used_gib_ns
    -- In the order of the table of results, not of the workers in the index: pages are read once.
    FROM request q CROSS JOIN _spent s ON s.result_id IN (SELECT r.result_id FROM result r WHERE r.request_id = q.request_id)
    WHERE q.invocation IS NOT NULL GROUP BY q.invocation
    UNION ALL
    SELECT NULL, count(s.is_known) AS n, count(*) - count(s.is_known) AS unknown, total(s.busy_ns) AS busy_ns, total(s.busy_ns * s.held_cores) AS core_ns,
        total(s.cpu_ns) AS cpu_ns, total(s.busy_ns * s.held_gib) AS gib_ns, total(s.gib_ns) AS used_gib_ns
    FROM (SELECT request_id, invocation FROM request WHERE invocation IS NULL UNION ALL SELECT NULL, NULL) q
        CROSS JOIN _spent s ON s.request_id IS q.request_id GROUP BY q.invocation) v
ORDER BY v.invocation;

CREATE VIEW summary (
    -- The whole file in one row. The sums count results of the action cache with usage, each digest
    -- once, whichever runs hit it; digests - with_usage - only_historical are the rows of
    -- missing_results.
    runs,       -- runs whose log was read
    actions,    -- ended actions of these runs, local ones and those without a command included
    tests,      -- ended test runs and test listings
    in_flight,  -- started and not ended in what was read of their log
    digests,    -- distinct digests of remote commands, tests' included
    with_usage, -- of these, with a result and its usage in the action cache
    wall_h,     -- their wall time, hours
    cpu_h,      -- their CPU time, hours
    avg_cores,  -- cpu / wall, where both are known: the average while running
    only_historical -- digests whose only result is that of a failed execution, which no sum counts
) AS
SELECT (SELECT count(*) FROM run), (SELECT ifnull(sum(actions), 0) FROM action_count WHERE type = 1),
    (SELECT ifnull(sum(actions), 0) FROM action_count WHERE type <> 1), (SELECT count(*) FROM in_flight), (SELECT count(*) FROM lookup),
    ifnull(sum(s.results), 0), round(total(s.wall_s * 1e9 + s.wall_rest_ns) / 3.6e12, 2), round(total(s.cpu_s * 1e9 + s.cpu_rest_ns) / 3.6e12, 2),
    round(total(s.cpu_s * 1e9 + s.cpu_rest_ns) FILTER (WHERE s.bucket >= 0) / nullif(total(s.wall_s * 1e9 + s.wall_rest_ns), 0), 2),
    (SELECT count(DISTINCT h.lookup_id) FROM result h INDEXED BY result_historical WHERE h.source = 2
        AND NOT EXISTS (SELECT 1 FROM result a WHERE a.lookup_id = h.lookup_id AND a.source = 1))
FROM bucket_sum s;

CREATE VIEW summary_by_project (
    -- One row a project, by name. A digest belongs to the project of its first reference, so the
    -- rows add up to summary.
    project,    -- name
    runs,       -- its runs whose log was read
    actions,    -- ended actions of these runs
    tests,      -- ended test runs and test listings of these runs
    in_flight,  -- started and not ended in what was read of their log
    digests,    -- distinct digests of remote commands
    with_usage, -- of these, with a result and its usage in the action cache
    wall_h,     -- their wall time, hours
    cpu_h,      -- their CPU time, hours
    avg_cores,  -- cpu / wall, where both are known: the average while running
    only_historical -- digests whose only result is that of a failed execution, which no sum counts
) AS
SELECT p.name, (SELECT count(*) FROM run r WHERE r.project_id = p.project_id),
    (SELECT ifnull(sum(a.actions), 0) FROM run r JOIN action_count a ON a.run_id = r.run_id WHERE a.type = 1 AND r.project_id = p.project_id),
    (SELECT ifnull(sum(a.actions), 0) FROM run r JOIN action_count a ON a.run_id = r.run_id WHERE a.type <> 1 AND r.project_id = p.project_id),
    (SELECT count(*) FROM run r JOIN in_flight f ON f.run_id = r.run_id WHERE r.project_id = p.project_id),
    -- Found or not: a digest without a result is a row of lookup only.
    count(s.cpu_ns) + (SELECT count(*) FROM result u WHERE u.source = 1 AND u.cpu_ns IS NULL AND +u.project_id = p.project_id)
        + (SELECT count(*) FROM lookup l JOIN run r ON r.run_id = l.first_run_id
            WHERE l.state <> 1 AND r.project_id = p.project_id),
    count(s.cpu_ns), round(total(s.wall_ns) / 3.6e12, 2), round(total(s.cpu_ns) / 3.6e12, 2),
    round(total(s.cpu_ns) FILTER (WHERE s.wall_ns IS NOT NULL) / nullif(total(s.wall_ns), 0), 2),
    (SELECT count(DISTINCT h.lookup_id) FROM result h INDEXED BY result_historical WHERE h.source = 2
        AND h.project_id = p.project_id
        AND NOT EXISTS (SELECT 1 FROM result a WHERE a.lookup_id = h.lookup_id AND a.source = 1))
-- The plus signs keep SQLite from making an index of its own for the join, which costs more than the scan.
FROM project p LEFT JOIN result s NOT INDEXED
    ON +s.project_id = p.project_id AND s.source = 1 AND s.cpu_ns IS NOT NULL
WHERE EXISTS (SELECT 1 FROM run r WHERE r.project_id = p.project_id)
GROUP BY p.name ORDER BY p.name;

CREATE VIEW summary_by_run (
    -- One row a run, latest first. What the run needed, hits included: each digest once a run, so
    -- rows do not add up to summary. What a run spent itself is in executions.
    run,        -- trace id
    project,    -- of the run
    actions,    -- its ended actions
    tests,      -- its ended test runs and test listings
    in_flight,  -- started and not ended in what was read of its log
    digests,    -- distinct digests of its remote commands
    with_usage, -- of these, with a result and its usage in the action cache
    wall_h,     -- their wall time, hours
    cpu_h,      -- their CPU time, hours
    avg_cores,  -- cpu / wall, where both are known: the average while running
    only_historical -- digests whose only result is that of a failed execution, which no sum counts
) AS
SELECT g.trace_id, (SELECT j.name FROM project j WHERE j.project_id = g.project_id),
    (SELECT ifnull(sum(x.actions), 0) FROM action_count x WHERE x.run_id = g.run_id AND x.type = 1),
    (SELECT ifnull(sum(x.actions), 0) FROM action_count x WHERE x.run_id = g.run_id AND x.type <> 1),
    (SELECT count(*) FROM in_flight f WHERE f.run_id = g.run_id),
    count(a.lookup_id), count(s.lookup_id), round(total(s.wall_ns) / 3.6e12, 2), round(total(s.cpu_ns) / 3.6e12, 2),
    round(total(s.cpu_ns) FILTER (WHERE s.wall_ns IS NOT NULL) / nullif(total(s.wall_ns), 0), 2),
    count(a.lookup_id) FILTER (WHERE s.lookup_id IS NULL
        AND EXISTS (SELECT 1 FROM result h WHERE h.lookup_id = a.lookup_id AND h.source = 2)
        AND NOT EXISTS (SELECT 1 FROM result c WHERE c.lookup_id = a.lookup_id AND c.source = 1))
FROM run g LEFT JOIN attempt a ON a.run_id = g.run_id AND a.lookup_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attempt e
        WHERE e.lookup_id = a.lookup_id AND e.run_id = a.run_id AND (e.span_id, e.idx) < (a.span_id, a.idx))
    LEFT JOIN result s ON s.lookup_id = a.lookup_id AND s.source = 1 AND s.cpu_ns IS NOT NULL
GROUP BY g.trace_id ORDER BY g.start_ns DESC, g.trace_id;

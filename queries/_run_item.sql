CREATE VIEW _comparable (
    -- The runs that can be compared: those whose log was read, and invocations that executed results.
    run -- trace id: a filter on it is a search
) AS
SELECT trace_id FROM run
UNION ALL
SELECT DISTINCT q.invocation FROM request q
WHERE q.invocation IS NOT NULL AND q.results > 0 AND NOT EXISTS (SELECT 1 FROM run g WHERE g.trace_id = q.invocation);

CREATE VIEW _run_item (
    -- What a run is compared by: one row a digest of the run, hits included, and one an action of it that ran
    -- a command and asked for no digest. An invocation that executed results and whose log is gone is a run,
    -- too: of it the results in the action cache are all that is known. A filter on run is a search.
    run,                       -- trace id
    project_id,                -- of the run; of one whose log is gone that of the digest's first reference
    package_id,                -- of the action in that run, as the names that follow
    category_id, identifier,
    lookup_id,                 -- NULL: no digest
    result_id,                 -- its counted result, of known wall time; NULL: none is known, nor what follows
    wall_ns, cpu_ns, rss_bytes,
    limit_bytes,               -- memory limit that it ran under; NULL: not known
    executed,                  -- 1: that result is of this very run; 0: of another
    hit                        -- 1: the run was served from a cache; 0: not, as far as the log knows
) AS
SELECT c.run, ifnull(g.project_id, e.project_id), t.package_id, n.category_id, n.identifier, ifnull(a.lookup_id, e.lookup_id),
    r.result_id, r.wall_ns, r.cpu_ns, r.max_rss_bytes, o.memory_limit_bytes,
    CASE WHEN e.result_id IS NOT NULL THEN 1
        -- As run_usage has it.
        WHEN k.invocation IS NOT NULL THEN k.invocation = c.run
        WHEN a.lookup_id IS NOT NULL AND a.cache_hit > 0 THEN 0
        WHEN r.result_id IS NOT NULL THEN (SELECT m.execution_start_ns FROM _time m WHERE m.result_id = r.result_id) BETWEEN
            g.start_ns - (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
            AND g.start_ns + g.duration_us * 1000 + (SELECT value FROM setting WHERE key = 'executed_tolerance_s') * 1000000000
    END,
    ifnull(a.lookup_id IS NOT NULL AND a.cache_hit > 0, 0)
-- All in one, with no UNION ALL of logs and what is left without: so whoever groups the rows of a run reads no others.
FROM _comparable c LEFT JOIN run g ON g.trace_id = c.run LEFT JOIN attempt a ON a.run_id = g.run_id
    LEFT JOIN action x ON x.run_id = a.run_id AND x.span_id = a.span_id
    LEFT JOIN request q ON q.invocation = CASE WHEN g.run_id IS NULL THEN c.run END
    LEFT JOIN result e ON e.request_id = q.request_id AND e.source = 1
    CROSS JOIN action_name n ON n.name_id = ifnull(x.name_id, e.name_id) CROSS JOIN target t ON t.target_id = n.target_id
    LEFT JOIN result r ON r.lookup_id = ifnull(a.lookup_id, e.lookup_id) AND r.source = 1 AND r.cpu_ns IS NOT NULL
        AND r.wall_ns IS NOT NULL
    LEFT JOIN request k ON k.request_id = r.request_id LEFT JOIN allotment o ON o.allotment_id = r.allotment_id
WHERE CASE WHEN a.run_id IS NULL THEN 1
    -- As _run_digest has it.
    WHEN a.lookup_id IS NOT NULL THEN NOT EXISTS (SELECT 1 FROM attempt f
        WHERE f.lookup_id = a.lookup_id AND f.run_id = a.run_id AND (f.span_id, f.idx) < (a.span_id, a.idx))
    ELSE NOT EXISTS (SELECT 1 FROM attempt f
        WHERE f.run_id = a.run_id AND f.span_id = a.span_id AND (f.lookup_id IS NOT NULL OR f.idx < a.idx)) END;

CREATE VIEW _execution (
    -- The counted results, with who executed them.
    result_id,   -- of table result
    executor,    -- trace id: as the worker says, else of the run that refers to it first
    is_named,    -- 1: the worker says it
    project_id, package_id, target_id, category_id, identifier, -- of the digest's first reference
    wall_ns, cpu_ns, rss_bytes,
    limit_bytes, -- memory limit that it ran under; NULL: not known
    request_id, first_run_id
) AS
SELECT r.result_id, ifnull(q.invocation, f.trace_id), q.invocation IS NOT NULL, r.project_id, r.package_id, n.target_id,
    n.category_id, n.identifier, r.wall_ns, r.cpu_ns, r.max_rss_bytes, o.memory_limit_bytes, r.request_id, r.first_run_id
-- The limit first: of a package most executions ran under others than the one that is asked for.
FROM result r LEFT JOIN allotment o ON o.allotment_id = r.allotment_id JOIN action_name n ON n.name_id = r.name_id
    JOIN run f ON f.run_id = r.first_run_id LEFT JOIN request q ON q.request_id = r.request_id
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL;

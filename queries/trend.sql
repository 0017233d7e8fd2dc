CREATE VIEW trend (
    -- A package over time: one row a label and invocation that executed something of it (and memory limit, across
    -- which figures are not compared), in no order. Counted results, hits not: they are where they were executed.
    -- Filter package, label or project; ORDER BY started_utc to plot.
    project,     -- of the digests' first references
    package,     -- the target's name
    label,       -- cell//path:name: wrapped and native builds of a package have two
    invocation,  -- trace id of the run that executed it, whose log may be gone
    is_named,    -- 1: the workers name it; 0: they name none, and it is the run that refers to the results first
    variant,     -- of that run; where its log is gone, of a run that refers to the results first, as the next two
    mode,        -- remote, remote-cache
    salt,        -- of the cell
    started_utc, -- start of that run; where its log is gone, first known time of its first result
    actions,     -- results with usage
    unknown,     -- results without: the worker told none
    wall_s,      -- wall time of these actions, seconds
    cpu_s,       -- user + system, seconds
    cores,       -- cpu / wall, where both are known: an average
    longest_s,   -- longest wall time of one, seconds
    max_rss_gib, -- largest single process of any of them, never a sum
    limit_gib    -- memory limit that they ran under; NULL: not known
) AS
SELECT v.project, v.package, v.label, v.invocation, v.is_named, k.variant, k.mode, k.salt,
    strftime('%Y-%m-%d %H:%M:%f', CASE WHEN g.trace_id = v.invocation THEN g.start_ns ELSE v.first_ns END / 1000000 / 1000.0, 'unixepoch'),
    v.n, v.results - v.n, round(v.wall / 1e9, 3), round(v.cpu / 1e9, 3), round(v.timed / nullif(v.wall, 0), 2),
    round(v.longest / 1e9, 3), round(v.rss / 1073741824.0, 3), round(v.limit_bytes / 1073741824.0, 3)
FROM (SELECT j.name AS project, p.name AS package, t.label, ifnull(q.invocation, f.trace_id) AS invocation,
        max(q.invocation IS NOT NULL) AS is_named, min(f.trace_id) AS via, min(q.first_ns) AS first_ns, count(r.cpu_ns) AS n,
        count(*) AS results,
        -- Reals: the sum of integers that a server made up could overflow. Without a known one: unknown.
        CASE WHEN count(r.cpu_ns) > 0 THEN total(CASE WHEN r.cpu_ns IS NOT NULL THEN r.wall_ns END) END AS wall,
        CASE WHEN count(r.cpu_ns) > 0 THEN total(r.cpu_ns) END AS cpu, total(r.cpu_ns) FILTER (WHERE r.wall_ns IS NOT NULL) AS timed,
        max(CASE WHEN r.cpu_ns IS NOT NULL THEN r.wall_ns END) AS longest,
        max(CASE WHEN r.cpu_ns IS NOT NULL THEN r.max_rss_bytes END) AS rss, o.memory_limit_bytes AS limit_bytes
    FROM package p JOIN result r ON r.package_id = p.package_id AND r.source = 1 JOIN action_name n ON n.name_id = r.name_id
        JOIN target t ON t.target_id = n.target_id AND t.package_id = p.package_id
        JOIN project j ON j.project_id = r.project_id JOIN run f ON f.run_id = r.first_run_id
        LEFT JOIN request q ON q.request_id = r.request_id LEFT JOIN allotment o ON o.allotment_id = r.allotment_id
    GROUP BY j.name, p.name, t.label, ifnull(q.invocation, f.trace_id), o.memory_limit_bytes) v
    LEFT JOIN run g ON g.trace_id = ifnull((SELECT e.trace_id FROM run e WHERE e.trace_id = v.invocation), v.via)
    LEFT JOIN _run_cell k ON k.run_id = g.run_id;

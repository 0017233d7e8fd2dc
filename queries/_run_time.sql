CREATE VIEW _run_time (
    -- One row a run that had something executed remotely: from when to when the cluster worked for it.
    -- Both clocks are in it: the daemon's for the run, the workers' for what they executed.
    run_id,  -- of table run
    cache,   -- the user's name for the cluster
    from_ns, -- start of the run or of its first execution, the earlier one; NULL: not known
    to_ns    -- end of the run or of its last execution, the later one; NULL: not known
) AS
SELECT g.run_id, i.cache,
    ifnull((SELECT min(min(a.start_ns, ifnull(g.start_ns, a.start_ns))) FROM attempt a
        WHERE a.run_id = g.run_id AND a.kind = 2 AND ifnull(a.cache_hit, 0) = 0), g.start_ns),
    ifnull((SELECT max(max(a.start_ns + ifnull(a.wall_us, 0) * 1000, ifnull(g.start_ns + g.duration_us * 1000, a.start_ns)))
        FROM attempt a WHERE a.run_id = g.run_id AND a.kind = 2 AND ifnull(a.cache_hit, 0) = 0),
        g.start_ns + g.duration_us * 1000)
FROM run g JOIN instance i ON i.instance_id = g.instance_id
WHERE EXISTS (SELECT 1 FROM attempt a WHERE a.run_id = g.run_id AND a.kind = 2 AND ifnull(a.cache_hit, 0) = 0);

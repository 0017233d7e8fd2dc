-- Invocations that executed something, and that belong to a run of the scope. :runs is
-- a JSON array of run_ids. One invocation is of one cluster.
SELECT e.invocation, j.name, c.salt, e.run_id IS NOT NULL, (
        SELECT i.cache
        FROM request q
        JOIN result r ON r.request_id = q.request_id
        JOIN lookup l ON l.lookup_id = r.lookup_id
        JOIN instance i ON i.instance_id = l.instance_id
        WHERE q.invocation = e.invocation
        LIMIT 1)
FROM _invocation e
JOIN run g ON g.run_id = e.via_run_id
JOIN project j ON j.project_id = g.project_id
LEFT JOIN _run_cell c ON c.run_id = g.run_id
WHERE e.via_run_id IN (SELECT value FROM json_each(:runs))
ORDER BY e.first_ns DESC, e.invocation

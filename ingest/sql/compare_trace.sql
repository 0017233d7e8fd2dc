-- The runs whose trace id begins so, with what helps to tell them apart.
SELECT c.run,
    strftime('%Y-%m-%d %H:%M:%S', coalesce(g.start_ns,
        (SELECT min(q.first_ns) FROM request q WHERE q.invocation = c.run)) / 1000000000, 'unixepoch') AS started_utc,
    ifnull((SELECT j.name FROM project j WHERE j.project_id = g.project_id), 'its log is gone') AS project
FROM _comparable c LEFT JOIN run g ON g.trace_id = c.run
WHERE c.run GLOB :word || '*'
ORDER BY 2, 1

-- What the scope amounts to: the only run, whether it is all of the file, all of its projects.
SELECT (SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope) AND (SELECT count(*) FROM scope) = 1) AS run,
    NOT EXISTS (SELECT 1 FROM run WHERE run_id NOT IN (SELECT run_id FROM scope)) AS is_whole,
    EXISTS (SELECT 1 FROM run o WHERE o.run_id NOT IN (SELECT run_id FROM scope) AND o.project_id IN
        (SELECT g.project_id FROM run g WHERE g.run_id IN (SELECT run_id FROM scope))) AS is_part,
    (SELECT value * 1.0 FROM setting WHERE key = 'heavy_wall_s') AS heavy_wall_s,
    (SELECT value * 1.0 FROM setting WHERE key = 'heavy_cores') AS heavy_cores,
    (SELECT value * 1.0 FROM setting WHERE key = 'heavy_cores_min_s') AS heavy_cores_min_s,
    (SELECT strftime('%Y-%m-%d %H:%M', min(start_ns) / 1000000000, 'unixepoch') FROM run WHERE run_id IN (SELECT run_id FROM scope)) AS first_utc,
    (SELECT strftime('%Y-%m-%d %H:%M', max(start_ns) / 1000000000, 'unixepoch') FROM run WHERE run_id IN (SELECT run_id FROM scope)) AS last_utc

, bad(records) AS (
    SELECT ifnull(f.malformed, 0) + ifnull(f.too_large, 0)
    FROM log_file f
    WHERE (f.ending = 'broken' OR f.malformed > 0 OR f.too_large > 0) AND f.log_file_id IN
        (SELECT log_file_id FROM run_log WHERE run_id IN (SELECT run_id FROM scope))),
gone(lookup_id) AS MATERIALIZED (
    SELECT lookup_id
    FROM wanted
    JOIN _missing m USING (lookup_id)
    WHERE m.reason IN ('evicted', 'outputs_evicted')),
per_run(all_gone) AS (
    SELECT min(t.lookup_id IN (SELECT lookup_id FROM gone))
    FROM scope s
    CROSS JOIN attempt t USING (run_id)
    WHERE t.lookup_id IS NOT NULL
    GROUP BY t.run_id)
SELECT
    (SELECT count(*) FROM bad) AS bad_logs,
    (SELECT ifnull(sum(records), 0) FROM bad) AS bad_records,
    (SELECT count(*) FROM per_run) AS runs,
    (SELECT ifnull(sum(all_gone), 0) FROM per_run) AS gone_runs,
    (SELECT group_concat(name, ', ') FROM
        (SELECT name FROM (
            SELECT name, rank FROM instance_candidate WHERE run_id IN (SELECT run_id FROM scope)
            UNION ALL
            SELECT i.name, -1 FROM run JOIN instance i USING (instance_id)
            WHERE run_id IN (SELECT run_id FROM scope))
         GROUP BY name ORDER BY min(rank), name)) AS instances

-- What a check without a breach has seen: one row. Parameters as in check_breaches.
WITH scope(run_id) AS MATERIALIZED (SELECT value FROM json_each(:runs)),
measured(max_rss_bytes) AS (
    SELECT r.max_rss_bytes
    FROM result r
    WHERE r.source = 1 AND r.max_rss_bytes IS NOT NULL AND r.lookup_id IN (
        SELECT a.lookup_id FROM scope s CROSS JOIN attempt a ON a.run_id = s.run_id)
    UNION ALL
    SELECT r.max_rss_bytes
    FROM result r
    WHERE r.source = 2 AND r.max_rss_bytes IS NOT NULL
        AND r.attempt_run_id IN (SELECT run_id FROM scope)),
trace(run) AS MATERIALIZED (
    SELECT trace_id FROM run WHERE run_id IN (SELECT run_id FROM scope))
SELECT
    (SELECT count(*) FROM run WHERE NOT complete AND run_id IN (SELECT run_id FROM scope))
        AS incomplete,
    (SELECT count(*) FROM oom_kills WHERE run IN (SELECT run FROM trace)
        AND verdict = 'cannot tell') AS cannot_tell,
    (SELECT count(*) FROM measured) AS measured,
    (SELECT max(max_rss_bytes) FROM measured) AS max_rss_bytes

CREATE VIEW _run_pass (
    -- Whether a run was its cell's cold one. warm: an earlier run of the same salt is known, or an
    -- invocation that executed results of the same salt before it; or all its remote commands are hits.
    run_id, -- of table run
    pass    -- cold, warm
) AS
WITH salted AS MATERIALIZED (
    SELECT g.run_id, g.trace_id AS invocation, g.start_ns, k.salt
    FROM run g JOIN _run_cell k ON k.run_id = g.run_id WHERE k.salt IS NOT NULL),
-- When each salt was first worked on.
first AS MATERIALIZED (
    SELECT salt, min(start_ns) AS start_ns FROM (SELECT salt, start_ns FROM salted
        UNION ALL SELECT s.salt, i.first_ns FROM _invocation i JOIN salted s ON s.run_id = i.via_run_id WHERE i.run_id IS NULL)
    GROUP BY salt)
SELECT g.run_id, CASE WHEN f.start_ns < s.start_ns
        OR (EXISTS (SELECT 1 FROM action_count a WHERE a.run_id = g.run_id AND a.execution_kind IN (3, 9, 10))
            AND NOT EXISTS (SELECT 1 FROM action_count a WHERE a.run_id = g.run_id AND a.execution_kind IN (2, 11))) THEN 'warm' ELSE 'cold' END
FROM run g LEFT JOIN salted s ON s.run_id = g.run_id LEFT JOIN first f ON f.salt = s.salt;

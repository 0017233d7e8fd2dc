-- Begins each statement of the report. :runs is a JSON array of run_ids.
WITH scope(run_id) AS MATERIALIZED (SELECT value FROM json_each(:runs)),
-- The digests that remote attempts of these runs refer to, each once, with the
-- least type of action that does: 1 an action, more tests and listings only.
wanted(lookup_id, type) AS MATERIALIZED (
    SELECT t.lookup_id, min(a.type)
    FROM scope s
    CROSS JOIN attempt t USING (run_id)
    JOIN action a USING (run_id, span_id)
    WHERE t.lookup_id IS NOT NULL
    GROUP BY t.lookup_id
    HAVING min(a.type) = 1 OR NOT :no_tests)

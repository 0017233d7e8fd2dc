-- Begins each statement of the report. :runs is a JSON array of run_ids.
WITH scope(run_id) AS MATERIALIZED (SELECT value FROM json_each(:runs)),
-- Digests that of these runs only tests and listings refer to: few, found from the tests. Each is looked at
-- once, however many runs refer to it.
test_only(lookup_id) AS MATERIALIZED (
    SELECT d.lookup_id
    FROM (SELECT DISTINCT t.lookup_id
        FROM scope s
        CROSS JOIN action a ON a.run_id = s.run_id AND a.type <> 1
        JOIN attempt t ON t.run_id = a.run_id AND t.span_id = a.span_id
        WHERE t.lookup_id IS NOT NULL) d
    WHERE NOT EXISTS (
        SELECT 1
        FROM attempt u
        JOIN action b ON b.run_id = u.run_id AND b.span_id = u.span_id
        WHERE u.lookup_id = d.lookup_id AND b.type = 1
            AND +u.run_id IN (SELECT run_id FROM scope))),
-- The digests that remote attempts of these runs refer to, each once.
wanted(lookup_id) AS (
    SELECT DISTINCT t.lookup_id
    FROM scope s
    CROSS JOIN attempt t ON t.run_id = s.run_id
    WHERE t.lookup_id IS NOT NULL
        AND NOT (:no_tests AND t.lookup_id IN (SELECT lookup_id FROM test_only)))

-- Found from the missing ones, which are few.
SELECT m.reason, count(*) AS digests
FROM _missing m
WHERE EXISTS (
        SELECT 1 FROM attempt t
        WHERE t.lookup_id = m.lookup_id AND +t.run_id IN (SELECT run_id FROM scope))
    AND NOT (:no_tests AND m.lookup_id IN (SELECT lookup_id FROM test_only))
GROUP BY m.reason

-- How many actions of both runs are how.
SELECT status, count(*) AS actions FROM run_compare WHERE run_a = :a AND run_b = :b GROUP BY status

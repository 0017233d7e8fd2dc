-- The packages of both runs, those that changed most first.
SELECT * FROM run_compare_packages WHERE run_a = :a AND run_b = :b
ORDER BY status IN ('faster', 'slower') DESC, abs(wall_delta_s) DESC, max(ifnull(wall_a_s, 0), ifnull(wall_b_s, 0)) DESC, package

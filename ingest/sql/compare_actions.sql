-- The actions of both runs, those that changed most first.
SELECT * FROM run_compare WHERE run_a = :a AND run_b = :b
ORDER BY status IN ('faster', 'slower') DESC, abs(wall_delta_s) DESC, package, category, identifier

SELECT cache, pool, valid_from_ns, workers_min, workers_max, cooldown_s, concurrency
FROM pool_spec
ORDER BY cache, pool, valid_from_ns

SELECT cache, pool, valid_from_ns, workers_min, workers_max, cooldown_s, concurrency,
    cpu_request_milli, memory_request_bytes, memory_limit_bytes, enabled
FROM pool_spec
ORDER BY cache, pool, valid_from_ns

SELECT shape, cpu_milli, memory_request_bytes, memory_limit_bytes
FROM shape
ORDER BY memory_limit_bytes, cpu_milli, shape

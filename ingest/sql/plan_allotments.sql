SELECT allotment_id, cpu_request_milli, memory_request_bytes, memory_limit_bytes
FROM allotment
ORDER BY allotment_id

SELECT w.worker_id, v.pool
FROM worker w
LEFT JOIN _worker v ON v.worker_id = w.worker_id
ORDER BY w.worker_id

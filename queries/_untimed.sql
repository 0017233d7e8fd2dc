CREATE VIEW _untimed (
    -- The counted results whose wall time is not known: none, as a rule. An average of cores leaves out their CPU
    -- time, or it would be divided by the wall time of others; sums that are kept hold it, so it is taken away.
    project_id, -- of table result, as all that follow
    package_id, worker_id, request_id, cpu_ns
) AS
SELECT project_id, package_id, worker_id, request_id, cpu_ns
FROM result INDEXED BY result_bucket WHERE source = 1 AND cpu_ns IS NOT NULL AND bucket IS NULL;

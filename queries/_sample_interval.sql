CREATE VIEW _sample_interval (
    -- How often containers are measured: one row, or none where nothing was sampled.
    interval_s -- whole seconds: the median around what has 3 samples or more, else around any that has one
) AS
WITH seen AS MATERIALIZED (
    SELECT interval_ms FROM result_container WHERE interval_ms IS NOT NULL
        AND worth <= CASE WHEN EXISTS (SELECT 1 FROM result_container WHERE worth <= 2) THEN 2 ELSE 3 END)
SELECT CAST(max(1, round(interval_ms / 1000.0)) AS INTEGER) FROM seen
ORDER BY interval_ms LIMIT 1 OFFSET (SELECT count(*) / 2 FROM seen);

CREATE VIEW wall_time_buckets (
    -- Always five rows, by wall time. They count results of the action cache with usage, each
    -- digest once, whichever runs hit it.
    wall_time,  -- class of wall time; the report prints the last one as 300-inf s
    from_s,     -- from this on, seconds
    to_s,       -- below this; NULL: no end
    actions,    -- results in this class
    wall_pct,   -- their share of the wall time of all classes
    avg_cores,  -- their cpu / wall
    p90_cores,  -- the average cores of one action, 90th percentile: sorted[min(n-1, floor(0.9 n))]
    max_rss_gib -- largest single process of any of them
) AS
WITH b AS MATERIALIZED (
    SELECT bucket, results AS n, wall_s * 1e9 + wall_rest_ns AS wall, cpu_s * 1e9 + cpu_rest_ns AS cpu, rss_max_bytes AS rss
    FROM bucket_sum WHERE bucket >= 0)
SELECT c.wall_time, c.from_s, c.to_s, ifnull(b.n, 0), round(100 * ifnull(b.wall, 0) / nullif((SELECT total(wall) FROM b), 0), 1),
    round(b.cpu / nullif(b.wall, 0), 2),
    -- From the top of index result_bucket: a walk over a tenth of its entries.
    (SELECT round(s.cores, 2) FROM (SELECT r.cores, row_number() OVER (ORDER BY r.cores DESC) AS place FROM result r
            WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.bucket = c.bucket) s
        WHERE s.place = b.n - min(b.n - 1, b.n * 9 / 10) LIMIT 1),
    round(b.rss / 1073741824.0, 2)
FROM _bucket c LEFT JOIN b ON b.bucket = c.bucket
ORDER BY c.bucket;

CREATE VIEW wall_time_buckets_by_project (
    -- Always five rows a project, by name and wall time. A digest belongs to the project of its first
    -- reference; counted as in wall_time_buckets.
    project,    -- name
    wall_time,  -- class of wall time; the report prints the last one as 300-inf s
    from_s,     -- from this on, seconds
    to_s,       -- below this; NULL: no end
    actions,    -- results in this class
    wall_pct,   -- their share of the project's wall time
    avg_cores,  -- their cpu / wall
    p90_cores,  -- the average cores of one action, 90th percentile
    max_rss_gib -- largest single process of any of them
) AS
SELECT v.project, c.wall_time, c.from_s, c.to_s, v.n,
    round(100 * v.wall / nullif(total(v.wall) OVER (PARTITION BY v.project), 0), 1),
    round(v.cpu / nullif(v.wall, 0), 2),
    (SELECT round(s.cores, 2) FROM (SELECT r.cores, row_number() OVER (ORDER BY r.cores DESC) AS place
            FROM result r INDEXED BY result_bucket WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
            AND r.bucket = v.bucket AND +r.project_id = v.project_id) s
        WHERE s.place = v.n - min(v.n - 1, v.n * 9 / 10) LIMIT 1),
    round(v.rss / 1073741824.0, 2)
-- In the order of the table; the plus signs keep SQLite from making an index of its own, which costs more than the scan.
FROM (SELECT p.name AS project, p.project_id, r.bucket, count(*) AS n, total(r.wall_ns) AS wall, total(r.cpu_ns) AS cpu,
            max(r.max_rss_bytes) AS rss
        FROM project p CROSS JOIN result r NOT INDEXED ON +r.project_id = p.project_id
        WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.wall_ns IS NOT NULL GROUP BY p.name, r.bucket
    -- Classes that have none.
    UNION ALL SELECT p.name, p.project_id, b.bucket, 0, 0.0, 0.0, NULL FROM project p CROSS JOIN _bucket b
        WHERE EXISTS (SELECT 1 FROM run g WHERE g.project_id = p.project_id)
            AND NOT EXISTS (SELECT 1 FROM result r INDEXED BY result_bucket WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
                AND r.bucket = b.bucket AND +r.project_id = p.project_id)) v
    JOIN _bucket c ON c.bucket = v.bucket
ORDER BY v.project, v.bucket;

CREATE VIEW wall_time_buckets_by_run (
    -- Always five rows a run, by trace id and wall time. Hits included: each digest of the run once.
    run,        -- trace id
    wall_time,  -- class of wall time; the report prints the last one as 300-inf s
    from_s,     -- from this on, seconds
    to_s,       -- below this; NULL: no end
    actions,    -- results in this class
    wall_pct,   -- their share of the wall time of all the run's results
    avg_cores,  -- their cpu / wall
    p90_cores,  -- the average cores of one action, 90th percentile
    max_rss_gib -- largest single process of any of them
) AS
SELECT v.run, c.wall_time, c.from_s, c.to_s, v.n, round(100 * v.wall / nullif(v.all_wall, 0), 1),
    round(v.cpu / nullif(v.wall, 0), 2), round(v.cores, 2), round(v.rss / 1073741824.0, 2)
FROM (SELECT run, bucket, n, wall, cpu, rss, cores, total(wall) OVER (PARTITION BY run) AS all_wall
    FROM (SELECT run, bucket, cores, count(cores) OVER class AS n, total(wall_ns) OVER class AS wall,
            total(cpu_ns) OVER class AS cpu, max(max_rss_bytes) OVER class AS rss,
            row_number() OVER (PARTITION BY run, bucket ORDER BY cores) AS place
        FROM (SELECT g.trace_id AS run, s.bucket, s.cores, s.wall_ns, s.cpu_ns, s.max_rss_bytes
                FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN result s ON s.lookup_id = d.lookup_id
                WHERE s.source = 1 AND s.cpu_ns IS NOT NULL AND s.wall_ns IS NOT NULL
            UNION ALL SELECT g.trace_id, b.bucket, NULL, NULL, NULL, NULL FROM run g CROSS JOIN _bucket b)
        WINDOW class AS (PARTITION BY run, bucket))
    WHERE place = CASE n WHEN 0 THEN 1 ELSE 2 + min(n - 1, n * 9 / 10) END) v
JOIN _bucket c ON c.bucket = v.bucket
ORDER BY v.run, c.bucket;

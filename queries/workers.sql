CREATE VIEW workers (
    -- One row a worker that executed something, by name. All its results, of all projects and runs; the
    -- sums count those of the action cache with usage.
    worker,        -- text as received
    pool,          -- taken out of it; see _worker
    pod,           -- taken out of it; see _worker
    results,       -- results that name it, historical ones included
    with_usage,    -- of these, from the action cache and with usage
    failed,        -- of its results: exit code not 0, or ended on a signal
    wall_h,        -- wall time, hours
    cpu_h,         -- CPU time, hours
    avg_cores,     -- cpu / wall, where both are known
    rss_floor_gib, -- the smallest max RSS it ever reported: its runner's own, which no action can go below
    max_rss_gib,   -- the largest one: a single process
    skewed         -- results that it began before they were queued: its clock is behind
) AS
WITH skewed AS MATERIALIZED (
    SELECT r.worker_id, count(*) AS n FROM _irregular_span t JOIN result r ON r.result_id = t.result_id
    WHERE t.queued_ns < 0 GROUP BY r.worker_id),
untimed AS MATERIALIZED (SELECT worker_id, total(cpu_ns) AS cpu_ns FROM _untimed GROUP BY worker_id)
SELECT w.name, k.pool, k.pod, w.results, w.with_usage, w.failed, round(w.wall_ns / 3.6e12, 3), round(w.cpu_ns / 3.6e12, 3),
    round((w.cpu_ns - ifnull(u.cpu_ns, 0.0)) / nullif(w.wall_ns, 0), 2), round(w.rss_min_bytes / 1073741824.0, 3),
    round(w.rss_max_bytes / 1073741824.0, 2), ifnull(s.n, 0)
FROM worker w JOIN _worker k ON k.worker_id = w.worker_id LEFT JOIN skewed s ON s.worker_id = w.worker_id
    LEFT JOIN untimed u ON u.worker_id = w.worker_id
WHERE w.results > 0 ORDER BY w.name;

CREATE VIEW worker_peaks (
    -- The busiest runners, by memory: one row a life of a container in which a known action ran, over all
    -- minutes that are kept; worker_minutes has them one by one, for a window of your own. A peak is what was
    -- sampled, a lower bound; it is one container's, all its processes.
    pod,          -- of the worker
    pool,         -- of the worker; see _worker
    node,         -- where it ran; NULL: not known
    first_utc,    -- first minute that is kept
    last_utc,     -- last one
    minutes,      -- how many are kept
    samples,      -- of memory, in these
    peak_gib,     -- largest working set: all processes and active page cache
    peak_utc,     -- in this minute, the first of equal ones
    anon_gib,     -- largest anonymous memory: what no reclaim frees
    limit_gib,    -- memory limit of the container; NULL: none, or not known
    minute_cores, -- the highest average of one minute
    cores_utc,    -- in this minute
    avg_cores,    -- over all these minutes
    container_id  -- the container's cgroup: a restart makes another
) AS
WITH busy AS MATERIALIZED (
    SELECT u.life_id, min(u.minute) AS first, max(u.minute) AS last, count(*) AS minutes, sum(u.memory_samples) AS samples,
        max(u.working_set_peak_bytes) AS peak, max(u.anon_peak_bytes) AS anon, max(1.0 * u.cpu_ns / u.cpu_window_ns) AS cores,
        1.0 * sum(u.cpu_ns) / sum(u.cpu_window_ns) AS average
    FROM container_usage u GROUP BY u.life_id),
placed AS MATERIALIZED (SELECT pod, max(pool) AS pool FROM _worker WHERE pod IS NOT NULL GROUP BY pod)
SELECT p.name, k.pool, p.node, strftime('%Y-%m-%d %H:%M', b.first * 60, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M', b.last * 60, 'unixepoch'), b.minutes, b.samples, round(b.peak / 1073741824.0, 3),
    (SELECT strftime('%Y-%m-%d %H:%M', min(u.minute) * 60, 'unixepoch') FROM container_usage u
        WHERE u.life_id = b.life_id AND u.working_set_peak_bytes = b.peak),
    round(b.anon / 1073741824.0, 3), round(c.memory_limit_bytes / 1073741824.0, 3), round(b.cores, 2),
    (SELECT strftime('%Y-%m-%d %H:%M', min(u.minute) * 60, 'unixepoch') FROM container_usage u
        WHERE u.life_id = b.life_id AND 1.0 * u.cpu_ns / u.cpu_window_ns = b.cores),
    round(b.average, 2), f.container_id
FROM busy b JOIN container_life f ON f.life_id = b.life_id JOIN pod p ON p.pod_id = f.pod_id LEFT JOIN placed k ON k.pod = p.name
    LEFT JOIN container c ON c.pod_id = f.pod_id AND c.name = f.container
ORDER BY b.peak DESC, p.name, b.first, f.container_id;

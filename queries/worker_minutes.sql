CREATE VIEW worker_minutes (
    -- One row a minute and container in which a known action ran, as Prometheus sampled it. What ran
    -- between two samples is not seen: peaks are lower bounds. For the busiest runners of a window of your own:
    -- SELECT pod, max(peak_gib), max(cores) FROM worker_minutes
    -- WHERE minute_utc BETWEEN '2026-01-31 10:00' AND '2026-01-31 12:00' GROUP BY pod ORDER BY 2 DESC
    minute_utc,  -- it began
    pod,         -- of the worker
    samples,     -- of memory
    peak_gib,    -- largest working set: all processes and active page cache; NULL: no sample
    anon_gib,    -- largest anonymous memory: what no reclaim frees
    cores,       -- average, from the sample before the minute to its last one; NULL: no such pair
    cpu_samples, -- pairs that cores is taken from
    container_id -- the container's cgroup: a restart makes another
) AS
SELECT strftime('%Y-%m-%d %H:%M', u.minute * 60, 'unixepoch'), p.name, u.memory_samples,
    u.working_set_peak_bytes / 1073741824.0, u.anon_peak_bytes / 1073741824.0, 1.0 * u.cpu_ns / u.cpu_window_ns, u.cpu_samples,
    f.container_id
FROM container_usage u JOIN container_life f ON f.life_id = u.life_id JOIN pod p ON p.pod_id = f.pod_id;

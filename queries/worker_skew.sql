CREATE VIEW worker_skew (
    -- How evenly an invocation's work spread over its workers: one row an invocation and pool, in no order. Held
    -- time: from a worker's taking of an action to the end of the upload. Workers that did nothing for it are
    -- not known. Clocks that disagree are counted in workers.skewed.
    invocation,      -- trace id: a filter on it is a search
    pool,            -- taken out of the worker's text; NULL: it tells none
    workers,         -- workers that executed something for it
    results,         -- what they executed, failed ones included
    unknown,         -- of these, without times: in no figure that follows
    unknown_workers, -- of the workers, those of which no times are known: in no figure that follows
    held_s,          -- held time of all, seconds; NULL, as all that follow: no times are known
    max_held_s,      -- of the busiest worker
    median_held_s,   -- the median of the workers
    min_held_s,      -- of the least busy one
    skew_ratio,      -- busiest / median: 1 where the work spread evenly
    even_pct,        -- average / busiest: 100 where it spread evenly
    busiest          -- pod of the busiest worker, else its text
) AS
SELECT invocation, pool, workers, results, results - known, workers - timed, round(held / 1e9, 3), round(max_held / 1e9, 3), round(median / 1e9, 3),
    round(min_held / 1e9, 3), round(max_held / nullif(median, 0), 2), round(100.0 * held / nullif(timed, 0) / nullif(max_held, 0), 1), busiest
FROM (SELECT invocation, pool, n AS workers, timed, place, sum(results) OVER one AS results, sum(known) OVER one AS known, sum(held) OVER one AS held,
        max(held) OVER one AS max_held, min(held) OVER one AS min_held,
        avg(CASE WHEN place IN ((timed + 1) / 2, (timed + 2) / 2) THEN held END) OVER one AS median,
        max(CASE WHEN place = timed THEN named END) OVER one AS busiest
    -- Those that are not known come last.
    FROM (SELECT invocation, pool, named, results, known, held, count(*) OVER (PARTITION BY invocation, pool) AS n,
            count(held) OVER (PARTITION BY invocation, pool) AS timed,
            row_number() OVER (PARTITION BY invocation, pool ORDER BY held IS NULL, held, named) AS place
        FROM (SELECT w.invocation, (SELECT k.pool FROM _worker k WHERE k.worker_id = w.worker_id) AS pool,
                (SELECT ifnull(k.pod, v.name) FROM _worker k JOIN worker v ON v.worker_id = k.worker_id
                    WHERE k.worker_id = w.worker_id) AS named,
                count(*) AS results, count(w.held_ns) AS known,
                CASE WHEN count(w.held_ns) > 0 THEN total(w.held_ns) END AS held
            FROM _worked w WHERE w.worker_id IS NOT NULL GROUP BY w.invocation, w.worker_id))
    WINDOW one AS (PARTITION BY invocation, pool))
WHERE place = 1;

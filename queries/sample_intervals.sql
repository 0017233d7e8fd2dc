CREATE VIEW sample_intervals (
    -- What a scrape interval would see of what ran: a row an interval, the shortest first. An action that
    -- ran w seconds has a sample with probability min(1, w / interval). Below 10 s nothing is gained: the kubelet's
    -- cAdvisor measures anew every 10 to 15 s. It counts what sample_coverage counts.
    interval_s,  -- seconds between two scrapes
    why,         -- measured: see _sample_interval; 90 % of the actions, 90 % of the wall time:
                 -- the longest one that covers so much (whole seconds up to 600; none if not even 1 does); NULL: a usual one
    actions_pct, -- of the actions, that are expected to have a sample
    -- Of the wall time, in actions that are expected to have one: rather too little, by some tenths of a percent, as all
    -- that ran equally many whole seconds is taken to have run equally long.
    wall_pct,
    actions      -- results that this is computed from
) AS
WITH candidate(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM candidate WHERE i < 600),
-- Those that ran from i - 1 to less than i seconds; two walks over an index are cheaper than to sort.
second AS MATERIALIZED (
    SELECT c.i, (SELECT count(*) FROM result r INDEXED BY result_wall WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
            AND r.wall_ns >= (c.i - 1) * 1000000000 AND r.wall_ns < c.i * 1000000000) AS n,
        (SELECT total(r.wall_ns) / 1e9 FROM result r INDEXED BY result_wall WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
            AND r.wall_ns >= (c.i - 1) * 1000000000 AND r.wall_ns < c.i * 1000000000) AS wall
    FROM candidate c),
longer AS MATERIALIZED (
    SELECT count(*) AS n, total(wall_ns) / 1e9 AS wall FROM result INDEXED BY result_wall
    WHERE source = 1 AND cpu_ns IS NOT NULL AND wall_ns >= 600 * 1000000000),
whole AS MATERIALIZED (SELECT sum(s.n) + l.n AS n, sum(s.wall) + l.wall AS wall FROM second s CROSS JOIN longer l),
-- Of those that ran shorter than i; the squares as if all of one second ran equally long.
short AS (
    SELECT i, sum(n) OVER up AS n, sum(wall) OVER up AS wall, sum(ifnull(wall * wall / nullif(n, 0), 0)) OVER up AS squares
    FROM second WINDOW up AS (ORDER BY i)),
share AS MATERIALIZED (
    SELECT t.i, (w.n - t.n + t.wall / t.i) / w.n AS actions, (w.wall - t.wall + t.squares / t.i) / w.wall AS wall, w.n
    FROM short t CROSS JOIN whole w WHERE w.n > 0 AND w.wall > 0),
shown(i, why) AS (
    VALUES (10, NULL), (15, NULL), (30, NULL), (60, NULL), (120, NULL)
    UNION ALL SELECT interval_s, 'measured' FROM _sample_interval
    UNION ALL SELECT max(i), '90 % of the actions' FROM share WHERE actions >= 0.9
    UNION ALL SELECT max(i), '90 % of the wall time' FROM share WHERE wall >= 0.9)
SELECT s.i, group_concat(h.why, '; '), round(100 * s.actions, 1), round(100 * s.wall, 1), s.n
FROM shown h JOIN share s ON s.i = h.i GROUP BY s.i ORDER BY s.i;

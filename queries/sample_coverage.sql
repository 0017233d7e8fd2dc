CREATE VIEW sample_coverage (
    -- How much of what ran was sampled by Prometheus: always eight rows, in order. They count results of the
    -- action cache with usage, each digest once. A scrape sees what runs at that moment: one a minute has a sample
    -- in 8 of 100 actions of 5 s, so what is not sampled is what was short; sample_intervals says which
    -- scrape interval would do.
    confidence,  -- in the figures of the container: high, medium, low, none; NULL: not asked
    why,         -- what it is taken from
    actions,     -- results
    actions_pct, -- their share
    wall_h,      -- their wall time, hours
    wall_pct     -- its share
) AS
WITH kind(kind, confidence, why) AS (VALUES (1, 'high', '10 samples or more'), (2, 'medium', '3 to 9 samples'),
    (3, 'low', '1 or 2 samples'), (4, 'none', 'no sample while it ran'), (5, 'none', 'Prometheus does not know its pod'),
    (6, 'none', 'Prometheus had forgotten that time'), (7, 'none', 'its worker ran several actions at a time'),
    (8, NULL, 'Prometheus was not asked: no --prometheus within setting prometheus_hours, or no pod is known')),
asked AS MATERIALIZED (
    SELECT worth AS kind, count(wall_ns) AS n, total(wall_ns) AS wall FROM result_container INDEXED BY result_container_worth
    GROUP BY worth),
whole AS MATERIALIZED (SELECT count(wall_ns) AS n, total(wall_ns) AS wall FROM result WHERE source = 1 AND cpu_ns IS NOT NULL),
counted AS (
    SELECT kind, n, wall FROM asked UNION ALL
    SELECT 8, n - (SELECT total(n) FROM asked), wall - (SELECT total(wall) FROM asked) FROM whole)
SELECT k.confidence, k.why, CAST(ifnull(c.n, 0) AS INTEGER), round(100.0 * ifnull(c.n, 0) / nullif(w.n, 0), 1),
    round(ifnull(c.wall, 0) / 3.6e12, 3), round(100 * ifnull(c.wall, 0) / nullif(w.wall, 0), 1)
FROM kind k CROSS JOIN whole w LEFT JOIN counted c ON c.kind = k.kind ORDER BY k.kind;

CREATE VIEW sample_intervals (
    -- What a scrape interval would see of what ran: a row an interval, the shortest first. An action that
    -- ran w seconds has a sample with probability min(1, w / interval). Below 10 s nothing is gained: the kubelet's
    -- cAdvisor measures anew every 10 to 15 s. It counts what sample_coverage counts.
    interval_s,  -- seconds between two scrapes
    why,         -- measured: see _sample_interval; 90 % of the actions, 90 % of the wall time:
                 -- the longest one that covers so much (whole seconds up to 600; none if not even 1 does); NULL: a usual one
    actions_pct, -- of the actions, that are expected to have a sample
    wall_pct,    -- of the wall time, in actions that are expected to have one
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

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

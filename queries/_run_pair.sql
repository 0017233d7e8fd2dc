CREATE VIEW _pair_item (
    -- The items of each two runs, once by action and once by package, to be grouped by _pair_sum.
    by_package,              -- 1: to be added up by package; category_id and identifier are NULL then
    run_a, run_b,            -- trace ids
    unit,                    -- 1: an item of run_a; 2^32: of run_b, so that one sum counts the items of both
    project_id, package_id, category_id, identifier, -- see _run_item, as all below
    kind_id,                 -- its category_id
    lookup_id, result_id, wall_ns, cpu_ns, rss_bytes, limit_bytes, executed, hit
) AS
SELECT l.by_package, a.run, b.run, s.unit, i.project_id, i.package_id, CASE WHEN NOT l.by_package THEN i.category_id END,
    CASE WHEN NOT l.by_package THEN i.identifier END, i.category_id, i.lookup_id, i.result_id, i.wall_ns, i.cpu_ns, i.rss_bytes,
    i.limit_bytes, i.executed, i.hit
FROM _comparable a CROSS JOIN _comparable b CROSS JOIN (SELECT 0 AS by_package UNION ALL SELECT 1) l
    CROSS JOIN (SELECT 1 AS unit UNION ALL SELECT 4294967296) s CROSS JOIN _run_item i ON i.run = CASE s.unit WHEN 1 THEN a.run ELSE b.run END;

CREATE VIEW _pair_sum (
    -- One row two runs and action, or two runs and package: the sums of both sides. Filters on run_a, run_b and
    -- by_package are searches; without them it has as many rows as there are items, times the runs.
    by_package, -- the key, with those that follow; see _pair_item
    run_a, run_b, project_id, package_id, category_id, identifier,
    n_a, n_b,               -- items
    known_a, known_b,       -- of these, with a counted result, of which the figures are
    kinds_a, kinds_b,       -- sums of a number that each category has: who executed the same has the same one
    is_same,                -- 1: the same digests on both sides
    wall_a, wall_b, cpu_a, cpu_b, rss_a, rss_b, -- sums in ns; largest process in bytes
    limit_a, limit_b,       -- smallest known memory limit of a side
    limits_differ,          -- 1: one of these is below the largest of both; else 0, or NULL where one is not known
    unlimited,              -- how many counted results do not tell theirs
    executed,               -- items whose result is of that very run: of a, and 2^32 times those of b
    hits_a, hits_b,         -- items served from a cache
    lookup_a, lookup_b      -- the one digest of a side; NULL: it has several, or none
) AS
SELECT by_package, run_a, run_b, project_id, package_id, category_id, identifier,
    -- Each aggregate that has a row costs each group: one counts both sides, and some count what is rare.
    sum(unit) & 4294967295, sum(unit) >> 32,
    (sum(unit) & 4294967295) - (ifnull(sum(unit) FILTER (WHERE result_id IS NULL), 0) & 4294967295),
    (sum(unit) >> 32) - (ifnull(sum(unit) FILTER (WHERE result_id IS NULL), 0) >> 32),
    sum(kind_id * 2654435761 % 2147483647 * (kind_id % 1021 + 1)) FILTER (WHERE unit = 1), sum(kind_id * 2654435761 % 2147483647 * (kind_id % 1021 + 1)) FILTER (WHERE unit > 1),
    -- A run has each digest once; what has none is the same as nothing.
    count(*) FILTER (WHERE lookup_id IS NULL) = 0 AND sum(unit) & 4294967295 = sum(unit) >> 32 AND count(DISTINCT lookup_id) = sum(unit) >> 32,
    total(wall_ns) FILTER (WHERE unit = 1), total(wall_ns) FILTER (WHERE unit > 1),
    total(cpu_ns) FILTER (WHERE unit = 1), total(cpu_ns) FILTER (WHERE unit > 1),
    max(rss_bytes) FILTER (WHERE unit = 1), max(rss_bytes) FILTER (WHERE unit > 1),
    min(limit_bytes) FILTER (WHERE unit = 1), min(limit_bytes) FILTER (WHERE unit > 1),
    min(limit_bytes) FILTER (WHERE unit = 1) < max(limit_bytes) OR min(limit_bytes) FILTER (WHERE unit > 1) < max(limit_bytes),
    count(*) FILTER (WHERE result_id IS NOT NULL AND limit_bytes IS NULL),
    ifnull(sum(unit) FILTER (WHERE executed), 0),
    ifnull(sum(unit) FILTER (WHERE hit), 0) & 4294967295, ifnull(sum(unit) FILTER (WHERE hit), 0) >> 32,
    CASE sum(unit) & 4294967295 WHEN 1 THEN max(lookup_id) FILTER (WHERE unit = 1) END,
    CASE sum(unit) >> 32 WHEN 1 THEN max(lookup_id) FILTER (WHERE unit > 1) END
FROM _pair_item
-- Integers that differ come first: they are compared fastest.
GROUP BY package_id, category_id, identifier, project_id, by_package, run_a, run_b;

CREATE VIEW _pair_judged (
    -- The rows of _pair_sum, and whether their sides can be compared.
    by_package, -- of _pair_sum, as those that follow
    run_a, run_b, project_id, package_id, category_id, identifier, n_a, n_b, known_a, known_b,
    kinds_a, kinds_b, wall_a, wall_b, cpu_a, cpu_b, rss_a, rss_b, limit_a, limit_b, executed, hits_a, hits_b,
    lookup_a, lookup_b,
    limits,  -- same, differ, not known
    why_not, -- why they are not compared, as run_compare.status words it; NULL: they are
    is_large -- 1: compared, and the difference passes the floor; NULL: a setting of the floor is missing
) AS
WITH floor AS MATERIALIZED (
    SELECT (SELECT value * 1e9 FROM setting WHERE key = 'compare_floor_s') AS wall,
        (SELECT value / 100.0 FROM setting WHERE key = 'compare_floor_pct') AS part)
SELECT by_package, run_a, run_b, project_id, package_id, category_id, identifier, n_a, n_b, known_a, known_b, kinds_a, kinds_b,
    wall_a, wall_b, cpu_a, cpu_b, rss_a, rss_b, limit_a, limit_b, executed, hits_a, hits_b, lookup_a, lookup_b,
    CASE WHEN limits_differ THEN 'differ' WHEN unlimited > 0 OR coalesce(limit_a, limit_b) IS NULL THEN 'not known' ELSE 'same' END,
    CASE WHEN n_b = 0 THEN 'only in a' WHEN n_a = 0 THEN 'only in b' WHEN is_same THEN 'same digest'
        WHEN known_a < n_a OR known_b < n_b THEN 'unknown' WHEN limits_differ THEN 'other limit' END,
    n_a > 0 AND n_b > 0 AND NOT is_same AND known_a = n_a AND known_b = n_b AND limits_differ IS NOT 1
        AND abs(wall_b - wall_a) > (SELECT wall FROM floor)
        AND abs(wall_b - wall_a) > (SELECT part FROM floor) * min(wall_a, wall_b)
FROM _pair_sum;

CREATE VIEW _pair_noise (
    -- The rows of _pair_judged with what is known of the noise, which is looked for only where it matters.
    by_package, -- of _pair_judged, as those that follow
    run_a, run_b, project_id, package_id, category_id, identifier, n_a, n_b, known_a, known_b,
    wall_a, wall_b, cpu_a, cpu_b, rss_a, rss_b, limit_a, limit_b, executed, hits_a, hits_b, lookup_a, lookup_b,
    limits, why_not, is_large,
    -- Three numbers of 20 characters each, as SQLite has one value a subquery: repeats, and usual_s and noise_s
    -- in ns (see run_compare).
    noise
) AS
SELECT by_package, run_a, run_b, project_id, package_id, category_id, identifier, n_a, n_b, known_a, known_b, wall_a, wall_b,
    cpu_a, cpu_b, rss_a, rss_b, limit_a, limit_b, executed, hits_a, hits_b, lookup_a, lookup_b, limits, why_not, is_large,
    CASE WHEN is_large IS NOT 0 THEN coalesce((
        -- Wrapped and native are two ways to execute a package: the noise of both, and the repeats of the rarer one.
        -- As a rule there are too few to tell the noise, and the median of one or two is their average.
        SELECT CASE WHEN by_b <= 2 AND (min(by_a, by_b) >= (SELECT value FROM setting WHERE key = 'compare_repeats')) IS NOT 1
            THEN printf('%20d%20s', min(by_a, by_b), ifnull(CAST(usual AS INTEGER), '')) END
        FROM (SELECT count(*) FILTER (WHERE actions = s.n_a AND kinds = s.kinds_a) AS by_a,
                count(*) FILTER (WHERE actions = s.n_b AND kinds = s.kinds_b) AS by_b,
                avg(wall) FILTER (WHERE actions = s.n_b AND kinds = s.kinds_b) AS usual
            FROM (SELECT count(*) AS actions, sum(e.category_id * 2654435761 % 2147483647 * (e.category_id % 1021 + 1)) AS kinds, total(e.wall_ns) AS wall
                FROM _execution e
                WHERE e.package_id = s.package_id AND e.project_id = s.project_id AND e.limit_bytes IS s.limit_a
                    AND e.executor NOT IN (s.run_a, s.run_b)
                    AND (s.by_package OR (e.category_id = s.category_id AND e.identifier = s.identifier))
                GROUP BY e.executor))), (
        SELECT printf('%20d%20s%20s', CASE WHEN count(*) = 2 OR (s.n_a = s.n_b AND s.kinds_a = s.kinds_b) THEN min(n) ELSE 0 END,
            ifnull(CAST(max(median) FILTER (WHERE actions = s.n_b AND kinds = s.kinds_b) AS INTEGER), ''),
            ifnull(CAST((SELECT value FROM setting WHERE key = 'compare_noise') * sum(distance) AS INTEGER), ''))
        -- Innermost first: totals of each executor, their median, the distances from it, the median of these.
        FROM (SELECT actions, kinds, n, median, avg(distance) AS distance FROM (
            SELECT actions, kinds, n, median, abs(wall - median) AS distance,
                row_number() OVER (PARTITION BY actions, kinds ORDER BY abs(wall - median)) AS place FROM (
                SELECT actions, kinds, n, wall,
                    avg(CASE WHEN place IN ((n + 1) / 2, (n + 2) / 2) THEN wall END) OVER (PARTITION BY actions, kinds) AS median FROM (
                    SELECT actions, kinds, wall, row_number() OVER (PARTITION BY actions, kinds ORDER BY wall) AS place,
                        count(*) OVER (PARTITION BY actions, kinds) AS n FROM (
                        SELECT count(*) AS actions, sum(e.category_id * 2654435761 % 2147483647 * (e.category_id % 1021 + 1)) AS kinds, total(e.wall_ns) AS wall
                        FROM _execution e
                        WHERE e.package_id = s.package_id AND e.project_id = s.project_id AND e.limit_bytes IS s.limit_a
                            AND e.executor NOT IN (s.run_a, s.run_b)
                            AND (s.by_package OR (e.category_id = s.category_id AND e.identifier = s.identifier))
                        GROUP BY e.executor
                        HAVING (actions = s.n_a AND kinds = s.kinds_a) OR (actions = s.n_b AND kinds = s.kinds_b)))))
            WHERE place IN ((n + 1) / 2, (n + 2) / 2)
            GROUP BY actions, kinds))) END
FROM _pair_judged s
-- No row: it keeps SQLite from merging this view into the next one, which would look the noise up again and again.
UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE VIEW _pair_shown (
    -- What run_compare and run_compare_packages show, with the keys that tell them apart.
    by_package, -- 0: run_compare; 1: run_compare_packages
    run_a, run_b, project, package, category, identifier, status, wall_a_s, wall_b_s, wall_delta_s, wall_ratio, cpu_a_s, cpu_b_s,
    cpu_delta_s, cpu_ratio, cores_a, cores_b, max_rss_a_gib, max_rss_b_gib, limits, limit_a_gib, limit_b_gib, repeats, usual_s, noise_s,
    actions_a, actions_b, unknown_a, unknown_b, executed_a, executed_b, hits_a, hits_b, lookup_a, lookup_b -- see run_compare
) AS
SELECT s.by_package, s.run_a, s.run_b, j.name, p.name, (SELECT c.name FROM category c WHERE c.category_id = s.category_id), s.identifier,
    CASE WHEN s.why_not IS NOT NULL THEN s.why_not
        WHEN s.is_large = 0 OR (CAST(substr(s.noise, 1, 20) AS INTEGER) >= (SELECT value FROM setting WHERE key = 'compare_repeats')
            AND abs(s.wall_b - s.wall_a) <= CAST(nullif(trim(substr(s.noise, 41, 20)), '') AS INTEGER)) THEN 'within noise'
        WHEN s.is_large IS NULL OR (SELECT count(*) FROM setting WHERE key IN ('compare_repeats', 'compare_noise')) < 2 THEN NULL
        WHEN s.wall_b < s.wall_a THEN 'faster' ELSE 'slower' END,
    CASE WHEN s.known_a > 0 THEN round(s.wall_a / 1e6) / 1000 END, CASE WHEN s.known_b > 0 THEN round(s.wall_b / 1e6) / 1000 END,
    CASE WHEN s.why_not IS NULL THEN round((s.wall_b - s.wall_a) / 1e6) / 1000 END,
    CASE WHEN s.why_not IS NULL THEN round(s.wall_b / nullif(s.wall_a, 0), 3) END,
    CASE WHEN s.known_a > 0 THEN round(s.cpu_a / 1e6) / 1000 END, CASE WHEN s.known_b > 0 THEN round(s.cpu_b / 1e6) / 1000 END,
    CASE WHEN s.why_not IS NULL THEN round((s.cpu_b - s.cpu_a) / 1e6) / 1000 END,
    CASE WHEN s.why_not IS NULL THEN round(s.cpu_b / nullif(s.cpu_a, 0), 3) END,
    round(s.cpu_a * 100 / nullif(s.wall_a, 0)) / 100, round(s.cpu_b * 100 / nullif(s.wall_b, 0)) / 100, round(s.rss_a / 1073741824.0 * 1000) / 1000,
    round(s.rss_b / 1073741824.0 * 1000) / 1000,
    s.limits, round(s.limit_a / 1073741824.0 * 1000) / 1000, round(s.limit_b / 1073741824.0 * 1000) / 1000, CAST(substr(s.noise, 1, 20) AS INTEGER),
    round(nullif(trim(substr(s.noise, 21, 20)), '') / 1e9, 3),
    CASE WHEN CAST(substr(s.noise, 1, 20) AS INTEGER) >= (SELECT value FROM setting WHERE key = 'compare_repeats')
        THEN round(CAST(nullif(trim(substr(s.noise, 41, 20)), '') AS INTEGER) / 1e9, 3) END,
    s.n_a, s.n_b, s.n_a - s.known_a, s.n_b - s.known_b, s.executed & 4294967295, s.executed >> 32, s.hits_a, s.hits_b, s.lookup_a, s.lookup_b
-- CROSS: so the rows come one by one, and are not all kept first.
FROM _pair_noise s CROSS JOIN project j ON j.project_id = s.project_id CROSS JOIN package p ON p.package_id = s.package_id;

CREATE VIEW _size_step (
    -- How many results have which size, in groups of allotments: rows to add up.
    scope,       -- all | project | run
    name,        -- '' | of the project | trace id
    group_id,    -- of _allotment
    kind, step, n, wall_ns -- see _size_correction
) AS
SELECT 'all', '', a.group_id, v.kind, nullif(v.size, -1), v.n, v.wall_ns
-- In all groupings here the size comes first, and is never NULL: what is to be sorted is mostly told apart by one integer.
FROM (SELECT size, kind, allotment_id, sum(n) AS n, total(wall_ns) AS wall_ns
    FROM (SELECT s.size, s.kind, s.allotment_id, s.results AS n, s.wall_s * 1e9 + s.wall_rest_ns AS wall_ns
            FROM _allotment b CROSS JOIN size_count s ON s.allotment_id = b.allotment_id AND s.category_id = 0
        UNION ALL SELECT ifnull(step, -1), kind, allotment_id, n, wall_ns FROM _size_correction)
    GROUP BY 1, 2, 3) v CROSS JOIN _allotment a ON a.allotment_id = v.allotment_id
UNION ALL
SELECT 'project', v.project, a.group_id, v.kind, nullif(v.size, -1), v.n, v.wall_ns
FROM (SELECT ifnull(step, -1) AS size, kind, allotment_id, project, sum(n) AS n, total(wall_ns) AS wall_ns FROM _project_size GROUP BY 1, 2, 3, 4) v
    CROSS JOIN _allotment a ON a.allotment_id = v.allotment_id
UNION ALL
SELECT 'run', v.run, a.group_id, v.place & 3, nullif((v.place >> 2 & 0x3ffffffff) - 1, -1), v.n, v.wall_ns
-- One integer is sorted, of the allotment, the size (34 bits, 0: not known) and the kind.
FROM (SELECT (s.allotment_id << 34 | 1 + ifnull(CASE k.kind WHEN 1 THEN s.mib WHEN 2 THEN s.centicores END, -1)) << 2 | k.kind AS place,
        s.run, count(*) AS n, total(s.wall_ns) AS wall_ns
    FROM _run_size s CROSS JOIN (SELECT 1 AS kind UNION ALL SELECT 2 UNION ALL SELECT 3) k
    WHERE CASE k.kind WHEN 1 THEN 1 WHEN 2 THEN s.is_counted ELSE s.is_sampled END GROUP BY 1, 2) v
    CROSS JOIN _allotment a ON a.allotment_id = v.place >> 36;

CREATE VIEW _size_share (
    -- Of each kind of size, known ones and unknown ones apart, the first row and those where the sum up to them passes the
    -- share of a percentile: few, as whoever puts these together looks at each a dozen times.
    scope,     -- of _size_step, as the next four
    name, group_id, kind, step,
    is_first,  -- 1: the first of these
    n,         -- results of all rows of that kind
    wall_ns,   -- and their wall time
    top,       -- the largest step of them
    up,        -- what weighs, up to this row: results; of cores wall time
    whole      -- the same of all
) AS
SELECT scope, name, group_id, kind, step, place = 1, n_all, wall_all, top, up, whole
FROM (SELECT scope, name, group_id, kind, step, row_number() OVER up AS place, sum(n) OVER whole AS n_all, total(wall_ns) OVER whole AS wall_all,
        max(step) OVER whole AS top, weight, total(weight) OVER up AS up, total(weight) OVER whole AS whole
    FROM (SELECT scope, name, group_id, kind, step, n, wall_ns, CASE kind WHEN 2 THEN wall_ns ELSE n END AS weight FROM _size_step WHERE n <> 0)
    WINDOW whole AS (PARTITION BY scope, name, group_id, kind, step IS NULL),
        up AS (PARTITION BY scope, name, group_id, kind, step IS NULL ORDER BY step ROWS UNBOUNDED PRECEDING))
-- A little to both sides: sums of wall time are not exact, and a row more does no harm.
WHERE place = 1 OR whole * 50 BETWEEN (up - weight) * 99.9 AND up * 100.1 OR whole * 90 BETWEEN (up - weight) * 99.9 AND up * 100.1
    OR whole * 95 BETWEEN (up - weight) * 99.9 AND up * 100.1 OR whole * 99 BETWEEN (up - weight) * 99.9 AND up * 100.1;

CREATE VIEW _percentile (
    -- Percentiles of each group of a scope: sorted[min(n-1, floor(q n))], of cores with the wall time as weight: the
    -- step where the sum up to it first passes the share.
    -- In windows alone: a filter passes through these, not through a grouping above a grouping.
    scope,                     -- of _size_step, as the next two
    name, group_id,
    counted, wall_ns,          -- results with usage, and their wall time
    known, unknown,            -- results of workers by whether their memory is known
    sampled, sampled_wall_ns,  -- with samples enough of their container
    m50, m90, m95, m99, m100,  -- memory, MiB
    c50, c90, c95, c99, c100   -- hundredths of a core
) AS
SELECT scope, name, group_id, ifnull(counted, 0), wall_ns, ifnull(known, 0), ifnull(unknown, 0), ifnull(sampled, 0), sampled_wall_ns,
    m50, m90, m95, m99, m100, c50, c90, c95, c99, c100
FROM (SELECT scope, name, group_id, row_number() OVER one AS place,
        sum(CASE WHEN kind = 2 AND is_first THEN n END) OVER one AS counted,
        total(CASE WHEN kind = 2 AND is_first THEN wall_ns END) OVER one AS wall_ns,
        sum(CASE WHEN kind = 1 AND is_first AND step IS NOT NULL THEN n END) OVER one AS known,
        sum(CASE WHEN kind = 1 AND is_first AND step IS NULL THEN n END) OVER one AS unknown,
        sum(CASE WHEN kind = 3 AND is_first THEN n END) OVER one AS sampled,
        total(CASE WHEN kind = 3 AND is_first THEN wall_ns END) OVER one AS sampled_wall_ns,
        min(CASE WHEN kind = 1 AND up * 100 > whole * 50 THEN step END) OVER one AS m50,
        min(CASE WHEN kind = 1 AND up * 100 > whole * 90 THEN step END) OVER one AS m90,
        min(CASE WHEN kind = 1 AND up * 100 > whole * 95 THEN step END) OVER one AS m95,
        min(CASE WHEN kind = 1 AND up * 100 > whole * 99 THEN step END) OVER one AS m99,
        max(CASE WHEN kind = 1 THEN top END) OVER one AS m100,
        min(CASE WHEN kind = 2 AND up * 100 > whole * 50 THEN step END) OVER one AS c50,
        min(CASE WHEN kind = 2 AND up * 100 > whole * 90 THEN step END) OVER one AS c90,
        min(CASE WHEN kind = 2 AND up * 100 > whole * 95 THEN step END) OVER one AS c95,
        min(CASE WHEN kind = 2 AND up * 100 > whole * 99 THEN step END) OVER one AS c99,
        max(CASE WHEN kind = 2 THEN top END) OVER one AS c100
    FROM _size_share
    WINDOW one AS (PARTITION BY scope, name, group_id))
WHERE place = 1;

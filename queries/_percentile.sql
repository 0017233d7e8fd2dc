CREATE VIEW _size_step (
    -- How many results have which size, in groups of allotments: rows to add up.
    scope,       -- all | project | run
    name,        -- '' | of the project | trace id
    group_id,    -- of _allotment
    kind, step, n, wall_ns -- see _size_correction
) AS
SELECT 'all', '', a.group_id, v.kind, v.step, v.n, v.wall_ns
-- The inner grouping is that of size_count's key: nothing is sorted for it, and less remains to be.
FROM (SELECT allotment_id, kind, step, sum(n) AS n, total(wall_ns) AS wall_ns
    FROM (SELECT allotment_id, kind, nullif(size, -1) AS step, sum(results) AS n, sum(wall_s) * 1e9 + sum(wall_rest_ns) AS wall_ns
            FROM size_count GROUP BY allotment_id, category_id, kind, size
        UNION ALL SELECT allotment_id, kind, step, n, wall_ns FROM _size_correction)
    GROUP BY 1, 2, 3) v CROSS JOIN _allotment a ON a.allotment_id = v.allotment_id
UNION ALL
SELECT 'project', v.project, a.group_id, v.kind, v.step, v.n, v.wall_ns
FROM (SELECT project, allotment_id, kind, step, sum(n) AS n, total(wall_ns) AS wall_ns FROM _project_size GROUP BY 1, 2, 3, 4) v
    CROSS JOIN _allotment a ON a.allotment_id = v.allotment_id
UNION ALL
SELECT 'run', v.run, a.group_id, v.kind, v.step, v.n, v.wall_ns
FROM (SELECT s.run, s.allotment_id, k.kind, CASE k.kind WHEN 1 THEN s.mib WHEN 2 THEN s.centicores END AS step, count(*) AS n,
        total(s.wall_ns) AS wall_ns
    FROM _run_size s CROSS JOIN (SELECT 1 AS kind UNION ALL SELECT 2 UNION ALL SELECT 3) k
    WHERE CASE k.kind WHEN 1 THEN 1 WHEN 2 THEN s.is_counted ELSE s.is_sampled END GROUP BY 1, 2, 3, 4) v
    CROSS JOIN _allotment a ON a.allotment_id = v.allotment_id;

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
        sum(CASE kind WHEN 2 THEN n END) OVER one AS counted, total(CASE kind WHEN 2 THEN wall_ns END) OVER one AS wall_ns,
        sum(CASE WHEN kind = 1 AND step IS NOT NULL THEN n END) OVER one AS known,
        sum(CASE WHEN kind = 1 AND step IS NULL THEN n END) OVER one AS unknown,
        sum(CASE kind WHEN 3 THEN n END) OVER one AS sampled, total(CASE kind WHEN 3 THEN wall_ns END) OVER one AS sampled_wall_ns,
        min(CASE WHEN kind = 1 AND n_up > n_all * 50 / 100 THEN step END) OVER one AS m50,
        min(CASE WHEN kind = 1 AND n_up > n_all * 90 / 100 THEN step END) OVER one AS m90,
        min(CASE WHEN kind = 1 AND n_up > n_all * 95 / 100 THEN step END) OVER one AS m95,
        min(CASE WHEN kind = 1 AND n_up > n_all * 99 / 100 THEN step END) OVER one AS m99,
        min(CASE WHEN kind = 1 AND n_up = n_all THEN step END) OVER one AS m100,
        min(CASE WHEN kind = 2 AND wall_up * 100 > wall_all * 50 THEN step END) OVER one AS c50,
        min(CASE WHEN kind = 2 AND wall_up * 100 > wall_all * 90 THEN step END) OVER one AS c90,
        min(CASE WHEN kind = 2 AND wall_up * 100 > wall_all * 95 THEN step END) OVER one AS c95,
        min(CASE WHEN kind = 2 AND wall_up * 100 > wall_all * 99 THEN step END) OVER one AS c99,
        max(CASE kind WHEN 2 THEN step END) OVER one AS c100
    FROM (SELECT scope, name, group_id, kind, step, n, wall_ns, sum(n) OVER up AS n_up, sum(n) OVER whole AS n_all,
            total(wall_ns) OVER up AS wall_up, total(wall_ns) OVER whole AS wall_all
        FROM _size_step
        WINDOW whole AS (PARTITION BY scope, name, group_id, kind, step IS NULL),
            up AS (PARTITION BY scope, name, group_id, kind, step IS NULL ORDER BY step))
    WINDOW one AS (PARTITION BY scope, name, group_id))
WHERE place = 1;

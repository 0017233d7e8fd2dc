CREATE VIEW _percentile (
    -- Percentiles of each group of _size: sorted[min(n-1, floor(q n))], of cores with the wall time as weight: the
    -- step where the sum up to it first passes the share.
    group_id,                  -- of _allotment
    counted, wall_ns,          -- results with usage, and their wall time
    known, unknown,            -- results of workers by whether their memory is known
    sampled, sampled_wall_ns,  -- with samples enough of their container
    m50, m90, m95, m99, m100,  -- memory, MiB
    c50, c90, c95, c99, c100   -- hundredths of a core
) AS
SELECT group_id, ifnull(counted, 0), wall_ns, ifnull(known, 0), ifnull(unknown, 0), ifnull(sampled, 0), sampled_wall_ns,
    m50, m90, m95, m99, m100, c50, c90, c95, c99, c100
FROM (SELECT group_id, row_number() OVER one AS place,
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
    FROM (SELECT group_id, kind, step, n, wall_ns, sum(n) OVER up AS n_up, sum(n) OVER whole AS n_all,
            total(wall_ns) OVER up AS wall_up, total(wall_ns) OVER whole AS wall_all
        FROM (SELECT group_id, kind, step, sum(n) AS n, total(wall_ns) AS wall_ns FROM _size GROUP BY group_id, kind, step)
        WINDOW whole AS (PARTITION BY group_id, kind, step IS NULL), up AS (PARTITION BY group_id, kind, step IS NULL ORDER BY step))
    WINDOW one AS (PARTITION BY group_id))
WHERE place = 1;

CREATE VIEW _percentile_by_project (
    -- As _percentile, of each project.
    -- In windows alone: a filter passes through these, not through a grouping above a grouping.
    project,                   -- name
    group_id,                  -- of _allotment
    counted, wall_ns,          -- results with usage, and their wall time
    known, unknown,            -- results of workers by whether their memory is known
    sampled, sampled_wall_ns,  -- with samples enough of their container
    m50, m90, m95, m99, m100,  -- memory, MiB
    c50, c90, c95, c99, c100   -- hundredths of a core
) AS
SELECT project, group_id, ifnull(counted, 0), wall_ns, ifnull(known, 0), ifnull(unknown, 0), ifnull(sampled, 0), sampled_wall_ns,
    m50, m90, m95, m99, m100, c50, c90, c95, c99, c100
FROM (SELECT project, group_id, row_number() OVER one AS place,
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
    FROM (SELECT project, group_id, kind, step, n, wall_ns, sum(n) OVER up AS n_up, sum(n) OVER whole AS n_all,
            total(wall_ns) OVER up AS wall_up, total(wall_ns) OVER whole AS wall_all
        FROM _size_by_project
        WINDOW whole AS (PARTITION BY project, group_id, kind, step IS NULL), up AS (PARTITION BY project, group_id, kind, step IS NULL ORDER BY step))
    WINDOW one AS (PARTITION BY project, group_id))
WHERE place = 1;

CREATE VIEW _percentile_by_run (
    -- As _percentile, of each run.
    -- In windows alone: a filter passes through these, not through a grouping above a grouping.
    run,                       -- trace id
    group_id,                  -- of _allotment
    counted, wall_ns,          -- results with usage, and their wall time
    known, unknown,            -- results of workers by whether their memory is known
    sampled, sampled_wall_ns,  -- with samples enough of their container
    m50, m90, m95, m99, m100,  -- memory, MiB
    c50, c90, c95, c99, c100   -- hundredths of a core
) AS
SELECT run, group_id, ifnull(counted, 0), wall_ns, ifnull(known, 0), ifnull(unknown, 0), ifnull(sampled, 0), sampled_wall_ns,
    m50, m90, m95, m99, m100, c50, c90, c95, c99, c100
FROM (SELECT run, group_id, row_number() OVER one AS place,
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
    FROM (SELECT run, group_id, kind, step, n, wall_ns, sum(n) OVER up AS n_up, sum(n) OVER whole AS n_all,
            total(wall_ns) OVER up AS wall_up, total(wall_ns) OVER whole AS wall_all
        FROM _size_by_run
        WINDOW whole AS (PARTITION BY run, group_id, kind, step IS NULL), up AS (PARTITION BY run, group_id, kind, step IS NULL ORDER BY step))
    WINDOW one AS (PARTITION BY run, group_id))
WHERE place = 1;

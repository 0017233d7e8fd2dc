-- Step 6 of the tables: what the views of sizes walk through, in the order of size.

-- Of the digest's first reference:
ALTER TABLE result ADD COLUMN category_id INTEGER REFERENCES category;
-- Sizes as they are shown, so that equal ones are next to each other: max RSS rounded up, average cores.
ALTER TABLE result ADD COLUMN memory_mib INTEGER
    GENERATED ALWAYS AS (max_rss_bytes / 1048576 + (max_rss_bytes % 1048576 > 0)) VIRTUAL;
ALTER TABLE result ADD COLUMN centicores INTEGER
    GENERATED ALWAYS AS (CAST(round(100.0 * cpu_ns / max(wall_ns, 1000000)) AS INTEGER)) VIRTUAL;
UPDATE result SET category_id = (SELECT n.category_id FROM action_name n WHERE n.name_id = result.name_id);

CREATE TABLE size_count (
    -- How many counted results have which size, kept by the ingest (two indexes of it would
    -- cost 44 bytes a result).
    allotment_id INTEGER NOT NULL,  -- of result; 0: none is known
    category_id INTEGER NOT NULL,   -- of result; 0: all categories and projects together
    kind INTEGER NOT NULL,          -- 1 memory_mib, 2 centicores
    size INTEGER NOT NULL,          -- -1: not known
    project_id INTEGER NOT NULL,    -- of result; 0: as above; last, as many who read this add all projects up
    results INTEGER NOT NULL,
    wall_s INTEGER NOT NULL, wall_rest_ns INTEGER NOT NULL, -- of these, as in bucket_sum
    PRIMARY KEY (allotment_id, category_id, kind, size, project_id)
) STRICT, WITHOUT ROWID;
INSERT INTO size_count SELECT ifnull(r.allotment_id, 0), iif(k.is_all, 0, r.category_id), k.kind,
    ifnull(CASE k.kind WHEN 1 THEN r.memory_mib ELSE r.centicores END, -1) AS size, iif(k.is_all, 0, r.project_id), count(*),
    sum(ifnull(r.wall_ns, 0) / 1000000000), sum(ifnull(r.wall_ns, 0) % 1000000000)
FROM result r CROSS JOIN (SELECT 1 AS kind, 0 AS is_all UNION ALL VALUES (2, 0), (1, 1), (2, 1)) k
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

CREATE TABLE busy_sum (
    -- How long counted results kept workers busy, and what they used, kept by the ingest as _busy_part
    -- has it of each. A sum is its high part times 2^32 and its low part: neither can be too large.
    allotment_id INTEGER NOT NULL,  -- of result; 0: none is known
    project_id INTEGER NOT NULL,    -- of result
    results INTEGER NOT NULL,
    known INTEGER NOT NULL,         -- those of which all that follows is known, and which it sums up
    busy_high INTEGER NOT NULL, busy_low INTEGER NOT NULL, -- ns of fetch + run + upload
    cpu_high INTEGER NOT NULL, cpu_low INTEGER NOT NULL,   -- ns
    held_high INTEGER NOT NULL, held_low INTEGER NOT NULL, -- max RSS times wall time, KiB us
    PRIMARY KEY (allotment_id, project_id)
) STRICT, WITHOUT ROWID;
INSERT INTO busy_sum SELECT allotment_id, project_id, count(*), sum(busy IS NOT NULL), sum(ifnull(busy >> 32, 0)),
    sum(ifnull(busy & 4294967295, 0)), sum(ifnull(cpu >> 32, 0)), sum(ifnull(cpu & 4294967295, 0)),
    sum(ifnull(held >> 32, 0)), sum(ifnull(held & 4294967295, 0))
FROM (SELECT allotment_id, project_id, CASE WHEN is_known THEN busy END AS busy, CASE WHEN is_known THEN cpu_ns END AS cpu,
        CASE WHEN is_known THEN held END AS held
    FROM (SELECT ifnull(r.allotment_id, 0) AS allotment_id, r.project_id, r.cpu_ns,
            CAST(r.max_rss_bytes / 1024.0 * (r.wall_ns / 1e3) AS INTEGER) AS held,
            min(t.fetch_completed_step_ns, 2305843009213693951) + min(t.execution_completed_step_ns, 2305843009213693951)
                + min(t.upload_completed_step_ns, 2305843009213693951) AS busy,
            t.fetch_start_step_ns IS NOT NULL AND t.execution_start_step_ns IS NOT NULL AND t.upload_start_step_ns IS NOT NULL
                AND min(t.fetch_completed_step_ns, t.execution_completed_step_ns, t.upload_completed_step_ns) >= 0
                AND r.max_rss_bytes IS NOT NULL AND r.wall_ns IS NOT NULL AS is_known
        FROM result r LEFT JOIN result_time t ON t.result_id = r.result_id WHERE r.source = 1 AND r.cpu_ns IS NOT NULL))
GROUP BY 1, 2;

CREATE TABLE package_sum (
    -- Sums of packages' counted results by memory limit in force, kept by the ingest (an index of all that
    -- is added up would cost 22 bytes a result more than result_package).
    project_id INTEGER NOT NULL,    -- of result; 0: all projects
    package_id INTEGER NOT NULL,    -- of result
    limit_bytes INTEGER NOT NULL,   -- of its allotment; 0: none, or not known
    results INTEGER NOT NULL,
    unknown INTEGER NOT NULL,       -- of these, whose max RSS is not known
    wall_s INTEGER NOT NULL, wall_rest_ns INTEGER NOT NULL, -- as in bucket_sum
    cpu_s INTEGER NOT NULL, cpu_rest_ns INTEGER NOT NULL,
    wall_max_ns INTEGER,            -- the longest one; NULL: of none it is known, as in the next ones
    rss_max_bytes INTEGER,          -- largest single process
    cores_max REAL,                 -- most average cores of one
    PRIMARY KEY (project_id, package_id, limit_bytes)
) STRICT, WITHOUT ROWID;

CREATE TABLE package_due (
    -- Packages without rows of package_sum, since results of theirs have moved: to be summed up anew. Empty
    -- between two ingests, unless one was cut short: the next one goes on.
    package_id INTEGER PRIMARY KEY -- of result
) STRICT;
INSERT INTO package_sum SELECT iif(k.is_all, 0, r.project_id), r.package_id, ifnull(a.memory_limit_bytes, 0), count(*),
    sum(r.max_rss_bytes IS NULL), sum(ifnull(r.wall_ns, 0) / 1000000000), sum(ifnull(r.wall_ns, 0) % 1000000000),
    sum(r.cpu_ns / 1000000000), sum(r.cpu_ns % 1000000000), max(r.wall_ns), max(r.max_rss_bytes), max(r.cores)
FROM result r CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY 1, 2, 3;
DROP INDEX result_package;
CREATE INDEX result_package ON result (package_id);

CREATE TABLE invocation_sum (
    -- What an invocation's executions add up to over time, kept by the ingest as _invocation_made has it: its moments
    -- would have to be sorted each time. Rows of those in invocation_due count for nothing.
    invocation TEXT NOT NULL PRIMARY KEY, -- of request
    results INTEGER NOT NULL,       -- executions, failed ones included
    ended INTEGER NOT NULL,         -- of these, with the times for running
    begun INTEGER NOT NULL,         -- with those for waiting
    workers INTEGER NOT NULL,       -- workers seen
    timed INTEGER NOT NULL,         -- of these, with an execution that ended
    held_high INTEGER NOT NULL, held_low INTEGER NOT NULL, -- ns that workers were held, parted as in busy_sum
    span_ns REAL,                   -- from the first one's start to the last one's end; NULL: none. Times may be such that no
                                    -- integer holds this and the next two
    ran_ns REAL NOT NULL,           -- while at least one ran
    waited_ns REAL NOT NULL,        -- while at least one waited
    peak_running INTEGER NOT NULL,  -- most at once
    peak_waiting INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE invocation_due (
    -- Invocations some of whose results are new, have moved or are gone: to be summed up anew. Empty between two
    -- ingests, unless one was cut short: the next one goes on.
    invocation TEXT NOT NULL PRIMARY KEY -- of request
) STRICT, WITHOUT ROWID;
INSERT INTO invocation_due SELECT DISTINCT invocation FROM request WHERE invocation IS NOT NULL AND results > 0;

INSERT INTO setting_default (key, value, about) VALUES
    ('sizing_step_mib', 256, 'recommended memory is rounded up to a multiple of this'),
    ('sizing_oom_pct', 20, 'after a kill for memory at least so much more than the limit ...'),
    ('sizing_oom_mib', 100, '... and so many MiB'),
    ('outlier_results', 20, 'of so many results of an action one alone does not decide its package''s shape');
INSERT INTO setting SELECT key, value, about FROM setting_default d
    WHERE NOT EXISTS (SELECT 1 FROM setting s WHERE s.key = d.key);

-- Step 3 of the tables: what workers may use and what would suit them.

CREATE TABLE pool_spec (
    -- What the workers of a pool request from a time on, as a values file of the chart said. An
    -- execution before a pool's first row has unknown requests. NULL: the file does not say.
    -- Yours to change: the next ingest allots the stored results of a changed pool anew.
    cache TEXT NOT NULL,           -- the user's name for the cluster; ''
    pool TEXT NOT NULL,            -- key below pools
    valid_from_ns INTEGER NOT NULL,
    enabled INTEGER CHECK (enabled IN (0, 1)), -- 0: the pool is retired, and no size to compare with
    instance_prefix TEXT,
    concurrency INTEGER CHECK (concurrency BETWEEN 1 AND 1000000000), -- actions that a worker runs at once
    cpu_request_milli INTEGER CHECK (cpu_request_milli BETWEEN 0 AND 1000000000),
                                   -- of the container that runs the actions; thousandths of a core;
                                   -- where only a limit stands: the limit, as Kubernetes has it
    cpu_limit_milli INTEGER CHECK (cpu_limit_milli BETWEEN 0 AND 1000000000),
    memory_request_bytes INTEGER CHECK (memory_request_bytes BETWEEN 0 AND 1125899906842624),
    memory_limit_bytes INTEGER CHECK (memory_limit_bytes BETWEEN 0 AND 1125899906842624),
    workers_min INTEGER CHECK (workers_min BETWEEN 0 AND 1000000000), -- scaling.min; without scaling: worker.replicas
    workers_max INTEGER CHECK (workers_max BETWEEN 0 AND 1000000000), -- scaling.max; the same
    cooldown_s INTEGER CHECK (cooldown_s BETWEEN 0 AND 1000000000),   -- scaling.cooldownSeconds: idle time before a worker goes
    PRIMARY KEY (cache, pool, valid_from_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE shape (
    -- Sizes of workers that are thought of: what could be, beside what is. Yours to change. What --shape
    -- would refuse is refused here, too.
    shape TEXT NOT NULL PRIMARY KEY CHECK (length(shape) BETWEEN 1 AND 63 AND shape NOT GLOB '*[^-_.a-zA-Z0-9]*'),
    cpu_milli INTEGER NOT NULL CHECK (cpu_milli BETWEEN 1 AND 1000000000),
                                           -- requested; there is no CPU limit, so more is a burst
    memory_request_bytes INTEGER NOT NULL CHECK (memory_request_bytes BETWEEN 1 AND 1125899906842624),
    memory_limit_bytes INTEGER NOT NULL    -- over this the kernel kills
        CHECK (memory_limit_bytes BETWEEN memory_request_bytes AND 1125899906842624)
) STRICT, WITHOUT ROWID;

CREATE TABLE allotment (
    -- What an execution was given: of its container, where pods or Prometheus told of it, else
    -- of its pool, as pool_spec has it for that time. Rows are shared by equal ones.
    allotment_id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL CHECK (source IN (1, 2)), -- 1 container, 2 pool_spec
    pool TEXT,                    -- NULL: the worker's text tells none
    cpu_request_milli INTEGER,
    cpu_limit_milli INTEGER,      -- NULL: none, as the chart has it, or not known
    memory_request_bytes INTEGER,
    memory_limit_bytes INTEGER
) STRICT;
CREATE UNIQUE INDEX allotment_key ON allotment (source, ifnull(pool, ''), ifnull(cpu_request_milli, -1),
    ifnull(cpu_limit_milli, -1), ifnull(memory_request_bytes, -1), ifnull(memory_limit_bytes, -1));

-- NULL: not known what it was given. Figures are never compared across limits: make -jN follows them.
ALTER TABLE result ADD COLUMN allotment_id INTEGER REFERENCES allotment;

CREATE TABLE pool_allotment (
    -- What stored results were allotted by each row of pool_spec. Kept by the ingest: where you
    -- edit pool_spec, the next one finds the difference and allots the pool's results anew.
    cache TEXT NOT NULL,
    pool TEXT NOT NULL,
    valid_from_ns INTEGER NOT NULL,
    allotment_id INTEGER REFERENCES allotment, -- NULL: the row names no requests and no limits
    PRIMARY KEY (cache, pool, valid_from_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE allotment_due (
    -- Whose results must be allotted anew, because more was learned of it. Empty between two
    -- ingests, unless one was cut short: the next one goes on.
    due_id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL CHECK (kind IN (1, 2, 3)), -- 1 a pod, 2 a pool, 3 all
    name TEXT NOT NULL
) STRICT;

CREATE TABLE allotment_rule (
    -- By which rule results are allotted. Where it is another one by now, all are allotted anew.
    part TEXT NOT NULL PRIMARY KEY, -- runner_container: the setting; _worker: the view's text
    value TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE project_file (
    -- Projects whose project.json was read: it says what is listed as heavy now.
    project_id INTEGER PRIMARY KEY REFERENCES project,
    path TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE listed_package (
    -- `heavy` of project.json, as it was read last.
    project_id INTEGER NOT NULL REFERENCES project_file ON DELETE CASCADE,
    package TEXT NOT NULL,        -- may be one that no run has shown
    position INTEGER NOT NULL,    -- in the list, from 0
    PRIMARY KEY (project_id, package)
) STRICT, WITHOUT ROWID;

INSERT INTO shape (shape, cpu_milli, memory_request_bytes, memory_limit_bytes) VALUES
    ('small', 1500, 2147483648, 4294967296),
    ('big', 6000, 8589934592, 12884901888);
INSERT INTO setting_default (key, value, about) VALUES
    ('pod_overhead_cpu', 0.26, 'cores that the other containers of a worker''s pod request'),
    ('pod_overhead_gib', 0.516, '... and GiB of memory'),
    ('worker_start_s', 65, 'from wanting one more worker to its first action'),
    ('sizing_min_results', 100, 'a size is recommended from so many results on'),
    ('sizing_margin_pct', 15, 'memory over the largest seen that a recommendation adds'),
    ('make_gib_per_job', 2, 'make -jN: N is the memory limit divided by this, ...'),
    ('make_extra_jobs', 1, '... but not more than the cores and this'),
    ('compare_floor_s', 1, 'two runs are compared: a difference of wall time up to this is none, ...'),
    ('compare_floor_pct', 10, '... nor one up to this percentage of the shorter one'),
    ('compare_repeats', 3, '... nor, where so many other runs executed the same under the same limit, ...'),
    ('compare_noise', 3, '... one up to this, times their median distance from their median');
INSERT INTO setting SELECT key, value, about FROM setting_default d
    WHERE NOT EXISTS (SELECT 1 FROM setting s WHERE s.key = d.key);

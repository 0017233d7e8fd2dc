-- Step 4 of the tables: what containers used while actions ran, as Prometheus sampled it.

CREATE TABLE container_life (
    -- One life of a container: a restart makes another. So the long id is stored once.
    life_id INTEGER PRIMARY KEY,
    pod_id INTEGER NOT NULL REFERENCES pod ON DELETE CASCADE,
    container TEXT NOT NULL,
    container_id TEXT NOT NULL,   -- the cgroup's path, as cAdvisor names it
    UNIQUE (pod_id, container, container_id)
) STRICT;

CREATE TABLE container_usage (
    -- What one life of a container used in one minute in which a known execution ran in it. Of two
    -- answers the one with more samples stays: Prometheus forgets, and what is young grows.
    life_id INTEGER NOT NULL REFERENCES container_life ON DELETE CASCADE,
    minute INTEGER NOT NULL,      -- it began so many times 60 s after the epoch
    memory_samples INTEGER NOT NULL,
    working_set_peak_bytes INTEGER, -- NULL: no sample
    anon_peak_bytes INTEGER,
    cpu_samples INTEGER NOT NULL, -- with a sample before it, from which the counter rose
    cpu_ns INTEGER,               -- those rises; NULL: none
    cpu_window_ns INTEGER,        -- the time that they took: cores = cpu_ns / cpu_window_ns
    PRIMARY KEY (life_id, minute)
) STRICT, WITHOUT ROWID;
CREATE INDEX container_usage_by_minute ON container_usage (minute);

CREATE TABLE result_container (
    -- What an execution's container used while it ran, from the samples in that time alone: peaks are
    -- lower bounds. No row: Prometheus was not asked. As above, the row with more samples stays.
    result_id INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    status INTEGER NOT NULL CHECK (status IN (1, 2, 3, 4, 5)), -- 1 ok: sampled; 2 no_sample: its pod was, before
                                  -- or after it; 3 no_series: other pods were; 4 expired: Prometheus had
                                  -- forgotten that time; 5 shared: several actions at a time, so not joined
    settled INTEGER NOT NULL CHECK (settled IN (0, 1)), -- 0: it was young, and is asked about again
    interval_ms INTEGER,          -- median time between two samples around it; NULL: not two
    lives INTEGER,                -- containers that had a sample in it; more than 1: it restarted
    memory_samples INTEGER NOT NULL,
    working_set_peak_bytes INTEGER, -- NULL: no sample; so are those below
    anon_peak_bytes INTEGER,
    cpu_samples INTEGER NOT NULL,
    cpu_ns INTEGER,               -- the counter's rises between samples of one life; NULL: not two
    cpu_window_ns INTEGER,        -- the time that they took: cores = cpu_ns / cpu_window_ns
    cores_peak_milli INTEGER,     -- the steepest of these rises, in thousandths of a core
    wall_ns INTEGER,              -- that of a result that counts (action cache, with usage), for the index below
    -- What the figures are worth: 1 high, 10 samples or more; 2 medium, 3 to 9; 3 low; 4 none; else 2 + status.
    worth INTEGER GENERATED ALWAYS AS (CASE WHEN status > 1 THEN status + 2 WHEN memory_samples >= 10 THEN 1
        WHEN memory_samples >= 3 THEN 2 WHEN memory_samples >= 1 THEN 3 ELSE 4 END) VIRTUAL
) STRICT;
CREATE INDEX result_container_open ON result_container (result_id) WHERE settled = 0;
CREATE INDEX result_container_worth ON result_container (worth, wall_ns);
-- Few, as a rule: a scrape seldom falls on a short execution.
CREATE INDEX result_container_peak ON result_container (result_id, working_set_peak_bytes) WHERE working_set_peak_bytes IS NOT NULL;

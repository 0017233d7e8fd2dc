-- Step 9 of the tables: what results say that cannot be; and a package's results in one project are read alone.

CREATE TABLE implausible (
    -- One row a result that says what no machine does; where it does, the result's own column is NULL, so that no sum and
    -- no recommendation believes it. NULL here: plausible, or not said.
    result_id INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    wall_ns INTEGER,      -- over 366 days
    cpu_ns INTEGER,       -- of more than 8,192 CPUs; or over 366 days where no plausible wall time is known
    max_rss_bytes INTEGER -- over 64 TiB
) STRICT;

DROP INDEX result_package;
CREATE INDEX result_package ON result (package_id, project_id);

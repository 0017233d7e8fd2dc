-- Step 7 of the tables: what was dropped on purpose.

CREATE TABLE dropping (
    -- A row for each time that rows were dropped to which others refer by id. A program that has the database open for
    -- writing meanwhile stops when there is a new one, since ids that it holds may be another row's.
    dropping_id INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE pruned_run (
    -- Runs that `prune` dropped, so that an ingest does not bring back those whose logs are still there. To
    -- have one back, delete its row here, and the rows of log_file that no row of run_log names: then
    -- its log, where it still is, is read anew.
    trace_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

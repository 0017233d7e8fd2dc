-- Step 5 of the tables: the paths through a build's graph that Buck2 logs when it ends.

CREATE TABLE build_graph (
    -- The BuildGraphExecutionInfo of a run; of several the first one. Runs without one have no row: a cut
    -- log, a command that builds nothing, a Buck2 from before 2023.
    run_id INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    seq INTEGER NOT NULL, -- number of its record
    nodes INTEGER,        -- of the graph
    edges INTEGER         -- of the graph; a log holds none of them but those of the paths below
) STRICT;

CREATE TABLE path_step (
    -- One entry of the critical or the slowest path, in chronological order.
    run_id INTEGER NOT NULL REFERENCES build_graph ON DELETE CASCADE,
    path INTEGER NOT NULL CHECK (path IN (1, 2)), -- 1 critical, 2 slowest
    idx INTEGER NOT NULL,     -- from 0
    kind INTEGER,             -- field number in CriticalPathEntry2.entry; NULL: one that was not known
    name_id INTEGER REFERENCES action_name, -- whose step; category '' but for actions; NULL: nobody's
    detail_id INTEGER REFERENCES rule, -- a load's or listing's package, a materialization's path, a test's
                                       -- suite, a generic entry's kind, a waiting's category
    rule_id INTEGER REFERENCES rule, -- type of the target's rule
    execution_kind INTEGER,   -- buck.data.ActionExecutionKind of an action
    span_id INTEGER,          -- its first one: that of the action in table action, for instance
    hash BLOB,                -- of the action's digest
    size_bytes INTEGER,
    reused INTEGER NOT NULL CHECK (reused IN (0, 1)), -- 1: computed by an earlier command
    start_off_ns INTEGER,     -- since the build's start
    duration_us INTEGER,      -- what the path was computed with
    user_us INTEGER,          -- of it, what the user can change
    total_us INTEGER,
    potential_us INTEGER,     -- how much sooner the build would end without it; of the critical path only
    queue_us INTEGER,         -- of it, waiting for actions to run
    off_path_us INTEGER,      -- time beside the path: not part of duration_us
    PRIMARY KEY (run_id, path, idx)
) STRICT, WITHOUT ROWID;

-- Step 1 of the tables. Frozen once released: later changes are new steps.
-- Integers are ns (nanoseconds), us (microseconds) or bytes, named so; times are
-- since the Unix epoch, UTC. NULL is unknown, never 0. Tables have singular
-- names; what people query are the views (plural, queries/*.sql).

CREATE TABLE setting (
    -- Thresholds that views use. Yours to change: an ingest never overwrites a row. To go back to the default
    -- delete the row: it comes back when the file is next opened for writing. Until then no view judges by it.
    key TEXT NOT NULL PRIMARY KEY,
    value ANY NOT NULL, -- a number; of portal_url and runner_container a text
    about TEXT NOT NULL,
    -- The name is what SQLite says when it refuses a value. Without a bound above, Infinity would be a number.
    CONSTRAINT "a number from 0 on (sizing_step_mib from 1 and outlier_results from 2); portal_url and runner_container: a text"
    CHECK (CASE WHEN key IN ('portal_url', 'runner_container') THEN typeof(value) = 'text' ELSE typeof(value) IN ('integer', 'real')
        AND value BETWEEN CASE key WHEN 'sizing_step_mib' THEN 1 WHEN 'outlier_results' THEN 2 ELSE 0 END AND 1e12 END)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting_default (
    -- The settings as they are shipped, from which a deleted row of setting comes back. The program's own.
    key TEXT NOT NULL PRIMARY KEY,
    value ANY NOT NULL,
    about TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mode (
    -- What the four switches of the wrapper are called. Yours to change.
    mode TEXT NOT NULL PRIMARY KEY,
    remote_cache TEXT NOT NULL,     -- value of br2.remote_cache
    cache_uploads TEXT NOT NULL,    -- of br2.cache_uploads
    remote_execution TEXT NOT NULL, -- of br2.remote_execution
    local_execution TEXT NOT NULL   -- of br2.local_execution
) STRICT, WITHOUT ROWID;

CREATE TABLE variant (
    -- Names that may begin a cell's salt or isolation dir. Yours to change.
    variant TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE oom_pattern (
    -- Texts of a failed attempt that speak of a kill for memory. Yours to change.
    pattern TEXT NOT NULL PRIMARY KEY, -- found anywhere in stderr or an error's text; case counts
    about TEXT NOT NULL                -- who writes it
) STRICT, WITHOUT ROWID;

CREATE TABLE canned_view (
    -- The views that the program owns: dropped and made again when their text changes.
    name TEXT NOT NULL PRIMARY KEY,
    sql TEXT NOT NULL -- as created; a view that differs is somebody else's and is left alone
) STRICT, WITHOUT ROWID;

-- ---- names, each stored once ------------------------------------------------

CREATE TABLE project (
    -- Names of projects.
    project_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE instance (
    -- Where a digest is asked: the user's name for a cluster ('' by default) and the instance name.
    instance_id INTEGER PRIMARY KEY,
    cache TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (cache, name)
) STRICT;

CREATE TABLE package (
    -- Packages: what a user compares and lists as heavy.
    package_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE -- the target's name, as `heavy` in project.json has it
) STRICT;

CREATE TABLE target (
    -- Targets, apart from their configuration.
    target_id INTEGER PRIMARY KEY,
    package_id INTEGER NOT NULL REFERENCES package,
    buck_package TEXT NOT NULL, -- cell//path
    label TEXT NOT NULL UNIQUE  -- cell//path:name
) STRICT;
CREATE INDEX target_by_package ON target (package_id);

CREATE TABLE configuration (
    -- Configurations of targets, by Buck2's full name.
    configuration_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE category (
    -- What kind of step an action is to its rule.
    category_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE -- '' for tests and listings
) STRICT;

CREATE TABLE action_name (
    -- What an action is, apart from the run: the key on which runs are compared.
    name_id INTEGER PRIMARY KEY,
    target_id INTEGER NOT NULL REFERENCES target,
    category_id INTEGER NOT NULL REFERENCES category,
    identifier TEXT NOT NULL, -- '' where there is none; as the other names its first MiB
    configuration_id INTEGER NOT NULL REFERENCES configuration,
    UNIQUE (target_id, category_id, identifier, configuration_id)
) STRICT;

CREATE TABLE worker (
    -- Who executed.
    worker_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE, -- the text as received: usually JSON of the worker's labels
    -- Sums of its results, kept by the ingest (as an index they would cost 20 bytes a
    -- result). They stop at the largest integer, whatever a server sends:
    results INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,     -- exit code not 0, or ended on a signal
    with_usage INTEGER NOT NULL DEFAULT 0, -- counted ones; wall and cpu are theirs
    wall_ns INTEGER NOT NULL DEFAULT 0,
    cpu_ns INTEGER NOT NULL DEFAULT 0,
    rss_min_bytes INTEGER,                 -- the floor: the runner's own max RSS
    rss_max_bytes INTEGER
) STRICT;

CREATE TABLE platform (
    -- Properties with which a remote command was sent.
    platform_id INTEGER PRIMARY KEY,
    properties TEXT NOT NULL UNIQUE -- JSON array of [name, value], in the log's order
) STRICT;

CREATE TABLE rule (
    -- Rule types, executor use cases, hosts: short words of Buck2.
    rule_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE request (
    -- RequestMetadata of a result: who asked for the execution.
    request_id INTEGER PRIMARY KEY,
    invocation TEXT,        -- tool_invocation_id: the trace id of the run that executed it
    tool_name TEXT,
    tool_version TEXT,
    correlated_invocations_id TEXT,
    action_mnemonic TEXT,
    target_id TEXT,
    configuration_id TEXT,
    -- Sums of its results, kept as those of worker:
    results INTEGER NOT NULL DEFAULT 0,
    with_usage INTEGER NOT NULL DEFAULT 0, -- counted ones; wall and cpu are theirs
    wall_ns INTEGER NOT NULL DEFAULT 0,
    cpu_ns INTEGER NOT NULL DEFAULT 0,
    first_ns INTEGER,                      -- the first one's first known time
    last_ns INTEGER                        -- the last one's completion
) STRICT;
-- NULLs are not equal in a UNIQUE constraint; an empty text never occurs.
CREATE UNIQUE INDEX request_key ON request (ifnull(invocation, ''), ifnull(tool_name, ''),
    ifnull(tool_version, ''), ifnull(correlated_invocations_id, ''), ifnull(action_mnemonic, ''),
    ifnull(target_id, ''), ifnull(configuration_id, ''));
CREATE INDEX request_by_invocation ON request (invocation);

-- ---- what the logs say --------------------------------------------------------

CREATE TABLE run (
    -- One Buck2 invocation. Identity: its trace id, never the path of its log.
    run_id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL UNIQUE,
    project_id INTEGER NOT NULL REFERENCES project,
    isolation_dir TEXT,
    command TEXT,             -- build, test, ...
    argv TEXT,                -- JSON array, secrets replaced; of its first MiB the arguments
    working_dir TEXT,
    start_ns INTEGER,
    duration_us INTEGER,
    succeeded INTEGER CHECK (succeeded IN (0, 1)),
    exit_code INTEGER,        -- of the test executor
    error TEXT,               -- the first error's text
    error_count INTEGER,
    complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)), -- the log's last record was read
    host TEXT, os TEXT, os_version TEXT, arch TEXT, user TEXT,
    buck2_revision TEXT, daemon_uuid TEXT, revision TEXT, -- revision: of the repository
    digest_function INTEGER,  -- sent with each lookup; as in remote_execution.proto
    instance_id INTEGER REFERENCES instance, -- under which its digests are asked
    instance_proved INTEGER NOT NULL DEFAULT 0 CHECK (instance_proved IN (0, 1)), -- an answer proved it, or a flag set it
    instance_source TEXT      -- who proposed it, see instance_candidate
) STRICT;
CREATE INDEX run_by_project ON run (project_id);

CREATE TABLE run_config (
    -- -c/--config values of a run; the last one of a key; secrets replaced.
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    key TEXT NOT NULL,        -- section.key, or cell//section.key
    value TEXT NOT NULL,
    PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE log_file (
    -- A file that was read. Same bytes and mtime: known, not opened again. All
    -- NULL but its path: it is being read, or a kill came before its end.
    log_file_id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    bytes INTEGER,
    mtime_ns INTEGER,
    ending TEXT,              -- whole, cut, broken
    records INTEGER,
    malformed INTEGER,
    too_large INTEGER,
    note TEXT                 -- what was wrong, in words
) STRICT;

CREATE TABLE run_log (
    -- Which file showed which run, and whose project that place says it is.
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    log_file_id INTEGER NOT NULL REFERENCES log_file ON DELETE CASCADE,
    project TEXT NOT NULL,
    project_rank INTEGER NOT NULL, -- 3 --project, 2 inside a buck-out, 1 below a root, 0 working_dir
    isolation_dir TEXT,
    PRIMARY KEY (run_id, log_file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_log_by_file ON run_log (log_file_id);

CREATE TABLE instance_candidate (
    -- Instance names under which a run's digests may be found. Several logs of a run
    -- add up. Asked in the order of rank, then the longer name, then the name.
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    cache TEXT NOT NULL,
    name TEXT NOT NULL,
    rank INTEGER NOT NULL,    -- of its source, the best that proposed it
    source TEXT NOT NULL,     -- flag 0, link 1, .buckconfig 2, project.json 3, log 4, default 5
    PRIMARY KEY (run_id, cache, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE lookup (
    -- One digest as it is asked: instance, function, hash, size.
    lookup_id INTEGER PRIMARY KEY,
    instance_id INTEGER NOT NULL REFERENCES instance,
    function INTEGER NOT NULL,
    hash BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0, -- 0 wanted, 1 found, 2 not found, 3 outputs evicted,
                                      -- 4 refused, 5 invalid, 6 too large, 7 error, 8 unreachable, 9 malformed
    message TEXT,                     -- the server's words; NULL for 0, 1 and 2
    -- The earliest reference by (run start, trace id, seq), whatever the order of ingest:
    first_run_id INTEGER NOT NULL REFERENCES run,
    first_seq INTEGER NOT NULL,
    name_id INTEGER NOT NULL REFERENCES action_name,
    digest TEXT GENERATED ALWAYS AS (lower(hex(hash)) || ':' || size_bytes) VIRTUAL,
    digest_key TEXT GENERATED ALWAYS AS (hex(substr(hash, 1, 2)) || hex(substr(hash, -2))) VIRTUAL -- see _lookup
) STRICT;
-- (instance_id, function, hash, size_bytes) is unique: the ingest looks before it inserts, and `check`
-- looks at all. An index of it all would cost 90 bytes a digest, four of its bytes a quarter of that.
-- The last ones too, as numbers counted up make poor hashes only at one end.
CREATE INDEX lookup_by_digest ON lookup (digest_key);
CREATE INDEX lookup_open ON lookup (lookup_id) WHERE state <> 1;

CREATE TABLE action (
    -- One ActionExecutionEnd, test run or test listing of a run.
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    span_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,     -- number of its record in the log: for order only
    name_id INTEGER NOT NULL REFERENCES action_name,
    type INTEGER NOT NULL CHECK (type BETWEEN 1 AND 3), -- 1 action, 2 test, 3 listing
    kind INTEGER,             -- buck.data.ActionKind
    execution_kind INTEGER,   -- buck.data.ActionExecutionKind
    failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
    start_ns INTEGER,
    duration_us INTEGER,      -- of the span, waiting included
    wall_us INTEGER,          -- Buck2's own: time waited for the final command
    output_bytes INTEGER,
    input_bytes INTEGER,
    upload_result INTEGER,    -- buck.data.UploadResult
    dep_file_upload_result INTEGER,
    scheduling_mode INTEGER,
    rule_id INTEGER REFERENCES rule,
    PRIMARY KEY (run_id, span_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX action_by_name ON action (name_id);
CREATE INDEX action_failed ON action (run_id) WHERE failed = 1;
CREATE INDEX action_test ON action (run_id) WHERE type <> 1;

CREATE TABLE action_count (
    -- How many actions of each kind a run has, kept by the ingest (an index of them would
    -- cost 13 bytes an action).
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    type INTEGER NOT NULL,    -- these three as in action
    execution_kind INTEGER NOT NULL, -- 0: not known
    failed INTEGER NOT NULL,
    actions INTEGER NOT NULL,
    PRIMARY KEY (run_id, type, execution_kind, failed)
) STRICT, WITHOUT ROWID;

CREATE TABLE action_text (
    -- Texts that few actions have.
    run_id INTEGER NOT NULL,
    span_id INTEGER NOT NULL,
    error TEXT,               -- of a failed action: its first MiB
    suite TEXT,               -- of a test
    host TEXT,                -- the daemon's host, of local actions by newer versions of Buck2; never the worker
    dep_file_key TEXT,
    PRIMARY KEY (run_id, span_id),
    FOREIGN KEY (run_id, span_id) REFERENCES action ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
    -- One CommandExecution of an action: a rejected remote one, then the local fallback, are two.
    run_id INTEGER NOT NULL,
    span_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,     -- from 0, in the order tried
    kind INTEGER NOT NULL,    -- 1 local, 2 remote, 3 omitted local, 4 worker init, 5 worker
    status INTEGER NOT NULL,  -- 2 success, 3 failure, 4 timeout, 5 error, 7 cancelled, 8 worker failure
    lookup_id INTEGER REFERENCES lookup, -- of a remote one's digest
    cache_hit INTEGER,        -- of a remote one: 0 executed, 1 action cache, 2 remote dep-file cache
    exit_code INTEGER,
    start_ns INTEGER,         -- of the original execution for a hit
    wall_us INTEGER,
    execution_us INTEGER,
    queue_us INTEGER,         -- seen by the client
    server_queue_us INTEGER,
    input_us INTEGER,
    memory_peak_bytes INTEGER,-- local ones only: 0, which Buck2 writes for remote ones, is unknown
    platform_id INTEGER REFERENCES platform,
    use_case_id INTEGER REFERENCES rule,
    PRIMARY KEY (run_id, span_id, idx),
    FOREIGN KEY (run_id, span_id) REFERENCES action ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_by_lookup ON attempt (lookup_id) WHERE lookup_id IS NOT NULL;
CREATE INDEX attempt_unsuccessful ON attempt (status) WHERE status <> 2;

CREATE TABLE attempt_digest (
    -- Digests of attempts that are never asked: LocalCommand and worker ones.
    run_id INTEGER NOT NULL,
    span_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    function INTEGER NOT NULL,
    hash BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    PRIMARY KEY (run_id, span_id, idx),
    FOREIGN KEY (run_id, span_id, idx) REFERENCES attempt ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt_text (
    -- Texts of attempts that did not simply succeed: the first MiB of each. All texts of an action and its
    -- attempts together are 1.25 MiB at most: what comes after is empty.
    run_id INTEGER NOT NULL,
    span_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    error_stage TEXT,
    error TEXT,
    message TEXT,             -- additional_message: the server's ExecuteResponse.message
    PRIMARY KEY (run_id, span_id, idx),
    FOREIGN KEY (run_id, span_id, idx) REFERENCES attempt ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt_stderr (
    -- stderr of failed attempts; those that wrote none have no row.
    run_id INTEGER NOT NULL,
    span_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    stderr TEXT NOT NULL,     -- its last bytes, up to the bound; '' if the ingest was told to leave it out
    stderr_bytes INTEGER NOT NULL, -- of the whole
    PRIMARY KEY (run_id, span_id, idx),
    FOREIGN KEY (run_id, span_id, idx) REFERENCES attempt ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE in_flight (
    -- Started, not ended in what was read of the log: a cut log, a killed client.
    -- A record that ends the span, or a longer copy of the log, takes the row away.
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    span_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    name_id INTEGER NOT NULL REFERENCES action_name,
    type INTEGER NOT NULL,
    start_ns INTEGER,
    stage TEXT,               -- the last executor stage that named the digest
    stage_seq INTEGER,        -- number of that stage's record
    hash BLOB,
    size_bytes INTEGER,
    function INTEGER,
    PRIMARY KEY (run_id, span_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE cancelled_span (
    -- Started actions that will never end: remembered, so that a shorter copy of
    -- the log does not put them in flight again.
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    span_id INTEGER NOT NULL,
    PRIMARY KEY (run_id, span_id)
) STRICT, WITHOUT ROWID;

-- ---- what the cache says --------------------------------------------------------

CREATE TABLE result (
    -- The record of one execution. Insert only: what was found is never lost.
    result_id INTEGER PRIMARY KEY,
    lookup_id INTEGER NOT NULL REFERENCES lookup,
    source INTEGER NOT NULL CHECK (source IN (1, 2)), -- 1 action cache, 2 historical
    wall_ns INTEGER,          -- virtual_execution_duration, else execution completed - start
    cpu_ns INTEGER,           -- user + system; NULL without POSIXResourceUsage
    max_rss_bytes INTEGER,    -- largest single process; a lower bound if killed
    exit_code INTEGER,
    termination_signal TEXT,
    worker_id INTEGER REFERENCES worker,
    request_id INTEGER REFERENCES request,
    -- Of the lookup's earliest reference, kept here for the covering indexes:
    name_id INTEGER NOT NULL REFERENCES action_name,
    package_id INTEGER NOT NULL REFERENCES package,
    project_id INTEGER NOT NULL REFERENCES project,
    first_run_id INTEGER NOT NULL REFERENCES run,
    bucket INTEGER GENERATED ALWAYS AS ((wall_ns >= 5000000000) + (wall_ns >= 20000000000)
        + (wall_ns >= 60000000000) + (wall_ns >= 300000000000)) VIRTUAL,
    cores REAL GENERATED ALWAYS AS (1.0 * cpu_ns / max(wall_ns, 1000000)) VIRTUAL,
    -- Historical ones hang on the attempt that links them:
    attempt_run_id INTEGER, attempt_span_id INTEGER, attempt_idx INTEGER,
    status_code INTEGER,      -- google.rpc.Code of a historical one
    status_message TEXT
) STRICT;
-- One result of the action cache a lookup; one historical one an attempt.
CREATE UNIQUE INDEX result_by_lookup ON result (lookup_id, source, ifnull(attempt_run_id, 0),
    ifnull(attempt_span_id, 0), ifnull(attempt_idx, 0));
CREATE UNIQUE INDEX result_historical ON result (attempt_run_id, attempt_span_id, attempt_idx) WHERE source = 2;
-- "Counted": from the action cache, with POSIX usage. What all sums are made of.
CREATE INDEX result_wall ON result (wall_ns) WHERE source = 1 AND cpu_ns IS NOT NULL;
CREATE INDEX result_bucket ON result (bucket, cores, project_id) WHERE source = 1 AND cpu_ns IS NOT NULL;
-- The last three so that who asks which of them a worker executed reads no row of the table.
CREATE INDEX result_no_usage ON result (lookup_id, source, cpu_ns, worker_id) WHERE source = 1 AND cpu_ns IS NULL;
CREATE INDEX result_package ON result (package_id, wall_ns, cpu_ns, max_rss_bytes, source);
CREATE INDEX result_signal ON result (termination_signal) WHERE termination_signal IS NOT NULL;
-- Who had what executed, and where: executions, cells, and whose a killed container was.
CREATE INDEX result_request ON result (request_id, worker_id, first_run_id);

CREATE TABLE bucket_sum (
    -- Sums of counted results by class of wall time, kept by the ingest. Whole seconds and the
    -- rest apart, so that no sum is too large for an integer.
    bucket INTEGER PRIMARY KEY, -- of result; -1: its wall time is not known
    results INTEGER NOT NULL,
    wall_s INTEGER NOT NULL, wall_rest_ns INTEGER NOT NULL,
    cpu_s INTEGER NOT NULL, cpu_rest_ns INTEGER NOT NULL,
    rss_max_bytes INTEGER
) STRICT;

CREATE TABLE phase_sum (
    -- Sums of the phases of all results of the action cache, kept by the ingest.
    phase_id INTEGER PRIMARY KEY, -- as _phase numbers them
    known INTEGER NOT NULL,       -- results where it is known and not negative
    skewed INTEGER NOT NULL,      -- results where it is negative
    total_s INTEGER NOT NULL, total_rest_ns INTEGER NOT NULL, -- of the known ones, as in bucket_sum
    max_ns INTEGER NOT NULL       -- of these
) STRICT;

CREATE TABLE result_time (
    -- ExecutedActionMetadata's timestamps: the first known one whole, each other one as the
    -- step from the known one before it, in the order below (the shortest integers; most
    -- phases are one step). NULL: unknown. See _time for times, _span for phases.
    result_id INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    base_ns INTEGER,          -- NULL: no timestamp is known
    queued_step_ns INTEGER,   -- 0, as it can only be the first one
    worker_start_step_ns INTEGER,
    fetch_start_step_ns INTEGER,
    fetch_completed_step_ns INTEGER,
    execution_start_step_ns INTEGER,
    execution_completed_step_ns INTEGER,
    upload_start_step_ns INTEGER,
    upload_completed_step_ns INTEGER,
    worker_completed_step_ns INTEGER,
    is_virtual INTEGER        -- 1: result.wall_ns is the virtual_execution_duration that was sent; NULL: none was
) STRICT;
-- Few, as a rule: a phase that is unknown (uploaded by the client), or ends before it begins.
CREATE INDEX result_time_irregular ON result_time (result_id) WHERE (queued_step_ns = 0 AND worker_start_step_ns >= 0
    AND fetch_start_step_ns IS NOT NULL AND fetch_completed_step_ns >= 0
    AND execution_start_step_ns IS NOT NULL AND execution_completed_step_ns >= 0
    AND upload_start_step_ns IS NOT NULL AND upload_completed_step_ns >= 0) IS NOT TRUE;

CREATE TABLE rusage (
    -- buildbarn.resourceusage.POSIXResourceUsage, whole (max RSS and signal are in result).
    -- NULL inside of a row: sent, but out of any range.
    result_id INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    user_ns INTEGER,
    system_ns INTEGER,
    minor_faults INTEGER,
    major_faults INTEGER,
    swaps INTEGER,
    block_in INTEGER,  -- operations of 512 bytes on Linux
    block_out INTEGER,
    messages_sent INTEGER,
    messages_received INTEGER,
    signals_received INTEGER,
    voluntary_ctx INTEGER,
    involuntary_ctx INTEGER
) STRICT;

CREATE TABLE file_pool_usage (
    -- buildbarn.resourceusage.FilePoolResourceUsage where it says anything (virtual build directories).
    result_id INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    files_created INTEGER, files_count_peak INTEGER, files_bytes_peak INTEGER,
    reads INTEGER, read_bytes INTEGER,
    writes INTEGER, write_bytes INTEGER, truncates INTEGER
) STRICT;

CREATE TABLE input_root_usage (
    -- buildbarn.resourceusage.InputRootResourceUsage.
    result_id INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    directories_resolved INTEGER, directories_read INTEGER, files_read INTEGER
) STRICT;

CREATE TABLE expense (
    -- buildbarn.resourceusage.MonetaryResourceUsage: fetch + run + upload at the runner's rate.
    result_id INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
    name TEXT NOT NULL,
    currency TEXT NOT NULL,
    cost REAL,
    PRIMARY KEY (result_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE aux_message (
    -- Auxiliary messages that this version does not know, for tomorrow's decoder.
    result_id INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (result_id, idx)
) STRICT, WITHOUT ROWID;

INSERT INTO setting_default (key, value, about) VALUES
    ('heavy_wall_s', 60, 'a package is heavy if an action ran longer than this'),
    ('heavy_cores', 4, 'or averaged more cores than this ...'),
    ('heavy_cores_min_s', 5, '... while it ran longer than this'),
    ('rss_floor_pct', 10, 'a max RSS within this percentage of its worker''s smallest is the runner''s own'),
    ('retry_missing_days', 7, 'missing results are asked for again while their run is younger'),
    ('executed_tolerance_s', 2, 'clock tolerance when a result names no invocation'),
    ('portal_url', '', 'base of the portal''s pages, e.g. http://127.0.0.1:8081/browser');
INSERT INTO setting SELECT key, value, about FROM setting_default;
INSERT INTO mode (mode, remote_cache, cache_uploads, remote_execution, local_execution) VALUES
    ('local', 'false', 'false', 'false', 'true'),
    ('local-cache', 'true', 'true', 'false', 'true'),
    ('remote', 'false', 'false', 'true', 'false'),
    ('remote-cache', 'true', 'true', 'true', 'false');
INSERT INTO variant (variant) VALUES ('wrapped'), ('native');
INSERT INTO oom_pattern (pattern, about) VALUES
    ('Killed', 'the shell, of a child that was killed; also a program that prints its child''s end'),
    ('Killed signal terminated program', 'gcc and g++, of cc1, as, ld'),
    ('Cannot allocate memory', 'ENOMEM as libc words it'),
    ('std::bad_alloc', 'C++: operator new'),
    ('OutOfMemoryError', 'Java'),
    ('failed (exit -9)', 'the wrapper, of a make that ended on KILL'),
    ('failed (exit 137)', 'the wrapper, of a shell whose child was killed');

-- Step 2 of the tables: what tells whether an action was killed for memory.

CREATE TABLE historical (
    -- The HistoricalExecuteResponse that a failed attempt's message links: a blob of the
    -- CAS. Its usage becomes a result of source 2 that hangs on the attempt.
    run_id INTEGER NOT NULL,
    span_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    function INTEGER NOT NULL, -- of the blob's digest, as the link names it
    hash BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0, -- as lookup.state; 2: gone from the CAS; 10: about another action
    message TEXT,              -- the server's words, or what is wrong with the blob
    PRIMARY KEY (run_id, span_id, idx),
    FOREIGN KEY (run_id, span_id, idx) REFERENCES attempt ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX historical_open ON historical (run_id) WHERE state <> 1;
CREATE INDEX historical_by_blob ON historical (hash);

CREATE TABLE pod (
    -- A pod's name that Kubernetes or Prometheus told of: what worker names hold. Pods of a StatefulSet
    -- come again under one name.
    pod_id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT,  -- NULL: not known, or there were several
    node TEXT, -- NULL: not known, or it ran on several
    UNIQUE (namespace, name)
) STRICT;
CREATE INDEX pod_by_name ON pod (name);

CREATE TABLE container (
    -- Requests and limits of a pod's container: what all rows of container_said agree on. A row of one pod
    -- fills in what another of it does not know, and one without a uid fills in all.
    pod_id INTEGER NOT NULL REFERENCES pod ON DELETE CASCADE,
    name TEXT NOT NULL,
    cpu_request_milli INTEGER,    -- thousandths of a core
    cpu_limit_milli INTEGER,
    memory_request_bytes INTEGER,
    memory_limit_bytes INTEGER,
    restarts INTEGER,             -- the largest count seen
    disputed INTEGER NOT NULL DEFAULT 0 CHECK (disputed IN (0, 1)), -- 1: it was seen with others, too (another pod
                                  -- of that name, a resize in place); those are NULL above, and which of them an
                                  -- execution had is not known: it is allotted none
    PRIMARY KEY (pod_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE container_said (
    -- Each different set of requests and limits that a pod's container was seen with.
    pod_id INTEGER NOT NULL REFERENCES pod ON DELETE CASCADE,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,            -- of the pod; '': not known
    node TEXT,
    cpu_request_milli INTEGER,    -- NULL in this and the next three: none, or not known
    cpu_limit_milli INTEGER,
    memory_request_bytes INTEGER,
    memory_limit_bytes INTEGER
) STRICT;
CREATE UNIQUE INDEX container_said_key ON container_said (pod_id, name, uid, ifnull(node, ''), ifnull(cpu_request_milli, -1),
    ifnull(cpu_limit_milli, -1), ifnull(memory_request_bytes, -1), ifnull(memory_limit_bytes, -1));

CREATE TABLE termination (
    -- An end of a container, as a layer tells it: 3 pods (state and lastState), 4 Prometheus
    -- (kube-state-metrics, which outlives the pod). Equal ends of both layers are two rows.
    pod_id INTEGER NOT NULL REFERENCES pod ON DELETE CASCADE,
    container TEXT NOT NULL,
    finished_ns INTEGER NOT NULL, -- whole seconds, as Kubernetes keeps it
    layer INTEGER NOT NULL CHECK (layer IN (3, 4)),
    started_ns INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    reason TEXT,                  -- OOMKilled, Error, Completed, ...
    container_id TEXT,
    restarts INTEGER,
    PRIMARY KEY (pod_id, container, finished_ns, layer)
) STRICT, WITHOUT ROWID;

CREATE TABLE oom_count (
    -- container_oom_events_total of one life of a container: kills inside of it that it
    -- survived. Absence proves nothing: the series ends with its container.
    pod_id INTEGER NOT NULL REFERENCES pod ON DELETE CASCADE,
    container TEXT NOT NULL,
    container_id TEXT NOT NULL,
    last_ns INTEGER NOT NULL,     -- the first sample that showed this count
    first_ns INTEGER,             -- the sample before it; NULL: none, since the container began
    count INTEGER NOT NULL,       -- kills after first_ns and not later than last_ns
    PRIMARY KEY (pod_id, container, container_id, last_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE layer_look (
    -- What was looked at, by layer (3 pods, 4 Prometheus): an empty answer is worth that much.
    -- Looks that touch are one row; one in which no container was seen is none.
    layer INTEGER NOT NULL CHECK (layer IN (3, 4)),
    cache TEXT NOT NULL,          -- the user's name for the cluster; ''
    selector TEXT NOT NULL,       -- namespace/container that Prometheus was asked about; '' of pods
    from_ns INTEGER NOT NULL,     -- pods: the oldest start of one that was seen
    to_ns INTEGER NOT NULL,       -- pods: when they were listed
    PRIMARY KEY (layer, cache, selector, from_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE tail_pattern (
    -- Texts by which a wrapper shows that it prints only the end of its program's output:
    -- what is not in such a text may still have happened. Yours to change.
    pattern TEXT NOT NULL PRIMARY KEY, -- GLOB over the whole stderr
    about TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO tail_pattern (pattern, about) VALUES
    ('*make * failed (exit *', 'br2: the last lines of a package''s make');
INSERT INTO setting_default (key, value, about) VALUES
    ('kill_before_s', 1, 'a container''s end counts for an action from so long before its start'),
    ('kill_after_s', 5, '... to so long after its end: finishedAt has whole seconds, and the worker needs a moment'),
    ('kill_order_s', 1, 'of several actions the last that ended not later than this after the kill'),
    ('kill_rss_pct', 90, 'a max RSS from this percentage of its container''s limit speaks of a kill for memory'),
    ('runner_container', 'runner', 'the container of a worker''s pod that runs the actions'),
    ('prometheus_hours', 48, 'Prometheus is not asked about what is older: its retention'),
    ('prometheus_lag_s', 120, 'what is younger may not be scraped yet: it is asked about again');
INSERT INTO setting SELECT key, value, about FROM setting_default d
    WHERE NOT EXISTS (SELECT 1 FROM setting s WHERE s.key = d.key);

CREATE VIEW _termination (
    -- One row an end of a container, what both layers say of it together.
    pod_id,      -- of table pod
    container,   -- its name
    finished_ns, -- when it ended, whole seconds
    started_ns,  -- when it began; NULL: not known
    reason,      -- OOMKilled if a layer says so, else as Kubernetes has it, else as Prometheus has it
    exit_code,   -- as Kubernetes has it, else as Prometheus has it
    signal,      -- likewise
    restarts,    -- the container's restarts by then
    pods,        -- what the list of pods says of it, in words; NULL: nothing
    prometheus,  -- what Prometheus says of it, in words; NULL: nothing
    -- What such an end means, the first that fits: oom (OOMKilled, not with 143: the kernel killed it
    -- for memory), child_earlier (OOMKilled with 143: stopped in peace, but the runtime's flag is never
    -- taken back, so a child had been killed for memory before), sigkill (137 or signal 9 for another
    -- reason: killed, and the runtime may have lost the reason), stopped (0 or 143: nothing to
    -- explain), failed (by itself).
    meaning
) AS
WITH layered AS (
    SELECT t.*, ifnull(t.reason, 'no reason') || ifnull(', exit code ' || t.exit_code, '') || ifnull(', signal ' || t.signal, '') AS words
    FROM termination t),
merged AS (
    SELECT pod_id, container, finished_ns, max(started_ns) AS started_ns,
        CASE WHEN sum(reason = 'OOMKilled') > 0 THEN 'OOMKilled'
            ELSE coalesce(max(CASE layer WHEN 3 THEN reason END), max(reason)) END AS reason,
        coalesce(max(CASE layer WHEN 3 THEN exit_code END), max(exit_code)) AS exit_code,
        coalesce(max(CASE layer WHEN 3 THEN signal END), max(signal)) AS signal,
        max(restarts) AS restarts, max(CASE layer WHEN 3 THEN words END) AS pods, max(CASE layer WHEN 4 THEN words END) AS prometheus
    FROM layered GROUP BY pod_id, container, finished_ns)
SELECT pod_id, container, finished_ns, started_ns, reason, exit_code, signal, restarts, pods, prometheus,
    CASE
    WHEN reason = 'OOMKilled' AND exit_code IS NOT 143 THEN 'oom'
    WHEN reason = 'OOMKilled' THEN 'child_earlier'
    WHEN exit_code = 137 OR signal = 9 THEN 'sigkill'
    WHEN exit_code IN (0, 143) OR (exit_code IS NULL AND reason = 'Completed') THEN 'stopped'
    ELSE 'failed' END
FROM merged;

CREATE VIEW _kill (
    -- One row what a container tells of a kill in it: its own end, or a count of the kernel's kills
    -- inside of it (container_oom_events_total) that it survived.
    kill,       -- names the row
    pod_id,     -- of table pod
    pod,        -- its name
    node,       -- where it ran
    container,  -- its name
    is_runner,  -- 1: the container that runs actions
    meaning,    -- see _termination; and counted
    at_ns,      -- its end; of a count the sample that shows it
    from_ns,    -- child_earlier and counted: not before; NULL: since it began, which is not known
    limit_bytes,-- memory limit of the container; NULL: none, or not known
    pods,       -- what the list of pods says, in words
    prometheus  -- what Prometheus says, in words
) AS
WITH told AS (
    -- A new life of a container begins where the one before it ended, if nothing else is known.
    SELECT e.pod_id || ' ' || e.container || ' ' || e.finished_ns AS kill, e.pod_id, e.container, e.meaning, e.finished_ns AS at_ns,
        CASE e.meaning WHEN 'child_earlier' THEN coalesce(e.started_ns, (SELECT max(t.finished_ns) FROM termination t
            WHERE t.pod_id = e.pod_id AND t.container = e.container AND t.finished_ns < e.finished_ns)) END AS from_ns,
        e.pods, e.prometheus
    FROM _termination e WHERE e.meaning <> 'stopped'
    UNION ALL
    SELECT o.pod_id || ' ' || o.container || ' ' || o.last_ns || ' ' || o.container_id, o.pod_id, o.container, 'counted', o.last_ns,
        coalesce(o.first_ns, (SELECT max(t.finished_ns) FROM termination t
            WHERE t.pod_id = o.pod_id AND t.container = o.container AND t.finished_ns <= o.last_ns)),
        NULL, CASE o.count WHEN 1 THEN 'a kill' ELSE o.count || ' kills' END || ' inside of it counted'
    FROM oom_count o)
SELECT k.kill, k.pod_id, p.name, p.node, k.container,
    k.container = (SELECT s.value FROM setting s WHERE s.key = 'runner_container'), k.meaning, k.at_ns, k.from_ns,
    (SELECT c.memory_limit_bytes FROM container c WHERE c.pod_id = k.pod_id AND c.name = k.container), k.pods, k.prometheus
FROM told k JOIN pod p ON p.pod_id = k.pod_id;

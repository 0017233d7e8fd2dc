CREATE VIEW unexplained_terminations (
    -- One row an end of a container, as the list of pods or Prometheus tells of it, that no known action
    -- explains, latest first: another client's, that of an action whose result is not known, or a container
    -- that runs no actions. Ends in peace (exit code 0, or 143 that is no OOMKilled) need no explanation.
    finished_utc,   -- when it ended, whole seconds
    started_utc,    -- when it had begun; NULL: not known
    namespace,      -- of the pod
    pod,            -- its name
    node,           -- where it ran
    container,      -- its name
    meaning,        -- oom (the kernel killed it for memory), child_earlier (a child of it before, it ended in peace),
                    -- sigkill (killed, why is not known), failed (by itself)
    reason,         -- as Kubernetes words it: OOMKilled, Error, ...
    exit_code,      -- of its first process
    signal,         -- likewise; NULL: none, or not said
    restarts,       -- how often it had been started anew when this was seen
    limit_gib,      -- its memory limit; NULL: none, or not known
    told_by,        -- pods, prometheus, or both
    candidates      -- actions that ran there then, of which it is not known which; NULL: it runs none
) AS
SELECT strftime('%Y-%m-%d %H:%M:%f', t.finished_ns / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', t.started_ns / 1000000 / 1000.0, 'unixepoch'), p.namespace, p.name, p.node, t.container,
    t.meaning, t.reason, t.exit_code, t.signal, t.restarts, k.limit_bytes / 1073741824.0,
    CASE WHEN t.prometheus IS NULL THEN 'pods' WHEN t.pods IS NULL THEN 'prometheus' ELSE 'both' END,
    CASE WHEN k.is_runner THEN count(DISTINCT j.lookup_id) END
FROM _termination t JOIN pod p ON p.pod_id = t.pod_id
    JOIN _kill k ON k.kill = t.pod_id || ' ' || t.container || ' ' || t.finished_ns
    LEFT JOIN _kill_join j ON j.kill = k.kill
GROUP BY k.kill
HAVING total(j.is_joined = 2) = 0
ORDER BY t.finished_ns DESC, p.name, t.container;

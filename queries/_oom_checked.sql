CREATE VIEW _oom_checked (
    -- One row a run and layer; see oom_checked.
    run,        -- trace id
    project,    -- its name
    number,     -- of the layer
    layer,      -- see oom_checked
    is_asked,   -- 1: the layer was looked at for all of the run; NULL: it has nothing to tell of it
    from_ns,    -- what the looks cover that touch the run
    to_ns,      -- likewise
    failed, not_judged -- see oom_checked
) AS
-- Of the failures only those whose cause the log does not tell: a timeout needs no further look.
WITH failed AS (
    SELECT s.run_id, s.kind, s.action_gap, s.text_gap, s.ended_ns, i.cache, w.pod IS NULL OR x.name GLOB '{*"thread":*' AS is_nowhere
    FROM _suspicion s JOIN run g ON g.run_id = s.run_id LEFT JOIN instance i ON i.instance_id = g.instance_id
        LEFT JOIN worker x ON x.worker_id = s.worker_id LEFT JOIN _worker w ON w.worker_id = s.worker_id
    WHERE s.reason IN ('exit', 'signal', 'worker_lost', 'error')),
judged AS MATERIALIZED (
    SELECT run_id, count(*) AS failed, count(CASE kind WHEN 2 THEN 1 END) AS remote, count(action_gap) AS action_gaps,
        count(text_gap) AS text_gaps, count(CASE text_gap WHEN 'its stderr was not kept' THEN 1 END) AS left_out,
        count(CASE WHEN kind = 2 AND (is_nowhere OR NOT EXISTS (SELECT 1 FROM layer_look k WHERE k.layer = 3 AND k.cache = f.cache
            AND f.ended_ns BETWEEN k.from_ns AND k.to_ns)) THEN 1 END) AS pod_gaps,
        count(CASE WHEN kind = 2 AND (is_nowhere OR NOT EXISTS (SELECT 1 FROM layer_look k WHERE k.layer = 4 AND k.cache = f.cache
            AND f.ended_ns BETWEEN k.from_ns AND k.to_ns)) THEN 1 END) AS prometheus_gaps
    FROM failed f GROUP BY run_id),
timed AS (
    SELECT g.run_id, g.trace_id, g.project_id, i.cache, g.start_ns, g.start_ns + ifnull(g.duration_us, 0) * 1000 AS end_ns,
        -- buck.data.ActionExecutionKind
        EXISTS (SELECT 1 FROM action a WHERE a.run_id = g.run_id AND a.execution_kind = 2) OR ifnull(d.remote, 0) > 0 AS is_remote,
        ifnull(d.failed, 0) AS failed, ifnull(d.remote, 0) AS remote, ifnull(d.action_gaps, 0) AS action_gaps,
        ifnull(d.text_gaps, 0) AS text_gaps, ifnull(d.left_out, 0) AS left_out, ifnull(d.pod_gaps, 0) AS pod_gaps,
        ifnull(d.prometheus_gaps, 0) AS prometheus_gaps
    FROM run g LEFT JOIN instance i ON i.instance_id = g.instance_id LEFT JOIN judged d ON d.run_id = g.run_id)
SELECT t.trace_id, j.name, 1, 'action', 1, t.start_ns, t.end_ns, t.failed, t.action_gaps
FROM timed t JOIN project j ON j.project_id = t.project_id
UNION ALL
SELECT t.trace_id, j.name, 2, 'text', t.failed = 0 OR t.left_out < t.failed, t.start_ns, t.end_ns, t.failed, t.text_gaps
FROM timed t JOIN project j ON j.project_id = t.project_id
UNION ALL
-- A list of pods shows how those ended that were there when it was made; the run may have made them.
SELECT t.trace_id, j.name, 3, 'pods',
    CASE WHEN t.is_remote THEN EXISTS (SELECT 1 FROM layer_look k WHERE k.layer = 3 AND k.cache = t.cache AND t.end_ns BETWEEN k.from_ns AND k.to_ns) END,
    (SELECT min(k.from_ns) FROM layer_look k WHERE k.layer = 3 AND k.cache = t.cache AND k.from_ns <= t.end_ns AND k.to_ns >= t.start_ns),
    (SELECT max(k.to_ns) FROM layer_look k WHERE k.layer = 3 AND k.cache = t.cache AND k.from_ns <= t.end_ns AND k.to_ns >= t.start_ns),
    t.remote, t.pod_gaps
FROM timed t JOIN project j ON j.project_id = t.project_id
UNION ALL
SELECT t.trace_id, j.name, 4, 'prometheus',
    CASE WHEN t.is_remote THEN EXISTS (SELECT 1 FROM layer_look k WHERE k.layer = 4 AND k.cache = t.cache AND k.from_ns <= t.start_ns AND k.to_ns >= t.end_ns) END,
    (SELECT min(k.from_ns) FROM layer_look k WHERE k.layer = 4 AND k.cache = t.cache AND k.from_ns <= t.end_ns AND k.to_ns >= t.start_ns),
    (SELECT max(k.to_ns) FROM layer_look k WHERE k.layer = 4 AND k.cache = t.cache AND k.from_ns <= t.end_ns AND k.to_ns >= t.start_ns),
    t.remote, t.prometheus_gaps
FROM timed t JOIN project j ON j.project_id = t.project_id;

CREATE VIEW _oom_seen (
    -- One row a row of oom_kills and layer that tells of it.
    run,       -- as in oom_kills
    project,   -- as there
    number,    -- of the layer
    killed_utc -- as there
) AS
WITH told AS MATERIALIZED (
    SELECT run, project, killed_utc, evidence_action, evidence_text, evidence_pods, evidence_prometheus FROM _oom_kill),
layer(number) AS (VALUES (1), (2), (3), (4))
SELECT k.run, k.project, y.number, k.killed_utc FROM layer y JOIN told k
WHERE CASE y.number WHEN 1 THEN k.evidence_action WHEN 2 THEN k.evidence_text WHEN 3 THEN k.evidence_pods ELSE k.evidence_prometheus END IS NOT NULL;

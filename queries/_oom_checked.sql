CREATE VIEW _oom_look (
    -- What oom_checked counts, a row each and layer: runs, failed attempts, rows of oom_kills.
    run,        -- trace id
    project,    -- its name
    number,     -- of the layer: 1 action, 2 text, 3 pods, 4 prometheus
    is_remote,  -- 1: it ran something remotely
    is_covered, -- of a run, 1: the layer was looked at for all of it
    from_ns,    -- of a run: what the looks cover that touch it
    to_ns,      -- likewise
    failed,     -- 1: a failed attempt
    not_judged, -- 1: of which the layer's silence is worth nothing
    seen,       -- 1: a row of oom_kills of which it tells
    killed_utc  -- of that row
) AS
WITH layer(number) AS (VALUES (1), (2), (3), (4)),
timed AS (
    SELECT g.trace_id, j.name, i.cache, g.start_ns, g.start_ns + ifnull(g.duration_us, 0) * 1000 AS end_ns,
        EXISTS (SELECT 1 FROM action_count a WHERE a.run_id = g.run_id AND a.execution_kind = 2) AS is_remote
    FROM run g JOIN project j ON j.project_id = g.project_id LEFT JOIN instance i ON i.instance_id = g.instance_id),
-- Only those whose cause the log does not tell: a timeout needs no further look.
failed AS (
    -- DISTINCT, as in _suspicion.
    SELECT DISTINCT s.run, s.project, s.run_id, s.span_id, s.idx, s.kind, s.action_gap, s.text_gap, s.ended_ns, i.cache,
        w.pod IS NULL OR x.name GLOB '{*"thread":*' AS is_nowhere
    FROM _failed_known s JOIN run g ON g.run_id = s.run_id LEFT JOIN instance i ON i.instance_id = g.instance_id
        LEFT JOIN worker x ON x.worker_id = s.worker_id LEFT JOIN _worker w ON w.worker_id = s.worker_id
    WHERE s.reason IN ('exit', 'signal', 'worker_lost', 'error'))
SELECT t.trace_id, t.name, y.number, t.is_remote,
    -- A list of pods shows how those ended that were there when it was made; the run may have made them.
    CASE WHEN y.number < 3 THEN 1 ELSE EXISTS (SELECT 1 FROM layer_look k WHERE k.layer = y.number AND k.cache = t.cache
        AND k.from_ns <= CASE y.number WHEN 3 THEN t.end_ns ELSE t.start_ns END AND k.to_ns >= t.end_ns) END,
    CASE WHEN y.number < 3 THEN t.start_ns ELSE (SELECT min(k.from_ns) FROM layer_look k
        WHERE k.layer = y.number AND k.cache = t.cache AND k.from_ns <= t.end_ns AND k.to_ns >= t.start_ns) END,
    CASE WHEN y.number < 3 THEN t.end_ns ELSE (SELECT max(k.to_ns) FROM layer_look k
        WHERE k.layer = y.number AND k.cache = t.cache AND k.from_ns <= t.end_ns AND k.to_ns >= t.start_ns) END,
    0, 0, 0, NULL
FROM timed t CROSS JOIN layer y
UNION ALL
SELECT f.run, f.project, y.number, f.kind = 2, CASE WHEN y.number = 2 AND f.text_gap = 'its stderr was not kept' THEN -1 END, NULL, NULL, 1,
    CASE y.number WHEN 1 THEN f.action_gap IS NOT NULL WHEN 2 THEN f.text_gap IS NOT NULL
    ELSE f.is_nowhere OR NOT EXISTS (SELECT 1 FROM layer_look k WHERE k.layer = y.number AND k.cache = f.cache
        AND f.ended_ns BETWEEN k.from_ns AND k.to_ns) END, 0, NULL
FROM failed f CROSS JOIN layer y WHERE y.number < 3 OR f.kind = 2
UNION ALL
SELECT k.run, k.project, y.number, NULL, NULL, NULL, NULL, 0, 0, 1, k.killed_utc
FROM _oom_kill k CROSS JOIN layer y
WHERE CASE y.number WHEN 1 THEN k.evidence_action WHEN 2 THEN k.evidence_text WHEN 3 THEN k.evidence_pods
    ELSE k.evidence_prometheus END IS NOT NULL;

CREATE VIEW _oom_checked (
    -- One row a run and layer; and what _oom_kill has without a run.
    run,        -- trace id; NULL: see above
    project,    -- its name
    number,     -- of the layer
    is_asked,   -- 1: looked at; NULL: it has nothing to tell of it
    from_ns, to_ns, failed, not_judged, seen, newest_utc -- see oom_checked
) AS
-- Windows instead of groups: so a filter on run or project reaches what _oom_look reads.
SELECT run, project, number,
    CASE WHEN number = 2 THEN covered AND (failed = 0 OR not_kept < failed) WHEN number = 1 OR remote THEN covered END,
    from_ns, to_ns, failed, not_judged, seen, newest_utc
FROM (SELECT run, project, number, row_number() OVER one AS place, max(is_covered) OVER one AS covered,
        -total(CASE is_covered WHEN -1 THEN -1 END) OVER one AS not_kept, max(is_remote) OVER one AS remote,
        min(from_ns) OVER one AS from_ns, max(to_ns) OVER one AS to_ns, sum(failed) OVER one AS failed,
        sum(not_judged) OVER one AS not_judged, sum(seen) OVER one AS seen, max(killed_utc) OVER one AS newest_utc
    FROM _oom_look WINDOW one AS (PARTITION BY run, project, number))
WHERE place = 1;

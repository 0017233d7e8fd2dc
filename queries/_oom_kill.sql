CREATE VIEW _kill_told (
    -- One row an execution that a container's kill is of, or may be.
    result_id,    -- of table result
    meaning,      -- see _oom_fact, as the next three
    at_ns, is_ambiguous, looks,
    pods, prometheus -- what they tell, in words
) AS
-- Bare columns of a row with min() are those of the row that has the minimum.
SELECT result_id, meaning, at_ns, is_ambiguous, looks, pods, prometheus
FROM (SELECT j.result_id, CASE j.is_joined WHEN 2 THEN k.meaning END AS meaning, k.at_ns, total(j.is_joined = 1) > 0 AS is_ambiguous,
        j.looks, group_concat(k.pods, '; ') AS pods, group_concat(k.prometheus, '; ') AS prometheus,
        min(CASE WHEN j.is_joined = 1 THEN 5 WHEN k.meaning = 'oom' THEN 1 WHEN k.meaning = 'counted' THEN 2
            WHEN k.meaning = 'child_earlier' THEN 3 ELSE 4 END * 10000000000 + k.at_ns / 1000000000)
    FROM _kill_join j JOIN _kill k ON k.kill = j.kill WHERE j.is_joined > 0 AND k.meaning <> 'failed' GROUP BY j.result_id);

CREATE VIEW _kill_lost (
    -- Errors of which nobody knows where they ran, when a runner was killed whose action is not known: where the
    -- kernel kills the whole runner, its worker has no result to tell, and Buck2 drops the link to what it tells.
    run_id, -- of table attempt, as the next two
    span_id, idx,
    at_ns, pods, prometheus -- see _oom_fact
) AS
SELECT f.run_id, f.span_id, f.idx, min(k.at_ns), group_concat(k.pods, '; '), group_concat(k.prometheus, '; ')
FROM _kill k JOIN _failed_known f ON f.is_lost
    -- finishedAt has whole seconds.
    AND f.ended_ns BETWEEN k.at_ns - (SELECT value FROM setting WHERE key = 'kill_order_s') * 1000000000
        AND k.at_ns + ((SELECT value FROM setting WHERE key = 'kill_after_s') + 1) * 1000000000
WHERE k.is_runner AND k.meaning IN ('oom', 'sigkill') AND k.kill NOT IN (SELECT j.kill FROM _kill_join j WHERE j.is_joined > 0 AND j.looks > 0)
GROUP BY f.run_id, f.span_id, f.idx;

CREATE VIEW _kill_alone (
    -- One row a kill that no row of those whom it may belong to shows.
    meaning,    -- see _kill, as all in the next line
    at_ns, is_runner, container, pod, node, limit_bytes, pods, prometheus,
    candidates, -- actions that may have been killed
    is_shared,  -- 1: its worker runs several at a time
    run,        -- trace id of these, if all agree
    project_id  -- likewise
) AS
SELECT k.meaning, k.at_ns, k.is_runner, k.container, k.pod, k.node, k.limit_bytes, k.pods, k.prometheus, count(DISTINCT j.lookup_id),
    total(j.is_shared) > 0, CASE WHEN min(g.run_id) = max(g.run_id) THEN min(g.trace_id) END,
    CASE WHEN min(g.project_id) = max(g.project_id) THEN min(g.project_id) END
FROM _kill k LEFT JOIN _kill_join j ON j.kill = k.kill LEFT JOIN run g ON g.run_id = j.run_id
WHERE k.meaning <> 'failed' GROUP BY k.kill
HAVING total(j.is_joined = 2 OR j.is_joined = 1 AND j.looks > 0) = 0;

CREATE VIEW _oom_fact (
    -- What oom_kills judges: failed attempts with all that is said of them; executions that succeeded though
    -- a container's kill falls on them; kills without an action.
    run,          -- of the attempt; of a kill alone if all whom it may belong to agree
    project,      -- likewise
    name_id, lookup_id, worker_id, rss_bytes,
    idx,          -- of the attempt; NULL: see above
    kind, action_failed, reason, exit_code, termination_signal, ended_ns, evidence_action, action_gap, pattern,
    excerpt, text_gap, no_result, -- of _suspicion
    meaning,      -- of _kill: the strongest one that is surely this one's
    at_ns,        -- of it
    is_ambiguous, -- 1: what a container tells may be of another
    looks,        -- of _kill_join
    pods, prometheus,       -- what they tell, in words
    pod, node, limit_bytes, -- of kills alone
    told          -- what is to be said besides, in words
) AS
WITH told AS MATERIALIZED (SELECT * FROM _kill_told)
SELECT s.run, s.project, s.name_id, s.lookup_id, s.worker_id, s.rss_bytes, s.idx, s.kind, s.action_failed, s.reason,
    s.exit_code, s.termination_signal, s.ended_ns, s.evidence_action, s.action_gap, s.pattern, s.excerpt, s.text_gap,
    s.no_result, t.meaning, ifnull(t.at_ns, l.at_ns), ifnull(t.is_ambiguous, l.run_id IS NOT NULL), 1, ifnull(t.pods, l.pods),
    ifnull(t.prometheus, l.prometheus), NULL, NULL, NULL, CASE
    WHEN l.run_id IS NOT NULL THEN 'where it ran is not known; a container was killed when it failed'
    WHEN t.is_ambiguous THEN 'what its container tells may be of another action' END
FROM _suspicion s LEFT JOIN told t ON t.result_id = s.result_id
    LEFT JOIN _kill_lost l ON l.run_id = s.run_id AND l.span_id = s.span_id AND l.idx = s.idx
UNION ALL
SELECT g.trace_id, j.name, r.name_id, r.lookup_id, r.worker_id, r.max_rss_bytes, NULL, 2, 0, NULL, r.exit_code, r.termination_signal,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, t.meaning, t.at_ns, t.is_ambiguous, t.looks, t.pods, t.prometheus, NULL, NULL, NULL,
    'its command succeeded: perhaps what ran there next was killed, of which no result is known'
FROM told t JOIN result r ON r.result_id = t.result_id JOIN run g ON g.run_id = r.first_run_id
    JOIN project j ON j.project_id = g.project_id
WHERE r.source = 1 AND (t.looks > 0 OR t.meaning IS NOT NULL)
UNION ALL
SELECT a.run, (SELECT j.name FROM project j WHERE j.project_id = a.project_id), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, a.meaning, a.at_ns, a.candidates > 0, 1, a.pods, a.prometheus, a.pod, a.node,
    a.limit_bytes, CASE
    WHEN NOT a.is_runner THEN 'container ' || a.container || ', which runs no actions'
    WHEN a.is_shared THEN 'its worker runs several actions at a time: which one is not asked'
    WHEN a.candidates > 0 THEN 'one of ' || a.candidates || ' actions that ran there'
    ELSE 'no known action ran there: another client''s, or its worker told nothing' END
FROM _kill_alone a;

CREATE VIEW _oom_kill (
    -- What oom_kills shows, by the rules that it states.
    run,     -- see oom_kills, as all below
    project, label, package, category, identifier, attempt, kind, action_failed, killed_utc, verdict, confidence, suspect,
    ambiguous, evidence_action, evidence_text, evidence_pods, evidence_prometheus, rss_near_limit, pod, node, limit_gib,
    max_rss_gib, rss_is_lower_bound, exit_code, termination_signal, text_complete, note, excerpt, digest,
    lookup_id, worker_id -- of its result; NULL: none is known
) AS
-- Each worker's text is taken apart once, not once for each time that its pod is named here.
WITH pods AS MATERIALIZED (SELECT worker_id, pod FROM _worker),
placed AS (
    SELECT f.*, ifnull(f.pod, w.pod) AS at_pod FROM _oom_fact f LEFT JOIN pods w ON w.worker_id = f.worker_id),
limited AS (
    SELECT p.*, ifnull(p.node, u.node) AS at_node, CASE WHEN p.pod IS NULL THEN u.limit_bytes ELSE p.limit_bytes END AS limited_bytes
    FROM placed p LEFT JOIN _runner u ON u.pod = p.at_pod),
judged AS (
    SELECT l.*, CASE
        WHEN meaning = 'oom' THEN 'OOM killer'
        WHEN reason = 'timeout' THEN 'timed out, not memory'
        WHEN meaning IN ('counted', 'child_earlier') THEN 'child killed, container survived'
        WHEN meaning = 'sigkill' OR evidence_action GLOB '*KILL' THEN 'killed by a signal'
        WHEN evidence_action IS NOT NULL OR pattern IS NOT NULL OR is_ambiguous THEN 'suspected'
        WHEN action_gap IS NOT NULL OR reason = 'exit' AND text_gap IS NOT NULL THEN 'cannot tell' END AS verdict,
        rss_bytes >= limited_bytes * (SELECT value FROM setting WHERE key = 'kill_rss_pct') / 100.0 AS is_full
    FROM limited l)
SELECT v.run, v.project, t.label, p.name, c.name, n.identifier, v.idx, CASE WHEN v.kind = 2 THEN 'remote' WHEN v.kind > 0 THEN 'local' END,
    v.action_failed, strftime('%Y-%m-%d %H:%M:%f', ifnull(v.at_ns, v.ended_ns) / 1000000 / 1000.0, 'unixepoch'), v.verdict, CASE
    WHEN v.verdict IN ('timed out, not memory', 'cannot tell') THEN 'low'
    WHEN v.meaning IN ('oom', 'counted') THEN
        CASE WHEN v.looks = 0 THEN 'low'
        WHEN v.name_id IS NULL OR coalesce(v.evidence_action, v.pattern) IS NOT NULL THEN 'high' ELSE 'medium' END
    WHEN v.meaning = 'child_earlier' OR (v.evidence_action IS NOT NULL) + (v.pattern IS NOT NULL) + ifnull(v.is_full, 0)
        + (coalesce(v.pods, v.prometheus) IS NOT NULL) > 1 THEN 'medium'
    ELSE 'low' END,
    v.verdict NOT IN ('timed out, not memory', 'cannot tell'), v.is_ambiguous, v.evidence_action, v.pattern, v.pods, v.prometheus,
    v.is_full, v.at_pod, v.at_node, v.limited_bytes / 1073741824.0, v.rss_bytes / 1073741824.0,
    CASE WHEN v.rss_bytes IS NOT NULL AND v.verdict <> 'cannot tell' THEN v.looks > 0 END, v.exit_code, v.termination_signal,
    CASE WHEN v.reason IS NOT NULL THEN v.text_gap IS NULL END,
    coalesce(v.told, CASE v.verdict WHEN 'cannot tell' THEN coalesce(v.action_gap || ': ' || v.no_result, v.action_gap, v.text_gap) END,
        v.no_result),
    v.excerpt, (SELECT l.digest FROM lookup l WHERE l.lookup_id = v.lookup_id),
    v.lookup_id, v.worker_id
FROM judged v LEFT JOIN action_name n ON n.name_id = v.name_id LEFT JOIN category c ON c.category_id = n.category_id
    LEFT JOIN target t ON t.target_id = n.target_id LEFT JOIN package p ON p.package_id = t.package_id
WHERE v.verdict IS NOT NULL;

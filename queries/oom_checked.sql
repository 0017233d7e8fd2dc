CREATE VIEW oom_checked (
    -- What oom_kills is worth: one row a layer of evidence, in order. An empty oom_kills says that nothing was
    -- killed only where each layer was asked and none is left that it could not judge.
    layer,      -- action (the log and the failed action's own result), text (what it printed), pods (a list of
                -- pods), prometheus
    asked,      -- 1: looked at, for one run at least. pods: listed after the run, by a list that holds pods as old;
                -- prometheus: asked about all of the run's time; text: not all was left out
    runs,       -- that the layer can tell of: all; of pods and prometheus those that ran something remotely
    runs_asked, -- of these, looked at
    seen,       -- rows of oom_kills that it tells of
    newest_utc, -- killed_utc of the newest of these; NULL: none
    from_utc,   -- what was looked at begins
    to_utc,     -- and ends; there may be gaps
    failed,     -- failed attempts without a cause that needs no look (as a timeout, or a start that failed); of pods
                -- and prometheus the remote ones
    not_judged  -- of these, those of which the layer's silence is worth nothing: no result, an unknown signal |
                -- only the end of a log | not known where it ran, several at a time, not looked at then
) AS
WITH layer(number, layer) AS (VALUES (1, 'action'), (2, 'text'), (3, 'pods'), (4, 'prometheus')),
-- As _oom_checked has it, in groups: they cost less than windows, and no filter has to pass.
of_run AS (
    SELECT k.number, CASE WHEN k.number = 2 THEN max(k.is_covered) AND (sum(k.failed) = 0 OR total(k.is_covered = -1) < sum(k.failed))
            WHEN k.number = 1 OR max(k.is_remote) THEN max(k.is_covered) END AS is_asked,
        min(k.from_ns) AS from_ns, max(k.to_ns) AS to_ns, sum(k.failed) AS failed, sum(k.not_judged) AS not_judged, sum(k.seen) AS seen,
        max(k.killed_utc) AS newest_utc
    FROM _oom_look k GROUP BY k.run, k.project, k.number),
counted AS (
    SELECT c.number, total(c.is_asked) AS runs_asked, count(c.is_asked) AS runs, sum(c.seen) AS seen, max(c.newest_utc) AS newest_utc,
        min(c.from_ns) AS from_ns, max(c.to_ns) AS to_ns, sum(c.failed) AS failed, sum(c.not_judged) AS not_judged
    FROM of_run c GROUP BY c.number),
looked AS (
    SELECT k.layer, min(k.from_ns) AS from_ns, max(k.to_ns) AS to_ns FROM layer_look k GROUP BY k.layer)
SELECT y.layer, ifnull(c.runs_asked > 0, 0), ifnull(c.runs, 0), CAST(ifnull(c.runs_asked, 0) AS INTEGER), ifnull(c.seen, 0), c.newest_utc,
    strftime('%Y-%m-%d %H:%M:%f', ifnull(k.from_ns, c.from_ns) / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', ifnull(k.to_ns, c.to_ns) / 1000000 / 1000.0, 'unixepoch'), ifnull(c.failed, 0), ifnull(c.not_judged, 0)
FROM layer y LEFT JOIN counted c ON c.number = y.number LEFT JOIN looked k ON k.layer = y.number
ORDER BY y.number;

CREATE VIEW oom_checked_by_project (
    -- One row a project and layer, in order. Kills of which no project is known are counted nowhere.
    project,    -- its name
    layer,      -- action, text, pods, prometheus
    asked,      -- 1: looked at, for one run at least
    runs,       -- that the layer can tell of
    runs_asked, -- of these, looked at
    seen,       -- rows of oom_kills that it tells of
    newest_utc, -- killed_utc of the newest of these; NULL: none
    from_utc,   -- what was looked at, as far as it touches these runs, begins
    to_utc,     -- and ends; there may be gaps
    failed,     -- failed attempts without a cause that needs no look; of pods and prometheus the remote ones
    not_judged  -- of these, those of which the layer's silence is worth nothing
) AS
SELECT c.project, CASE c.number WHEN 1 THEN 'action' WHEN 2 THEN 'text' WHEN 3 THEN 'pods' ELSE 'prometheus' END,
    total(c.is_asked) > 0, count(c.is_asked), CAST(total(c.is_asked) AS INTEGER), sum(c.seen), max(c.newest_utc),
    strftime('%Y-%m-%d %H:%M:%f', min(c.from_ns) / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', max(c.to_ns) / 1000000 / 1000.0, 'unixepoch'), sum(c.failed), sum(c.not_judged)
FROM _oom_checked c WHERE c.project IS NOT NULL GROUP BY c.project, c.number;

CREATE VIEW oom_checked_by_run (
    -- One row a run and layer, in order. Kills of which no one run is known are counted nowhere.
    run,        -- trace id
    layer,      -- action, text, pods, prometheus
    asked,      -- 1: looked at; NULL: it has nothing to tell of this run
    runs,       -- 1: it has
    runs_asked, -- as asked
    seen,       -- rows of oom_kills that it tells of
    newest_utc, -- killed_utc of the newest of these; NULL: none
    from_utc,   -- what was looked at, as far as it touches the run, begins
    to_utc,     -- and ends; there may be gaps
    failed,     -- failed attempts without a cause that needs no look; of pods and prometheus the remote ones
    not_judged  -- of these, those of which the layer's silence is worth nothing
) AS
SELECT c.run, CASE c.number WHEN 1 THEN 'action' WHEN 2 THEN 'text' WHEN 3 THEN 'pods' ELSE 'prometheus' END, c.is_asked,
    c.is_asked IS NOT NULL, ifnull(c.is_asked, 0), c.seen, c.newest_utc,
    strftime('%Y-%m-%d %H:%M:%f', c.from_ns / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', c.to_ns / 1000000 / 1000.0, 'unixepoch'), c.failed, c.not_judged
FROM _oom_checked c WHERE c.run IS NOT NULL;

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
WITH judged AS (
    SELECT c.number, count(c.is_asked) AS runs, total(c.is_asked) AS runs_asked, min(c.from_ns) AS from_ns, max(c.to_ns) AS to_ns,
        total(c.failed) AS failed, total(c.not_judged) AS not_judged
    FROM _oom_checked c GROUP BY c.number),
seen AS (
    SELECT k.number, count(*) AS seen, max(k.killed_utc) AS newest_utc FROM _oom_seen k GROUP BY k.number),
layer(number, layer) AS (VALUES (1, 'action'), (2, 'text'), (3, 'pods'), (4, 'prometheus')),
looked AS (
    SELECT y.number, ifnull(min(k.from_ns), min(j.from_ns)) AS from_ns, ifnull(max(k.to_ns), max(j.to_ns)) AS to_ns
    FROM layer y LEFT JOIN layer_look k ON k.layer = y.number LEFT JOIN judged j ON j.number = y.number GROUP BY y.number)
SELECT y.layer, ifnull(j.runs_asked > 0, 0), ifnull(j.runs, 0), CAST(ifnull(j.runs_asked, 0) AS INTEGER), ifnull(s.seen, 0), s.newest_utc,
    strftime('%Y-%m-%d %H:%M:%f', l.from_ns / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', l.to_ns / 1000000 / 1000.0, 'unixepoch'), CAST(ifnull(j.failed, 0) AS INTEGER), CAST(ifnull(j.not_judged, 0) AS INTEGER)
FROM layer y LEFT JOIN judged j ON j.number = y.number LEFT JOIN seen s ON s.number = y.number JOIN looked l ON l.number = y.number
ORDER BY y.number;

CREATE VIEW oom_checked_by_project (
    -- One row a project and layer. Kills of which no project is known are counted nowhere.
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
SELECT c.project, c.layer, total(c.is_asked) > 0, count(c.is_asked), CAST(total(c.is_asked) AS INTEGER), ifnull(s.seen, 0), s.newest_utc,
    strftime('%Y-%m-%d %H:%M:%f', min(c.from_ns) / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', max(c.to_ns) / 1000000 / 1000.0, 'unixepoch'), sum(c.failed), sum(c.not_judged)
FROM _oom_checked c LEFT JOIN (SELECT k.project, k.number, count(*) AS seen, max(k.killed_utc) AS newest_utc FROM _oom_seen k
        GROUP BY k.project, k.number) s ON s.project = c.project AND s.number = c.number
GROUP BY c.project, c.number;

CREATE VIEW oom_checked_by_run (
    -- One row a run and layer. Kills of which no one run is known are counted nowhere.
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
SELECT c.run, c.layer, c.is_asked, c.is_asked IS NOT NULL, ifnull(c.is_asked, 0), ifnull(s.seen, 0), s.newest_utc,
    strftime('%Y-%m-%d %H:%M:%f', c.from_ns / 1000000 / 1000.0, 'unixepoch'),
    strftime('%Y-%m-%d %H:%M:%f', c.to_ns / 1000000 / 1000.0, 'unixepoch'), c.failed, c.not_judged
FROM _oom_checked c LEFT JOIN (SELECT k.run, k.number, count(*) AS seen, max(k.killed_utc) AS newest_utc FROM _oom_seen k
        GROUP BY k.run, k.number) s ON s.run = c.run AND s.number = c.number;

CREATE VIEW _run_count (
    -- One row a run: how many actions of which kind, as Buck2 counts its commands.
    run,             -- trace id: a filter on it is a search
    run_id,          -- of table run
    project_id,      -- of table project
    start_ns,        -- of the run
    actions,         -- ended actions
    tests,           -- ended test runs and listings
    in_flight,       -- started, not ended
    failed,          -- failed actions, tests not included
    cached_action,   -- served from the action cache
    cached_dep_file, -- served from the remote dep-file cache
    remote,          -- executed remotely
    local            -- executed locally, by a worker process or not
) AS
SELECT r.trace_id, r.run_id, r.project_id, r.start_ns,
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.type = 1),
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.type <> 1),
    (SELECT count(*) FROM in_flight f WHERE f.run_id = r.run_id),
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.failed = 1 AND a.type = 1),
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.execution_kind IN (3, 10)),
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.execution_kind = 9),
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.execution_kind IN (2, 11)),
    (SELECT ifnull(sum(a.actions), 0) FROM action_count a WHERE a.run_id = r.run_id AND a.execution_kind IN (1, 8))
FROM run r
-- By its key: keeps SQLite from counting anew wherever a count is named.
GROUP BY r.trace_id;

CREATE VIEW phases (
    -- Always four rows, one a phase, of where the time of executions went. Results of the action cache, each once, those
    -- without usage included; times are the workers' own.
    phase,   -- queued (until a worker took it), fetch (inputs), run (the command), upload (outputs)
    actions, -- results where it is known and not negative
    unknown, -- results where it is not: the worker did not say, as with those uploaded by the client
    skewed,  -- results where it ended before it began: clocks disagree, so it is left out
    total_h, -- sum, hours; NULL, as all that follow: of no result it is known
    pct,     -- of the sum of all four
    avg_s,   -- mean, seconds
    max_s    -- longest, seconds
) AS
WITH s AS MATERIALIZED (
    SELECT p.phase_id, p.phase, ifnull(k.known, 0) AS n, ifnull(k.skewed, 0) AS skewed,
        CASE WHEN k.known > 0 THEN k.total_s * 1e9 + k.total_rest_ns END AS total, CASE WHEN k.known > 0 THEN k.max_ns END AS max_ns
    FROM _phase p LEFT JOIN phase_sum k ON k.phase_id = p.phase_id)
SELECT s.phase, s.n, (SELECT count(*) FROM result) - (SELECT count(*) FROM result WHERE source = 2) - s.n - s.skewed, s.skewed,
    round(s.total / 3.6e12, 3), round(100 * s.total / nullif((SELECT total(total) FROM s), 0), 1),
    round(s.total / 1e9 / nullif(s.n, 0), 3), round(s.max_ns / 1e9, 3)
FROM s ORDER BY s.phase_id;

CREATE VIEW phases_by_project (
    -- Four rows a project with results, by project; otherwise as phases.
    project, -- of the digests' first references
    phase,   -- queued (until a worker took it), fetch (inputs), run (the command), upload (outputs)
    actions, -- results where it is known and not negative
    unknown, -- results where it is not: the worker did not say, as with those uploaded by the client
    skewed,  -- results where it ended before it began: clocks disagree, so it is left out
    total_h, -- sum, hours; NULL, as all that follow: of no result it is known
    pct,     -- of the sum of all four
    avg_s,   -- mean, seconds
    max_s    -- longest, seconds
) AS
SELECT s.project, p.phase, CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END,
    s.n - CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END - CASE p.phase_id WHEN 1 THEN s.skewed_queued WHEN 2 THEN s.skewed_fetch WHEN 3 THEN s.skewed_run ELSE s.skewed_upload END,
    CASE p.phase_id WHEN 1 THEN s.skewed_queued WHEN 2 THEN s.skewed_fetch WHEN 3 THEN s.skewed_run ELSE s.skewed_upload END,
    round(CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.sum_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.sum_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.sum_run END ELSE CASE WHEN s.n_upload > 0 THEN s.sum_upload END END / 3.6e12, 3),
    round(100 * CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.sum_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.sum_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.sum_run END ELSE CASE WHEN s.n_upload > 0 THEN s.sum_upload END END / nullif(s.sum_queued + s.sum_fetch + s.sum_run + s.sum_upload, 0), 1),
    round(CASE p.phase_id WHEN 1 THEN s.sum_queued WHEN 2 THEN s.sum_fetch WHEN 3 THEN s.sum_run ELSE s.sum_upload END / 1e9 / nullif(CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END, 0), 3),
    round(CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.max_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.max_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.max_run END ELSE CASE WHEN s.n_upload > 0 THEN s.max_upload END END / 1e9, 3)
-- The plus keeps SQLite from making an index of its own, which costs more than the scan.
FROM (SELECT j.name AS project, count(*) AS n,
        count(*) FILTER (WHERE t.queued_ns >= 0) AS n_queued, count(*) FILTER (WHERE t.queued_ns < 0) AS skewed_queued,
        total(t.queued_ns) FILTER (WHERE t.queued_ns >= 0) AS sum_queued, max(t.queued_ns) AS max_queued,
        count(*) FILTER (WHERE t.fetch_ns >= 0) AS n_fetch, count(*) FILTER (WHERE t.fetch_ns < 0) AS skewed_fetch,
        total(t.fetch_ns) FILTER (WHERE t.fetch_ns >= 0) AS sum_fetch, max(t.fetch_ns) AS max_fetch,
        count(*) FILTER (WHERE t.run_ns >= 0) AS n_run, count(*) FILTER (WHERE t.run_ns < 0) AS skewed_run,
        total(t.run_ns) FILTER (WHERE t.run_ns >= 0) AS sum_run, max(t.run_ns) AS max_run,
        count(*) FILTER (WHERE t.upload_ns >= 0) AS n_upload, count(*) FILTER (WHERE t.upload_ns < 0) AS skewed_upload,
        total(t.upload_ns) FILTER (WHERE t.upload_ns >= 0) AS sum_upload, max(t.upload_ns) AS max_upload
    FROM project j CROSS JOIN result r NOT INDEXED ON +r.project_id = j.project_id LEFT JOIN _span t ON t.result_id = r.result_id
    WHERE r.source = 1 GROUP BY j.name) s CROSS JOIN _phase p
ORDER BY s.project, p.phase_id;

CREATE VIEW phases_by_run (
    -- Four rows a run with results, by run: of all its digests, hits included, so that of a warm run they
    -- tell of the executions that it was spared.
    run,     -- trace id
    phase,   -- queued (until a worker took it), fetch (inputs), run (the command), upload (outputs)
    actions, -- results where it is known and not negative
    unknown, -- results where it is not: the worker did not say, as with those uploaded by the client
    skewed,  -- results where it ended before it began: clocks disagree, so it is left out
    total_h, -- sum, hours; NULL, as all that follow: of no result it is known
    pct,     -- of the sum of all four
    avg_s,   -- mean, seconds
    max_s    -- longest, seconds
) AS
SELECT s.run, p.phase, CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END,
    s.n - CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END - CASE p.phase_id WHEN 1 THEN s.skewed_queued WHEN 2 THEN s.skewed_fetch WHEN 3 THEN s.skewed_run ELSE s.skewed_upload END,
    CASE p.phase_id WHEN 1 THEN s.skewed_queued WHEN 2 THEN s.skewed_fetch WHEN 3 THEN s.skewed_run ELSE s.skewed_upload END,
    round(CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.sum_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.sum_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.sum_run END ELSE CASE WHEN s.n_upload > 0 THEN s.sum_upload END END / 3.6e12, 3),
    round(100 * CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.sum_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.sum_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.sum_run END ELSE CASE WHEN s.n_upload > 0 THEN s.sum_upload END END / nullif(s.sum_queued + s.sum_fetch + s.sum_run + s.sum_upload, 0), 1),
    round(CASE p.phase_id WHEN 1 THEN s.sum_queued WHEN 2 THEN s.sum_fetch WHEN 3 THEN s.sum_run ELSE s.sum_upload END / 1e9 / nullif(CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END, 0), 3),
    round(CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.max_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.max_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.max_run END ELSE CASE WHEN s.n_upload > 0 THEN s.max_upload END END / 1e9, 3)
FROM (SELECT g.trace_id AS run, count(*) AS n,
        count(*) FILTER (WHERE t.queued_ns >= 0) AS n_queued, count(*) FILTER (WHERE t.queued_ns < 0) AS skewed_queued,
        total(t.queued_ns) FILTER (WHERE t.queued_ns >= 0) AS sum_queued, max(t.queued_ns) AS max_queued,
        count(*) FILTER (WHERE t.fetch_ns >= 0) AS n_fetch, count(*) FILTER (WHERE t.fetch_ns < 0) AS skewed_fetch,
        total(t.fetch_ns) FILTER (WHERE t.fetch_ns >= 0) AS sum_fetch, max(t.fetch_ns) AS max_fetch,
        count(*) FILTER (WHERE t.run_ns >= 0) AS n_run, count(*) FILTER (WHERE t.run_ns < 0) AS skewed_run,
        total(t.run_ns) FILTER (WHERE t.run_ns >= 0) AS sum_run, max(t.run_ns) AS max_run,
        count(*) FILTER (WHERE t.upload_ns >= 0) AS n_upload, count(*) FILTER (WHERE t.upload_ns < 0) AS skewed_upload,
        total(t.upload_ns) FILTER (WHERE t.upload_ns >= 0) AS sum_upload, max(t.upload_ns) AS max_upload
    FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN result r ON r.lookup_id = d.lookup_id
        LEFT JOIN _span t ON t.result_id = r.result_id
    WHERE r.source = 1 GROUP BY g.trace_id) s CROSS JOIN _phase p
ORDER BY s.run, p.phase_id;

CREATE VIEW phases_by_invocation (
    -- Four rows an invocation that executed results, by its trace id, also where its log is gone: where the time
    -- of what it executed went. Otherwise as phases.
    invocation, -- trace id
    phase,   -- queued (until a worker took it), fetch (inputs), run (the command), upload (outputs)
    actions, -- results where it is known and not negative
    unknown, -- results where it is not: the worker did not say, as with those uploaded by the client
    skewed,  -- results where it ended before it began: clocks disagree, so it is left out
    total_h, -- sum, hours; NULL, as all that follow: of no result it is known
    pct,     -- of the sum of all four
    avg_s,   -- mean, seconds
    max_s    -- longest, seconds
) AS
SELECT s.invocation, p.phase, CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END,
    s.n - CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END - CASE p.phase_id WHEN 1 THEN s.skewed_queued WHEN 2 THEN s.skewed_fetch WHEN 3 THEN s.skewed_run ELSE s.skewed_upload END,
    CASE p.phase_id WHEN 1 THEN s.skewed_queued WHEN 2 THEN s.skewed_fetch WHEN 3 THEN s.skewed_run ELSE s.skewed_upload END,
    round(CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.sum_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.sum_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.sum_run END ELSE CASE WHEN s.n_upload > 0 THEN s.sum_upload END END / 3.6e12, 3),
    round(100 * CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.sum_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.sum_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.sum_run END ELSE CASE WHEN s.n_upload > 0 THEN s.sum_upload END END / nullif(s.sum_queued + s.sum_fetch + s.sum_run + s.sum_upload, 0), 1),
    round(CASE p.phase_id WHEN 1 THEN s.sum_queued WHEN 2 THEN s.sum_fetch WHEN 3 THEN s.sum_run ELSE s.sum_upload END / 1e9 / nullif(CASE p.phase_id WHEN 1 THEN s.n_queued WHEN 2 THEN s.n_fetch WHEN 3 THEN s.n_run ELSE s.n_upload END, 0), 3),
    round(CASE p.phase_id WHEN 1 THEN CASE WHEN s.n_queued > 0 THEN s.max_queued END WHEN 2 THEN CASE WHEN s.n_fetch > 0 THEN s.max_fetch END
        WHEN 3 THEN CASE WHEN s.n_run > 0 THEN s.max_run END ELSE CASE WHEN s.n_upload > 0 THEN s.max_upload END END / 1e9, 3)
FROM (SELECT q.invocation, count(*) AS n,
        count(*) FILTER (WHERE t.queued_ns >= 0) AS n_queued, count(*) FILTER (WHERE t.queued_ns < 0) AS skewed_queued,
        total(t.queued_ns) FILTER (WHERE t.queued_ns >= 0) AS sum_queued, max(t.queued_ns) AS max_queued,
        count(*) FILTER (WHERE t.fetch_ns >= 0) AS n_fetch, count(*) FILTER (WHERE t.fetch_ns < 0) AS skewed_fetch,
        total(t.fetch_ns) FILTER (WHERE t.fetch_ns >= 0) AS sum_fetch, max(t.fetch_ns) AS max_fetch,
        count(*) FILTER (WHERE t.run_ns >= 0) AS n_run, count(*) FILTER (WHERE t.run_ns < 0) AS skewed_run,
        total(t.run_ns) FILTER (WHERE t.run_ns >= 0) AS sum_run, max(t.run_ns) AS max_run,
        count(*) FILTER (WHERE t.upload_ns >= 0) AS n_upload, count(*) FILTER (WHERE t.upload_ns < 0) AS skewed_upload,
        total(t.upload_ns) FILTER (WHERE t.upload_ns >= 0) AS sum_upload, max(t.upload_ns) AS max_upload
    FROM request q JOIN result r ON r.request_id = q.request_id LEFT JOIN _span t ON t.result_id = r.result_id
    WHERE q.invocation IS NOT NULL AND r.source = 1 GROUP BY q.invocation) s CROSS JOIN _phase p
ORDER BY s.invocation, p.phase_id;

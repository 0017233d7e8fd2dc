CREATE VIEW _invocation (
    -- One row an invocation that executed results, whether its log is known or not: the sums that
    -- the tables keep, and the run that tells where it belongs.
    invocation, -- its trace id
    run_id,     -- its run; NULL: its log is gone
    via_run_id, -- the run itself; where its log is gone, the run that most of its results are first known by
    results,    -- results that name it, historical ones included
    with_usage, -- of these, from the action cache and with usage
    wall_ns,    -- wall time of these
    cpu_ns,     -- CPU time of these
    first_ns,   -- first known time of the first result
    last_ns     -- completion of the last result
) AS
-- An invocation can have several rows in request, which differ in what else they say.
WITH asked AS MATERIALIZED (
    SELECT q.invocation, q.results, q.with_usage, q.wall_ns, q.cpu_ns, q.first_ns, q.last_ns, q.request_id, g.run_id
    FROM request q LEFT JOIN run g ON g.trace_id = q.invocation WHERE q.invocation IS NOT NULL AND q.results > 0),
seen AS MATERIALIZED (
    SELECT a.invocation, r.first_run_id, count(*) AS n FROM asked a JOIN result r ON r.request_id = a.request_id
    -- In the order of the index: nothing is sorted.
    WHERE a.run_id IS NULL GROUP BY a.request_id, r.worker_id, r.first_run_id),
via AS MATERIALIZED (
    SELECT invocation, first_run_id, row_number() OVER (PARTITION BY invocation ORDER BY sum(n) DESC, g.start_ns, g.trace_id) AS place
    FROM seen JOIN run g ON g.run_id = first_run_id GROUP BY invocation, first_run_id)
SELECT a.invocation, a.run_id, coalesce(a.run_id, v.first_run_id), sum(a.results), sum(a.with_usage), total(a.wall_ns),
    total(a.cpu_ns), min(a.first_ns), max(a.last_ns)
FROM asked a LEFT JOIN via v ON v.invocation = a.invocation AND v.place = 1
GROUP BY a.invocation;

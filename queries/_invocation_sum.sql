CREATE VIEW _invocation_made (
    -- The row of table invocation_sum of each invocation, made of its results. Filter invocation: each takes long.
    invocation, -- trace id
    results, ended, begun, workers, timed, held_high, held_low, span_ns, ran_ns, waited_ns, peak_running, peak_waiting
) AS
SELECT v.invocation, c.n, c.ended, c.begun, c.workers, c.timed, c.held_high, c.held_low, 1.0 * (c.last_ns - c.first_ns), v.ran, v.waited,
    v.peak_running, v.peak_waiting
FROM (SELECT invocation, until_ns, max(running) OVER one AS peak_running, max(queued) OVER one AS peak_waiting,
        total(CASE WHEN running > 0 THEN until_ns - at_ns END) OVER one AS ran,
        total(CASE WHEN queued > 0 THEN until_ns - at_ns END) OVER one AS waited
    FROM _step WINDOW one AS (PARTITION BY invocation)) v
    JOIN (SELECT invocation, count(*) AS n, count(held_ns) AS ended, count(waited_ns) AS begun, count(DISTINCT worker_id) AS workers,
            count(DISTINCT CASE WHEN held_ns IS NOT NULL THEN worker_id END) AS timed,
            sum(ifnull(held_ns >> 32, 0)) AS held_high, sum(ifnull(held_ns & 4294967295, 0)) AS held_low,
            min(CASE WHEN held_ns > 0 THEN taken_ns END) AS first_ns, max(CASE WHEN held_ns > 0 THEN taken_ns + held_ns END) AS last_ns
        FROM _worked GROUP BY invocation) c ON c.invocation = v.invocation
-- One row an invocation: the last one.
WHERE v.until_ns IS NULL;

CREATE VIEW _invocation_sum (
    -- The same, kept where it is up to date: rows of table invocation_sum. A filter on invocation is a search.
    invocation, -- trace id
    results, ended, begun, workers, timed,
    held_ns, span_ns, ran_ns, waited_ns, peak_running, peak_waiting
) AS
SELECT invocation, results, ended, begun, workers, timed, held_high * 4294967296.0 + held_low, span_ns, ran_ns, waited_ns, peak_running, peak_waiting
FROM invocation_sum WHERE invocation NOT IN (SELECT invocation FROM invocation_due)
UNION ALL
-- Those that the ingest has yet to sum up anew: none, as a rule. The limit is 0, then, and nothing is made; it is
-- below 0, which is none, where there are any, and all are made.
SELECT invocation, results, ended, begun, workers, timed, held_high * 4294967296.0 + held_low, span_ns, ran_ns, waited_ns, peak_running, peak_waiting
FROM (SELECT * FROM _invocation_made LIMIT (SELECT -count(*) FROM invocation_due)) WHERE invocation IN (SELECT invocation FROM invocation_due);

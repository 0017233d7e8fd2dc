-- Of what executed for these runs, the invocation with most wall time; the last column: of how many.
SELECT invocation, strftime('%Y-%m-%d %H:%M:%S', first_ns / 1000000000, 'unixepoch') AS first_utc, first_ns, last_ns, run_id IS NOT NULL AS has_log,
    count(*) OVER () AS invocations
FROM _invocation WHERE run_id IN (SELECT run_id FROM scope) OR via_run_id IN (SELECT run_id FROM scope)
ORDER BY wall_ns DESC, invocation LIMIT 1

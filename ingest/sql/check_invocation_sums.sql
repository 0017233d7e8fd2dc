-- Invocations whose kept figures over time are not those of their results. Of those in invocation_due none count.
SELECT DISTINCT 'invocation ' || invocation, 'its kept figures over time are not those of its results'
FROM (
    SELECT invocation, results, ended, begun, workers, timed, held_high, held_low, span_ns, ran_ns, waited_ns,
        peak_running, peak_waiting
    FROM invocation_sum
    UNION ALL
    SELECT invocation, results, ended, begun, workers, timed, held_high, held_low, span_ns, ran_ns, waited_ns,
        peak_running, peak_waiting
    FROM _invocation_made)
WHERE invocation NOT IN (SELECT invocation FROM invocation_due)
GROUP BY invocation, results, ended, begun, workers, timed, held_high, held_low, span_ns, ran_ns, waited_ns,
    peak_running, peak_waiting
HAVING count(*) <> 2

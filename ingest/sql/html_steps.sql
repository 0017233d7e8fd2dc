-- How many waited and ran, from one change to the next.
SELECT at_ns, until_ns, queued, running FROM _step WHERE invocation = :invocation AND until_ns > at_ns ORDER BY at_ns

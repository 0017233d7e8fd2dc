CREATE VIEW _run_digest (
    -- One row a run and digest: the first attempt of the run that asked for it, by span.
    run_id,    -- of table run
    lookup_id, -- of table lookup
    span_id,   -- of that attempt's action
    idx,       -- of that attempt
    status,    -- of that attempt
    cache_hit, -- of that attempt: 0 not a hit
    wall_us,   -- Buck2's own time of it
    queue_us   -- time in the queue as the client saw it
) AS
SELECT a.run_id, a.lookup_id, a.span_id, a.idx, a.status, a.cache_hit, a.wall_us, a.queue_us
FROM attempt a
WHERE a.lookup_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attempt e
    WHERE e.lookup_id = a.lookup_id AND e.run_id = a.run_id AND (e.span_id, e.idx) < (a.span_id, a.idx));

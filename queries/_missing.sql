CREATE VIEW _missing (
    -- One row a digest without counted usage and without a historical result, and why: the first reason
    -- that fits. failed: no attempt succeeded, and a failed action is never in the action cache. evicted: hit or
    -- succeeded in a log, not there now. never_stored: the same, but no answer ever proved the instance
    -- name. refused_upload, local_only: what an Error attempt's stage and text say.
    lookup_id,    -- of table lookup
    first_run_id, -- run of the first reference
    name_id,      -- of table action_name
    instance_id, digest, message, -- of lookup, as those above
    reason        -- see missing_results
) AS
-- The index has all that is asked of the result.
SELECT r.lookup_id, l.first_run_id, l.name_id, l.instance_id, l.digest, l.message, CASE WHEN r.worker_id IS NULL THEN 'uploaded_by_client' ELSE 'no_usage' END
FROM result r CROSS JOIN lookup l ON l.lookup_id = r.lookup_id WHERE r.source = 1 AND r.cpu_ns IS NULL
UNION ALL
SELECT l.lookup_id, l.first_run_id, l.name_id, l.instance_id, l.digest, l.message, CASE
    -- The index has whether it was tried; few have an attempt to be looked at.
    WHEN NOT EXISTS (SELECT 1 FROM attempt a WHERE a.lookup_id = l.lookup_id)
        OR l.lookup_id IN (SELECT a.lookup_id FROM attempt a WHERE a.status <> 2)
        AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.lookup_id = l.lookup_id AND a.status IN (0, 2)) THEN
        CASE
        WHEN EXISTS (SELECT 1 FROM attempt a JOIN attempt_text t USING (run_id, span_id, idx) WHERE a.lookup_id = l.lookup_id
            AND t.error_stage = 'remote_upload_error') THEN 'refused_upload'
        WHEN EXISTS (SELECT 1 FROM attempt a JOIN attempt_text t USING (run_id, span_id, idx) WHERE a.lookup_id = l.lookup_id
            AND t.error_stage = 'remote_prepare' AND t.error LIKE '%local_only%') THEN 'local_only'
        ELSE 'failed' END
    WHEN l.state = 2 THEN
        -- A list that is made once, not a look at all runs for each digest.
        CASE WHEN l.instance_id IN (SELECT g.instance_id FROM run g WHERE g.instance_proved = 1 AND g.instance_id IS NOT NULL)
        THEN 'evicted' ELSE 'never_stored' END
    WHEN l.state = 3 THEN 'outputs_evicted'
    WHEN l.state IN (4, 5) THEN 'refused'
    WHEN l.state IN (7, 8) THEN 'unreachable'
    WHEN l.state IN (6, 9) THEN 'malformed'
    ELSE 'not_asked' END
FROM lookup l WHERE l.state <> 1
    AND NOT EXISTS (SELECT 1 FROM result h WHERE h.lookup_id = l.lookup_id AND h.source = 2);

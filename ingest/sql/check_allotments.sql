-- Results that are kept with another allotment than the rule of store_allot.c gives them: what
-- their own container was given, else their pool at that time. Not while an ingest has work left.
WITH worker_of AS MATERIALIZED (SELECT worker_id, pool, pod FROM _worker),
said AS (
    SELECT DISTINCT p.name AS pod, ifnull(c.cpu_request_milli, '-') || ' ' || ifnull(c.cpu_limit_milli, '-')
        || ' ' || ifnull(c.memory_request_bytes, '-') || ' ' || ifnull(c.memory_limit_bytes, '-') AS given, c.disputed
    FROM pod p
    JOIN container c ON c.pod_id = p.pod_id
        AND c.name = (SELECT s.value FROM setting s WHERE s.key = 'runner_container')
    WHERE coalesce(c.cpu_request_milli, c.cpu_limit_milli, c.memory_request_bytes, c.memory_limit_bytes) IS NOT NULL
        OR c.disputed),
container_of AS MATERIALIZED (SELECT pod, count(*) + max(disputed) AS answers, min(given) AS given FROM said GROUP BY pod),
allotted AS (
    SELECT r.lookup_id,
        (SELECT a.source || ' ' || ifnull(a.pool, '') || ' ' || ifnull(a.cpu_request_milli, '-')
            || ' ' || ifnull(a.cpu_limit_milli, '-') || ' ' || ifnull(a.memory_request_bytes, '-')
            || ' ' || ifnull(a.memory_limit_bytes, '-')
        FROM allotment a WHERE a.allotment_id = r.allotment_id) AS kept,
        CASE WHEN k.answers IS NULL THEN (
            SELECT CASE WHEN coalesce(s.cpu_request_milli, s.cpu_limit_milli, s.memory_request_bytes,
                    s.memory_limit_bytes) IS NOT NULL THEN
                '2 ' || s.pool || ' ' || ifnull(s.cpu_request_milli, '-') || ' ' || ifnull(s.cpu_limit_milli, '-')
                || ' ' || ifnull(s.memory_request_bytes, '-') || ' ' || ifnull(s.memory_limit_bytes, '-') END
            FROM pool_spec s
            WHERE s.pool = w.pool AND s.valid_from_ns <= coalesce(t.execution_start_ns, t.worker_start_ns, t.queued_ns)
                AND s.cache = (SELECT i.cache FROM lookup l JOIN instance i ON i.instance_id = l.instance_id
                    WHERE l.lookup_id = r.lookup_id)
            ORDER BY s.valid_from_ns DESC LIMIT 1)
        WHEN k.answers = 1 THEN '1 ' || ifnull(w.pool, '') || ' ' || k.given END AS wanted
    FROM result r
    LEFT JOIN worker_of w ON w.worker_id = r.worker_id
    LEFT JOIN container_of k ON k.pod = w.pod
    LEFT JOIN _time t ON t.result_id = r.result_id)
SELECT 'digest ' || l.digest, 'a result of it is kept with another allotment than its container or pool has;'
    || ' the next ingest gives it that one'
FROM allotted a
JOIN lookup l ON l.lookup_id = a.lookup_id
WHERE a.kept IS NOT a.wanted AND NOT EXISTS (SELECT 1 FROM allotment_due)

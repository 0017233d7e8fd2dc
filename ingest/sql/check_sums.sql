-- Workers, requests, classes, phases and sizes whose kept sums are not those of their results; runs whose actions
-- were not counted right; results and digests whose kept reference is not their first one;
-- digests that are stored twice; answers without a result. Sums stop at the largest integer: they are made anew in two
-- halves, which cannot overflow.
WITH part AS (
    SELECT worker_id, request_id, result_id, max_rss_bytes,
        ifnull(exit_code, 0) <> 0 OR termination_signal IS NOT NULL AS failed,
        source = 1 AND cpu_ns IS NOT NULL AS counted,
        CASE WHEN source = 1 AND cpu_ns IS NOT NULL THEN ifnull(wall_ns, 0) ELSE 0 END AS wall_ns,
        CASE WHEN source = 1 THEN ifnull(cpu_ns, 0) ELSE 0 END AS cpu_ns
    FROM result r
    -- An execution that several attempts link is summed up once.
    WHERE source = 1 OR NOT EXISTS (
        SELECT 1
        FROM historical h
        JOIN historical k ON k.hash = h.hash AND k.size_bytes = h.size_bytes
            AND k.function = h.function AND k.state = 1
        WHERE (h.run_id, h.span_id, h.idx) = (r.attempt_run_id, r.attempt_span_id, r.attempt_idx)
            AND (k.run_id, k.span_id, k.idx) < (h.run_id, h.span_id, h.idx))),
worked AS (
    SELECT worker_id, count(*) AS results, sum(failed) AS failed, sum(counted) AS counted,
        sum(wall_ns >> 32) + (sum(wall_ns & 4294967295) >> 32) AS wall_high,
        sum(wall_ns & 4294967295) & 4294967295 AS wall_low,
        sum(cpu_ns >> 32) + (sum(cpu_ns & 4294967295) >> 32) AS cpu_high,
        sum(cpu_ns & 4294967295) & 4294967295 AS cpu_low,
        min(max_rss_bytes) AS rss_min, max(max_rss_bytes) AS rss_max
    FROM part
    WHERE worker_id IS NOT NULL
    GROUP BY worker_id),
requested AS (
    SELECT p.request_id, count(*) AS results, sum(p.counted) AS counted,
        sum(p.wall_ns >> 32) + (sum(p.wall_ns & 4294967295) >> 32) AS wall_high,
        sum(p.wall_ns & 4294967295) & 4294967295 AS wall_low,
        sum(p.cpu_ns >> 32) + (sum(p.cpu_ns & 4294967295) >> 32) AS cpu_high,
        sum(p.cpu_ns & 4294967295) & 4294967295 AS cpu_low,
        min(m.base_ns) AS first_ns
    FROM part p
    LEFT JOIN result_time m ON m.result_id = p.result_id
    WHERE p.request_id IS NOT NULL
    GROUP BY p.request_id),
-- The earliest reference of each digest that somebody refers to.
earliest AS (
    SELECT l.lookup_id, (
        SELECT b.run_id || ' ' || b.seq || ' ' || b.name_id
        FROM attempt a
        JOIN action b ON b.run_id = a.run_id AND b.span_id = a.span_id
        JOIN run g ON g.run_id = a.run_id
        WHERE a.lookup_id = l.lookup_id
        ORDER BY g.start_ns IS NULL, g.start_ns, g.trace_id, b.seq LIMIT 1) AS reference
    FROM lookup l)
SELECT 'worker ' || w.name AS what, 'its sums are not those of its results' AS fault
FROM worker w
LEFT JOIN worked k ON k.worker_id = w.worker_id
WHERE (w.results, w.failed, w.with_usage, w.wall_ns, w.cpu_ns, w.rss_min_bytes, w.rss_max_bytes) IS NOT (
    ifnull(k.results, 0), ifnull(k.failed, 0), ifnull(k.counted, 0),
    CASE WHEN k.wall_high > 2147483647 THEN 9223372036854775807
        ELSE ifnull(k.wall_high << 32 | k.wall_low, 0) END,
    CASE WHEN k.cpu_high > 2147483647 THEN 9223372036854775807
        ELSE ifnull(k.cpu_high << 32 | k.cpu_low, 0) END,
    k.rss_min, k.rss_max)
UNION ALL
SELECT 'invocation ' || ifnull(q.invocation, q.request_id), 'its sums are not those of its results'
FROM request q
LEFT JOIN requested k ON k.request_id = q.request_id
WHERE (q.results, q.with_usage, q.wall_ns, q.cpu_ns, q.first_ns) IS NOT (
    ifnull(k.results, 0), ifnull(k.counted, 0),
    CASE WHEN k.wall_high > 2147483647 THEN 9223372036854775807
        ELSE ifnull(k.wall_high << 32 | k.wall_low, 0) END,
    CASE WHEN k.cpu_high > 2147483647 THEN 9223372036854775807
        ELSE ifnull(k.cpu_high << 32 | k.cpu_low, 0) END,
    k.first_ns)
UNION ALL
SELECT 'results of class ' || bucket, 'their kept sums are others'
FROM (
    SELECT bucket, results, wall_s, wall_rest_ns, cpu_s, cpu_rest_ns, rss_max_bytes FROM bucket_sum
    UNION ALL
    SELECT ifnull(bucket, -1), count(*), sum(ifnull(wall_ns, 0) / 1000000000),
        sum(ifnull(wall_ns, 0) % 1000000000), sum(cpu_ns / 1000000000), sum(cpu_ns % 1000000000),
        max(max_rss_bytes)
    FROM result
    WHERE source = 1 AND cpu_ns IS NOT NULL
    GROUP BY ifnull(bucket, -1))
GROUP BY bucket, results, wall_s, wall_rest_ns, cpu_s, cpu_rest_ns, rss_max_bytes
HAVING count(*) <> 2
UNION ALL
SELECT 'phase ' || phase_id, 'its kept sums are others'
FROM (
    SELECT phase_id, known, skewed, total_s, total_rest_ns, max_ns FROM phase_sum
    UNION ALL
    SELECT phase_id, sum(ns >= 0), sum(ns < 0), sum(max(ns, 0) / 1000000000),
        sum(max(ns, 0) % 1000000000), max(max(ns, 0))
    FROM (
        SELECT k.phase_id, CASE k.phase_id WHEN 1 THEN t.queued_ns WHEN 2 THEN t.fetch_ns
            WHEN 3 THEN t.run_ns ELSE t.upload_ns END AS ns
        FROM result r
        JOIN _span t ON t.result_id = r.result_id
        CROSS JOIN _phase k
        WHERE r.source = 1)
    WHERE ns IS NOT NULL
    GROUP BY phase_id)
GROUP BY phase_id, known, skewed, total_s, total_rest_ns, max_ns
HAVING count(*) <> 2
UNION ALL
SELECT 'results of size ' || size || CASE kind WHEN 1 THEN ' MiB' ELSE ' hundredths of a core' END,
    'the kept counts of them are others'
FROM (
    SELECT allotment_id, category_id, kind, size, project_id, results, wall_s, wall_rest_ns FROM size_count
    UNION ALL
    SELECT ifnull(r.allotment_id, 0), iif(k.is_all, 0, r.category_id), k.kind,
        ifnull(CASE k.kind WHEN 1 THEN r.memory_mib ELSE r.centicores END, -1),
        iif(k.is_all, 0, r.project_id), count(*), sum(ifnull(r.wall_ns, 0) / 1000000000),
        sum(ifnull(r.wall_ns, 0) % 1000000000)
    FROM result r
    CROSS JOIN (SELECT 1 AS kind, 0 AS is_all UNION ALL VALUES (2, 0), (1, 1), (2, 1)) k
    WHERE r.source = 1 AND r.cpu_ns IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5)
GROUP BY allotment_id, category_id, kind, size, project_id, results, wall_s, wall_rest_ns
HAVING count(*) <> 2
UNION ALL
SELECT 'results of project ' || (SELECT p.name FROM project p WHERE p.project_id = v.project_id),
    'the kept sums of what they held and used are others'
FROM (
    SELECT allotment_id, project_id, results, known, busy_high, busy_low, cpu_high, cpu_low,
        held_high, held_low
    FROM busy_sum
    UNION ALL
    SELECT allotment_id, project_id, count(*), sum(known), sum(busy_high), sum(busy_low),
        sum(cpu_high), sum(cpu_low), sum(held_high), sum(held_low)
    FROM _busy_part
    GROUP BY allotment_id, project_id) v
GROUP BY allotment_id, project_id, results, known, busy_high, busy_low, cpu_high, cpu_low,
    held_high, held_low
HAVING count(*) <> 2
UNION ALL
SELECT 'run ' || g.trace_id, 'the kept counts of its actions are others'
FROM run g
WHERE g.run_id IN (
    SELECT run_id FROM (
        SELECT run_id, type, execution_kind, failed, actions FROM action_count
        UNION ALL
        SELECT run_id, type, ifnull(execution_kind, 0), failed, count(*)
        FROM action
        GROUP BY run_id, type, ifnull(execution_kind, 0), failed)
    -- What is kept and what is there: two equal rows, or it differs.
    GROUP BY run_id, type, execution_kind, failed
    HAVING count(*) <> 2 OR min(actions) <> max(actions))
UNION ALL
SELECT 'digest ' || l.digest, 'its first reference is another one than is kept'
FROM earliest e
JOIN lookup l ON l.lookup_id = e.lookup_id
WHERE e.reference <> l.first_run_id || ' ' || l.first_seq || ' ' || l.name_id
UNION ALL
SELECT 'digest ' || l.digest, 'a result of it is kept under another name, package, category, project or run'
FROM result r
JOIN lookup l ON l.lookup_id = r.lookup_id
JOIN action_name n ON n.name_id = l.name_id
JOIN target t ON t.target_id = n.target_id
JOIN run g ON g.run_id = l.first_run_id
WHERE (r.name_id, r.package_id, r.category_id, r.project_id, r.first_run_id) IS NOT
    (l.name_id, t.package_id, n.category_id, g.project_id, l.first_run_id)
UNION ALL
SELECT 'digest ' || digest, 'it is stored ' || iif(count(*) = 2, 'twice', count(*) || ' times')
FROM lookup
GROUP BY hash, size_bytes, function, instance_id
HAVING count(*) > 1
UNION ALL
-- Where a lookup that is there is not found it would be stored twice.
SELECT 'digest ' || l.digest, 'its key is not kept, by which an ingest finds it'
FROM lookup l
WHERE l.batch < (SELECT min(until_batch) FROM lookup_keyed)
    AND NOT EXISTS (SELECT 1 FROM lookup_key k WHERE k.key = l.digest_key AND k.lookup_id = l.lookup_id)
UNION ALL
SELECT 'key ' || k.key, 'it is kept, and no such digest'
FROM lookup_key k
WHERE NOT EXISTS (SELECT 1 FROM lookup l WHERE l.lookup_id = k.lookup_id AND l.digest_key = k.key)
UNION ALL
SELECT 'digests', 'how far their keys are kept is not known'
WHERE (SELECT count(*) FROM lookup_keyed WHERE until_batch <= due_batch) <> 1
UNION ALL
SELECT 'digest ' || l.digest, CASE l.state WHEN 1 THEN 'it was found, and no result is stored'
    ELSE 'a result is stored, and it was not found' END
FROM lookup l
WHERE (l.state = 1) <> EXISTS (SELECT 1 FROM result r WHERE r.lookup_id = l.lookup_id AND r.source = 1)

CREATE VIEW _worker (
    -- Pool and pod of each worker, taken out of its text: JSON of the labels that the worker's
    -- configuration gives it. Charts name the labels differently; to teach it another name, drop
    -- this view and create your own.
    worker_id,       -- of table worker
    pool,            -- label pool, else what a pod's name worker-<pool>-<hash>-<hash> holds; NULL: neither
    pod,             -- the label that names the pod, else a text without JSON and spaces; NULL: none
    rss_floor_bytes  -- smallest max RSS of its results; see workers
) AS
WITH label AS (
    SELECT w.worker_id, w.rss_min_bytes, CASE WHEN json_valid(w.name) THEN
            coalesce(json_extract(w.name, '$.pod'), json_extract(w.name, '$.pod_name'), json_extract(w.name, '$.podName'),
                json_extract(w.name, '$.slot'), json_extract(w.name, '$.hostname'), json_extract(w.name, '$.host'))
        WHEN w.name NOT GLOB '*[ {}"]*' THEN w.name END AS pod,
        CASE WHEN json_valid(w.name) THEN json_extract(w.name, '$.pool') END AS pool
    FROM worker w),
-- A deployment's pod ends in -<hash of its template>-<5 letters>: cut off both.
named AS (
    SELECT worker_id, rss_min_bytes, pool, pod,
        rtrim(rtrim(pod, replace(pod, '-', '')), '-') AS replica_set FROM label)
SELECT worker_id,
    coalesce(pool, CASE WHEN pod GLOB 'worker-?*-?*-?????' THEN
        nullif(substr(rtrim(rtrim(replica_set, replace(replica_set, '-', '')), '-'), 8), '') END),
    pod, rss_min_bytes
FROM named;

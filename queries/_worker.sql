CREATE VIEW _worker (
    -- Pool and pod of each worker, taken out of its text: JSON of the labels that the worker's
    -- configuration gives it. Charts name the labels differently; to teach it another name, drop
    -- this view and create your own. Cut out as text: SQLite 3.40 runs no JSON function of a
    -- view in a database that it does not trust, and the program trusts none.
    worker_id,       -- of table worker
    pool,            -- label pool, else what a pod's name worker-<pool>-<hash>-<hash> holds; NULL: neither
    pod,             -- the label that names the pod, else a text without JSON and spaces; NULL: none
    rss_floor_bytes  -- smallest max RSS of its results; see workers
) AS
WITH pod_label(rank, opening) AS (VALUES (1, '"pod":"'), (2, '"pod_name":"'), (3, '"podName":"'),
    (4, '"slot":"'), (5, '"hostname":"'), (6, '"host":"')),
label AS (
    SELECT w.worker_id, w.rss_min_bytes,
        CASE WHEN w.name GLOB '{*}' THEN (
            SELECT substr(v.rest, 1, instr(v.rest, '"') - 1) FROM (
                SELECT substr(w.name, instr(w.name, l.opening) + length(l.opening)) AS rest
                FROM pod_label l WHERE instr(w.name, l.opening) > 0 ORDER BY l.rank LIMIT 1) v)
        WHEN w.name NOT GLOB '*[ {}"]*' THEN w.name END AS pod,
        CASE WHEN w.name GLOB '{*"pool":"*"*}' THEN
            substr(w.name, instr(w.name, '"pool":"') + 8,
                instr(substr(w.name, instr(w.name, '"pool":"') + 8), '"') - 1) END AS pool
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

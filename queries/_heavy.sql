CREATE VIEW _heavy_rule (
    -- What makes a result heavy: one row. A setting that somebody deleted is NULL: its rule applies to nothing.
    wall_ns,       -- it ran longer: setting heavy_wall_s
    cores,         -- or averaged more: heavy_cores ...
    cores_wall_ns, -- ... while it ran longer than this: heavy_cores_min_s
    is_whole       -- 1: none is missing; else nothing is known to be light
) AS
SELECT wall, cores, min_wall, wall IS NOT NULL AND cores IS NOT NULL AND min_wall IS NOT NULL
FROM (SELECT (SELECT value * 1e9 FROM setting WHERE key = 'heavy_wall_s') AS wall,
        (SELECT value * 1.0 FROM setting WHERE key = 'heavy_cores') AS cores,
        (SELECT value * 1e9 FROM setting WHERE key = 'heavy_cores_min_s') AS min_wall);

CREATE VIEW _heavy (
    -- One row a result of the action cache that is heavy by the settings: it ran over heavy_wall_s, or
    -- averaged over heavy_cores and ran over heavy_cores_min_s.
    lookup_id,     -- of table lookup
    project_id,    -- of the digest's first reference
    package_id,    -- of the digest's first reference
    wall_ns,       -- its wall time
    cores,         -- its average cores
    max_rss_bytes, -- its largest process
    is_long,       -- 1: by its wall time
    is_wide,       -- 1: by its cores
    allotment_id,  -- what it was given
    name_id, category_id -- of the digest's first reference
) AS
WITH at AS MATERIALIZED (
    SELECT wall_ns AS wall, cores, cores_wall_ns AS min_wall FROM _heavy_rule)
-- Two searches in two indexes; the second leaves out what the first has found.
SELECT r.lookup_id, r.project_id, r.package_id, r.wall_ns, r.cores, r.max_rss_bytes, ifnull(r.wall_ns > (SELECT wall FROM at), 0), 1,
    r.allotment_id, r.name_id, r.category_id
FROM result r INDEXED BY result_bucket
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.bucket IN (0, 1, 2, 3, 4) AND r.cores > (SELECT cores FROM at)
    AND r.wall_ns > (SELECT min_wall FROM at)
UNION ALL
SELECT r.lookup_id, r.project_id, r.package_id, r.wall_ns, r.cores, r.max_rss_bytes, 1, 0, r.allotment_id, r.name_id, r.category_id
FROM result r INDEXED BY result_wall
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL AND r.wall_ns > (SELECT wall FROM at)
    AND (r.cores > (SELECT cores FROM at) AND r.wall_ns > (SELECT min_wall FROM at)) IS NOT 1;

CREATE VIEW _failed_peak (
    -- One row an execution that is not in the action cache, as it failed, and of which memory is known; of one that
    -- several attempts link a row each. No figure of counted results has them; a size that is recommended must hold
    -- them, too.
    run_id,       -- whose attempt it was
    project_id, package_id, name_id, allotment_id, -- of result
    is_again,     -- 1: an attempt of an earlier run links the same execution
    bytes,        -- the larger one of its largest process and its container's samples: a lower bound where it was killed
    mib           -- the same, rounded up
) AS
SELECT v.attempt_run_id, v.project_id, v.package_id, v.name_id, v.allotment_id, v.result_id IN (SELECT x.result_id FROM _relinked x), v.bytes,
    v.bytes / 1048576 + (v.bytes % 1048576 > 0)
FROM (SELECT r.result_id, r.attempt_run_id, r.project_id, r.package_id, r.name_id, r.allotment_id,
        coalesce(max(r.max_rss_bytes, c.working_set_peak_bytes), r.max_rss_bytes, c.working_set_peak_bytes) AS bytes
    FROM result r INDEXED BY result_historical LEFT JOIN result_container c ON c.result_id = r.result_id WHERE r.source = 2) v
WHERE v.bytes IS NOT NULL;

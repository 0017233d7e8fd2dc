CREATE VIEW _run_size (
    -- Sizes of the results of each run's digests, hits included: those with usage, and those of workers without.
    run,          -- trace id
    allotment_id, -- of result, as the next one; 0: not known
    category_id,
    is_counted,   -- 1: with usage
    mib,          -- memory as _size_correction has it; NULL: not known
    centicores,   -- hundredths of a core; NULL: not known
    is_sampled,   -- 1: its container was, well enough to trust that
    wall_ns
) AS
SELECT g.trace_id, ifnull(r.allotment_id, 0), r.category_id, r.cpu_ns IS NOT NULL,
    CASE WHEN r.cpu_ns IS NOT NULL THEN nullif(max(ifnull(r.memory_mib, -1),
        ifnull(c.working_set_peak_bytes / 1048576 + (c.working_set_peak_bytes % 1048576 > 0), -1)), -1) END,
    r.centicores, ifnull(r.cpu_ns IS NOT NULL AND c.memory_samples >= 3, 0), r.wall_ns
-- Each digest once, and in the order of their numbers, as their results lie. The index is named, or SQLite would walk another
-- for the source, and look up each row.
FROM run g CROSS JOIN result r INDEXED BY result_by_lookup
    ON r.lookup_id IN (SELECT a.lookup_id FROM attempt a WHERE a.run_id = g.run_id) AND r.source = 1
    LEFT JOIN result_container c ON c.result_id = r.result_id
WHERE r.cpu_ns IS NOT NULL OR r.worker_id IS NOT NULL;

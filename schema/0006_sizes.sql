-- Step 6 of the tables: what the views of sizes walk through, in the order of size.

-- Of the digest's first reference:
ALTER TABLE result ADD COLUMN category_id INTEGER REFERENCES category;
-- Sizes as they are shown, so that equal ones are next to each other: max RSS rounded up, average cores.
ALTER TABLE result ADD COLUMN memory_mib INTEGER
    GENERATED ALWAYS AS (max_rss_bytes / 1048576 + (max_rss_bytes % 1048576 > 0)) VIRTUAL;
ALTER TABLE result ADD COLUMN centicores INTEGER
    GENERATED ALWAYS AS (CAST(round(100.0 * cpu_ns / max(wall_ns, 1000000)) AS INTEGER)) VIRTUAL;
UPDATE result SET category_id = (SELECT n.category_id FROM action_name n WHERE n.name_id = result.name_id);

CREATE INDEX result_memory ON result (allotment_id, category_id, memory_mib, wall_ns) WHERE source = 1 AND cpu_ns IS NOT NULL;
CREATE INDEX result_cores ON result (allotment_id, category_id, centicores, wall_ns) WHERE source = 1 AND cpu_ns IS NOT NULL;
-- With the allotment: a package's figures are kept apart by it.
DROP INDEX result_package;
CREATE INDEX result_package ON result (package_id, allotment_id, wall_ns, cpu_ns, max_rss_bytes, source);

INSERT INTO setting (key, value, about) VALUES
    ('sizing_step_mib', 256, 'recommended memory is rounded up to a multiple of this'),
    ('sizing_oom_pct', 20, 'after a kill for memory at least so much more than the limit ...'),
    ('sizing_oom_mib', 100, '... and so many MiB'),
    ('outlier_results', 20, 'of so many results of a package one alone does not decide its shape');

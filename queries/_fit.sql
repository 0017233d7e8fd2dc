CREATE VIEW _fit_by_project (
    -- Memory and cores as in _project_size, as far as the shapes of _shape tell them apart: what is below all is one size, and
    -- what is above all.
    project,     -- name
    under,       -- memory limit in force, bytes; NULL: none, or not known
    category_id, kind, step, n, wall_ns -- see _size
) AS
SELECT v.project, a.memory_limit_bytes, v.category_id, v.kind, v.step, v.n, v.wall_ns
FROM (SELECT s.project, s.allotment_id, s.category_id, s.kind, CASE WHEN s.step IS NOT NULL THEN CASE s.kind
            WHEN 1 THEN min(max(s.step, ifnull((SELECT min(fit_mib) FROM _shape), 0)), ifnull((SELECT max(fit_mib) + 1 FROM _shape), 0))
            ELSE min(max(s.step, ifnull((SELECT min(fit_centi) FROM _shape), 0)), ifnull((SELECT max(fit_centi) + 1 FROM _shape), 0)) END END AS step,
        sum(s.n) AS n, total(s.wall_ns) AS wall_ns
    FROM _project_size s
    WHERE s.kind < 3 GROUP BY 1, 2, 3, 4, 5) v LEFT JOIN allotment a ON a.allotment_id = v.allotment_id;

CREATE VIEW _fit_by_run (
    -- Memory and cores as in _size_by_run, as far as the shapes of _shape tell them apart: what is below all is one size, and
    -- what is above all.
    run,         -- trace id
    under,       -- memory limit in force, bytes; NULL: none, or not known
    category_id, kind, step, n, wall_ns -- see _size
) AS
SELECT v.run, a.memory_limit_bytes, v.category_id, v.kind, v.step, v.n, v.wall_ns
FROM (SELECT g.trace_id AS run, s.allotment_id, s.category_id, s.kind, CASE WHEN s.step IS NOT NULL THEN CASE s.kind
            WHEN 1 THEN min(max(s.step, ifnull((SELECT min(fit_mib) FROM _shape), 0)), ifnull((SELECT max(fit_mib) + 1 FROM _shape), 0))
            ELSE min(max(s.step, ifnull((SELECT min(fit_centi) FROM _shape), 0)), ifnull((SELECT max(fit_centi) + 1 FROM _shape), 0)) END END AS step,
        count(*) AS n, total(s.wall_ns) AS wall_ns
    FROM run g JOIN _run_digest d ON d.run_id = g.run_id JOIN _sized s ON s.lookup_id = d.lookup_id
    WHERE s.kind < 3 GROUP BY 1, 2, 3, 4, 5) v LEFT JOIN allotment a ON a.allotment_id = v.allotment_id;

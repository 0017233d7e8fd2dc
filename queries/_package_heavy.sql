CREATE VIEW _repeat (
    -- The counted results of each action name: a filter on package_id, category_id and identifier is a search.
    package_id,    -- of the action, as the next two
    category_id, identifier,
    result_id,     -- of table result: once an attempt that refers to it
    project_id,    -- of the digest's first reference
    under,         -- memory limit in force, bytes; 0: none, or not known
    max_rss_bytes  -- its largest process
) AS
SELECT t.package_id, n.category_id, n.identifier, r.result_id, r.project_id,
    ifnull((SELECT o.memory_limit_bytes FROM allotment o WHERE o.allotment_id = r.allotment_id), 0), r.max_rss_bytes
FROM target t CROSS JOIN action_name n ON n.target_id = t.target_id CROSS JOIN action x ON x.name_id = n.name_id
    CROSS JOIN attempt a ON a.run_id = x.run_id AND a.span_id = x.span_id
    CROSS JOIN result r ON r.lookup_id = a.lookup_id AND r.name_id = n.name_id
WHERE r.source = 1 AND r.cpu_ns IS NOT NULL;

CREATE VIEW _package_heavy (
    -- How many heavy results a package has, by memory limit in force. One alone of an action that has setting
    -- outlier_results of them is an outlier, and makes no package heavy.
    package_id, -- of table package
    under,      -- see _repeat
    heavy,      -- heavy results
    alone       -- of these, outliers
) AS
SELECT v.package_id, v.under, sum(v.n), total(CASE WHEN v.n = 1
    -- Few have so many actions, with results or without.
    AND EXISTS (SELECT 1 FROM target t CROSS JOIN action_name m ON m.target_id = t.target_id AND m.category_id = v.category_id
            AND m.identifier = v.identifier CROSS JOIN action x ON x.name_id = m.name_id
        WHERE t.package_id = v.package_id LIMIT 1 OFFSET (SELECT CAST(many AS INTEGER) - 1 FROM _sizing_rule))
    THEN (SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = v.package_id AND e.category_id = v.category_id
        AND e.identifier = v.identifier AND e.under = v.under) >= (SELECT many FROM _sizing_rule) END)
FROM (SELECT h.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier, count(*) AS n
    FROM _heavy h JOIN lookup l ON l.lookup_id = h.lookup_id JOIN action_name n ON n.name_id = l.name_id
        LEFT JOIN allotment a ON a.allotment_id = h.allotment_id
    GROUP BY h.package_id, ifnull(a.memory_limit_bytes, 0), n.category_id, n.identifier) v
GROUP BY v.package_id, v.under;

CREATE VIEW _package_heavy_by_project (
    -- As _package_heavy, of each project.
    project,    -- name
    project_id, -- of table project
    package_id, -- of table package
    under,      -- see _repeat
    heavy,      -- heavy results
    alone       -- of these, outliers
) AS
SELECT v.project, v.project_id, v.package_id, v.under, sum(v.n), total(CASE WHEN v.n = 1
    AND EXISTS (SELECT 1 FROM target t CROSS JOIN action_name m ON m.target_id = t.target_id AND m.category_id = v.category_id
            AND m.identifier = v.identifier CROSS JOIN action x ON x.name_id = m.name_id
        WHERE t.package_id = v.package_id LIMIT 1 OFFSET (SELECT CAST(many AS INTEGER) - 1 FROM _sizing_rule))
    THEN (SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = v.package_id AND e.category_id = v.category_id
        AND e.identifier = v.identifier AND e.under = v.under AND e.project_id = v.project_id) >= (SELECT many FROM _sizing_rule) END)
FROM (SELECT j.name AS project, j.project_id, h.package_id, ifnull(a.memory_limit_bytes, 0) AS under, n.category_id, n.identifier,
        count(*) AS n
    FROM _heavy h JOIN project j ON j.project_id = h.project_id JOIN lookup l ON l.lookup_id = h.lookup_id
        JOIN action_name n ON n.name_id = l.name_id LEFT JOIN allotment a ON a.allotment_id = h.allotment_id
    GROUP BY j.name, h.package_id, ifnull(a.memory_limit_bytes, 0), n.category_id, n.identifier) v
GROUP BY v.project, v.package_id, v.under;

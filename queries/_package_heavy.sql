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
    -- The packages that have heavy results: one row each, or, where each of these may be an outlier, one row each
    -- of these. An outlier is one alone of an action that, under one memory limit, has setting outlier_results of them.
    by_project, -- see _scope, as the next one; a filter on it spares half of the work
    scope_id,
    package_id, -- of table package
    heavy,      -- heavy results of the package
    decides     -- 0: it is an outlier. A package is heavy if one of its rows is none
) AS
WITH rule AS MATERIALIZED (SELECT CAST(ifnull(many, 1e9) AS INTEGER) AS many FROM _sizing_rule),
made AS MATERIALIZED (
    SELECT h.project_id, h.package_id, h.name_id, ifnull(a.memory_limit_bytes, 0) AS under
    FROM _heavy h LEFT JOIN allotment a ON a.allotment_id = h.allotment_id)
SELECT v.by_project, v.scope_id, v.package_id, v.heavy, CASE WHEN v.few > 0
    -- Few have so many actions, with results or without.
    OR NOT EXISTS (SELECT 1 FROM target t CROSS JOIN action_name i ON i.target_id = t.target_id AND i.category_id = n.category_id
            AND i.identifier = n.identifier CROSS JOIN action x ON x.name_id = i.name_id
        WHERE t.package_id = v.package_id LIMIT 1 OFFSET (SELECT many - 1 FROM rule))
    OR (SELECT count(*) FROM made o CROSS JOIN action_name i ON i.name_id = o.name_id WHERE o.package_id = v.package_id AND o.under = m.under
        AND (NOT v.by_project OR o.project_id = v.scope_id) AND i.category_id = n.category_id AND i.identifier = n.identifier) > 1
    THEN 1 ELSE (SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = v.package_id AND e.category_id = n.category_id
        AND e.identifier = n.identifier AND e.under = m.under AND (NOT v.by_project OR e.project_id = v.scope_id)) < (SELECT many FROM rule) END
FROM (SELECT k.by_project, iif(k.by_project, m.project_id, 0) AS scope_id, m.package_id, count(*) AS heavy,
        -- Where a package has few results under a limit none of its actions has many there, and no name is looked up.
        total(s.results < (SELECT many FROM rule)) AS few
    FROM made m CROSS JOIN (SELECT 0 AS by_project UNION ALL SELECT 1) k
        LEFT JOIN package_sum s ON s.project_id = iif(k.by_project, m.project_id, 0) AND s.package_id = m.package_id AND s.limit_bytes = m.under
    GROUP BY m.package_id, k.by_project, iif(k.by_project, m.project_id, 0)) v
    LEFT JOIN made m ON m.package_id = v.package_id AND v.few = 0 AND (NOT v.by_project OR m.project_id = v.scope_id)
    LEFT JOIN action_name n ON n.name_id = m.name_id;

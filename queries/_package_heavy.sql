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
    scope_id,   -- of _scope
    package_id, -- of table package
    under,      -- see _repeat
    heavy,      -- heavy results
    alone       -- of these, outliers
) AS
WITH rule AS MATERIALIZED (SELECT many FROM _sizing_rule),
by_action AS MATERIALIZED (
    -- Where a package has few results none of its actions has many, and no name is looked up.
    SELECT h.project_id, h.package_id, ifnull(a.memory_limit_bytes, 0) AS under, h.category_id, n.identifier, count(*) AS n
    FROM _heavy h LEFT JOIN allotment a ON a.allotment_id = h.allotment_id
        LEFT JOIN package_sum s ON s.project_id = 0 AND s.package_id = h.package_id AND s.limit_bytes = ifnull(a.memory_limit_bytes, 0)
        LEFT JOIN action_name n ON n.name_id = h.name_id AND (s.results < (SELECT many FROM rule)) IS NOT 1
    GROUP BY 1, 2, 3, 4, 5)
SELECT v.scope_id, v.package_id, v.under, sum(v.n), total(CASE WHEN v.n = 1 AND v.identifier IS NOT NULL
    -- Few have so many actions, with results or without.
    AND EXISTS (SELECT 1 FROM target t CROSS JOIN action_name m ON m.target_id = t.target_id AND m.category_id = v.category_id
            AND m.identifier = v.identifier CROSS JOIN action x ON x.name_id = m.name_id
        WHERE t.package_id = v.package_id LIMIT 1 OFFSET (SELECT CAST(many AS INTEGER) - 1 FROM rule))
    THEN (SELECT count(DISTINCT e.result_id) FROM _repeat e WHERE e.package_id = v.package_id AND e.category_id = v.category_id
        AND e.identifier = v.identifier AND e.under = v.under AND v.scope_id IN (0, e.project_id)) >= (SELECT many FROM rule) END)
FROM (SELECT 0 AS scope_id, package_id, under, category_id, identifier, sum(n) AS n FROM by_action GROUP BY package_id, under, category_id, identifier
    UNION ALL SELECT project_id, package_id, under, category_id, identifier, n FROM by_action) v
GROUP BY v.scope_id, v.package_id, v.under;

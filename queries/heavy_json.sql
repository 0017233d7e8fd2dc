CREATE VIEW heavy_json (
    -- One row a project that has heavy packages or a project.json with a list of them: the list that suits what
    -- is stored, by the rules of heavy_packages. What is listed stays in its place, unless it is seen and not
    -- heavy; what is new follows, by the wall time of its heavy results.
    project,  -- name
    heavy,    -- JSON array: what heavy in project.json should be
    adds,     -- of its names those that are new, likewise; all of them where no project.json was read
    keeps,    -- those that are heavy and listed
    drops,    -- listed, and none of its results is heavy: not in the array; none while a setting heavy_* is missing
    not_seen, -- listed, and no execution is known: in the array, since nothing speaks against them
    changes   -- adds + drops, how many; NULL: no project.json was read
) AS
-- What a subquery has in order group_concat() joins in that order.
SELECT project, '[' || ifnull(group_concat(CASE WHEN verdict IS NOT 'drop' THEN text END, ', '), '') || ']',
    '[' || ifnull(group_concat(CASE verdict WHEN 'add' THEN text END, ', '), '') || ']',
    '[' || ifnull(group_concat(CASE verdict WHEN 'keep' THEN text END, ', '), '') || ']',
    '[' || ifnull(group_concat(CASE verdict WHEN 'drop' THEN text END, ', '), '') || ']',
    '[' || ifnull(group_concat(CASE verdict WHEN 'not seen' THEN text END, ', '), '') || ']',
    CASE WHEN is_read THEN sum(verdict IN ('add', 'drop')) END
FROM (SELECT v.project, v.is_read, v.verdict, ifnull(s.text, '"' || v.package || '"') AS text
    FROM (SELECT j.name AS project, f.project_id IS NOT NULL AS is_read, h.package, h.position, h.wall_ns,
            CASE WHEN h.n > 0 THEN iif(h.position IS NULL, 'add', 'keep') WHEN h.actions > 0
                THEN CASE WHEN (SELECT is_whole FROM _heavy_rule) THEN 'drop' END ELSE 'not seen' END AS verdict
            FROM _heavy_or_listed h JOIN project j ON j.project_id = h.project_id LEFT JOIN project_file f ON f.project_id = h.project_id) v
        LEFT JOIN _json_string s ON s.package = v.package
    ORDER BY v.project, v.position IS NULL, v.position, v.wall_ns DESC, v.package)
GROUP BY project
ORDER BY project;

CREATE VIEW _runner (
    -- One row a pod's name, with what is known of the container that runs its actions (setting
    -- runner_container). Pods of one name that do not agree, in several namespaces or one after the other: NULL.
    pod,        -- its name, as workers' texts hold it
    node,       -- where it ran
    limit_bytes -- memory limit of the container; NULL: none, or not known
) AS
SELECT p.name, CASE WHEN min(p.node) = max(p.node) THEN min(p.node) END,
    CASE WHEN min(c.memory_limit_bytes) = max(c.memory_limit_bytes) AND NOT max(c.disputed) THEN min(c.memory_limit_bytes) END
FROM pod p LEFT JOIN container c ON c.pod_id = p.pod_id
    AND c.name = (SELECT s.value FROM setting s WHERE s.key = 'runner_container')
GROUP BY p.name;

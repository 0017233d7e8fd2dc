-- What of these runs' results Prometheus was asked about, and what it sampled while they ran. At
-- once 0 where it was never asked.
SELECT count(c.wall_ns) AS asked, total(c.wall_ns) AS asked_wall_ns,
    count(CASE WHEN c.worth <= 3 THEN c.wall_ns END) AS sampled, total(CASE WHEN c.worth <= 3 THEN c.wall_ns END) AS sampled_wall_ns,
    (SELECT interval_s FROM _sample_interval) AS interval_s
FROM wanted w CROSS JOIN result r ON r.lookup_id = w.lookup_id AND r.source = 1
CROSS JOIN result_container c ON c.result_id = r.result_id
WHERE EXISTS (SELECT 1 FROM result_container)

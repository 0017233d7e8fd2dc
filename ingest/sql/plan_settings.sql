-- The settings that a plan rests on, each a column; NULL: somebody took it away.
SELECT (SELECT value FROM setting WHERE key = 'worker_start_s'),
    (SELECT value FROM setting WHERE key = 'pod_overhead_cpu'),
    (SELECT value FROM setting WHERE key = 'pod_overhead_gib'),
    (SELECT value FROM setting WHERE key = 'sizing_margin_pct'),
    (SELECT value FROM setting WHERE key = 'make_gib_per_job'),
    (SELECT value FROM setting WHERE key = 'make_extra_jobs'),
    (SELECT value FROM setting WHERE key = 'heavy_wall_s'),
    (SELECT value FROM setting WHERE key = 'heavy_cores'),
    (SELECT value FROM setting WHERE key = 'heavy_cores_min_s'),
    (SELECT value FROM setting WHERE key = 'outlier_results')

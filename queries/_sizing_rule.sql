CREATE VIEW _sizing_rule (
    -- The settings by which sizes are recommended: one row. NULL: somebody deleted it.
    least,     -- sizing_min_results
    margin,    -- sizing_margin_pct
    step,      -- sizing_step_mib
    oom_pct,   -- sizing_oom_pct
    oom_mib,   -- sizing_oom_mib
    many,      -- outlier_results
    is_whole   -- 1: none is missing; else nothing is recommended
) AS
SELECT least, margin, step, oom_pct, oom_mib, many,
    least + margin + step + oom_pct + oom_mib + many IS NOT NULL
FROM (SELECT (SELECT value FROM setting WHERE key = 'sizing_min_results') AS least,
        (SELECT value FROM setting WHERE key = 'sizing_margin_pct') AS margin,
        (SELECT value FROM setting WHERE key = 'sizing_step_mib') AS step,
        (SELECT value FROM setting WHERE key = 'sizing_oom_pct') AS oom_pct,
        (SELECT value FROM setting WHERE key = 'sizing_oom_mib') AS oom_mib,
        (SELECT value FROM setting WHERE key = 'outlier_results') AS many);

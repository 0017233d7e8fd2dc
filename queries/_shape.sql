CREATE VIEW _shape (
    -- Sizes of workers to compare with: those of table shape, and what each pool that is in use requests today:
    -- its newest row of pool_spec that is in force now, by this machine's clock; one with enabled = 0 is not in use.
    shape,        -- name; of a pool: pool <name>, with the cluster's name before it where it has one
    cpu_milli,    -- requested cores in thousandths; NULL: none
    limit_bytes,  -- memory limit; of a pool without one its request
    fit_mib,      -- the largest peak that fits with setting sizing_margin_pct, in whole MiB
    fit_centi     -- the most cores that do not exceed the request, hundredths
) AS
SELECT shape, cpu_milli, limit_bytes, CAST(limit_bytes / 1048576.0 * 100
    / (100 + (SELECT value FROM setting WHERE key = 'sizing_margin_pct')) AS INTEGER), cpu_milli / 10
FROM (SELECT shape, cpu_milli, memory_limit_bytes AS limit_bytes FROM shape
    UNION ALL
    SELECT 'pool ' || iif(p.cache = '', '', p.cache || '/') || p.pool, p.cpu_request_milli, coalesce(p.memory_limit_bytes, p.memory_request_bytes)
    FROM pool_spec p WHERE coalesce(p.memory_limit_bytes, p.memory_request_bytes) > 0 AND p.enabled IS NOT 0
        AND p.valid_from_ns = (SELECT max(n.valid_from_ns) FROM pool_spec n WHERE n.cache = p.cache AND n.pool = p.pool
            AND n.valid_from_ns <= unixepoch('now') * 1000000000));

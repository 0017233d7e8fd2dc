CREATE VIEW _run_cell (
    -- Where each run stands in the matrix of the wrapper: the one place that knows how the
    -- wrapper spells it. To change a rule, drop this view and create your own of the same
    -- columns; to add a variant or a mode, insert a row into table variant or mode.
    --
    -- What Buck2 acted on outranks what a name says. variant: br2.native (empty: wrapped), else the
    -- longest <variant>-<mode> that begins the salt, is the isolation dir, or stands in the
    -- -c instance name [P/]<name>-<mode>-<variant>[-<tag>]. mode: the four switches, else the same names.
    run_id,  -- of table run
    variant, -- wrapped, native, ...; NULL: nothing says
    mode,    -- local, local-cache, remote, remote-cache, ...; NULL: nothing says
    salt,    -- br2.cache_salt; one salt is one cell. NULL: not a measured run
    pool,    -- what stands before the slash of the instance name; NULL: none
    tag,     -- what follows <mode>-<variant> in the -c instance name: dev, viewcheck, HHMMSS; NULL: none
    is_dev   -- 1: a dev or viewcheck run, which must not flatter measured figures; else 0
) AS
WITH spelled AS MATERIALIZED (
    SELECT v.variant, m.mode, v.variant || '-' || m.mode AS prefix, '-' || m.mode || '-' || v.variant AS infix
    FROM variant v CROSS JOIN mode m),
config AS MATERIALIZED (
    SELECT run_id,
        max(CASE key WHEN 'br2.cache_salt' THEN nullif(value, '') END) AS salt,
        max(CASE key WHEN 'br2.native' THEN value END) AS native,
        max(CASE key WHEN 'br2.remote_cache' THEN value END) AS remote_cache,
        max(CASE key WHEN 'br2.cache_uploads' THEN value END) AS cache_uploads,
        max(CASE key WHEN 'br2.remote_execution' THEN value END) AS remote_execution,
        max(CASE key WHEN 'br2.local_execution' THEN value END) AS local_execution,
        max(CASE key WHEN 'br2.dev_tools' THEN value END) AS dev_tools,
        max(CASE key WHEN 'buck2_re_client.instance_name' THEN value END) AS instance
    FROM run_config GROUP BY run_id),
-- For each run, each place that may name variant and mode; rank 1 counts most.
named AS MATERIALIZED (
    SELECT c.run_id, 1 AS rank, s.* FROM config c JOIN spelled s
        ON substr(c.salt, 1, length(s.prefix) + 1) = s.prefix || '-'
    UNION ALL SELECT r.run_id, 2, s.* FROM run r JOIN spelled s ON r.isolation_dir = s.prefix
    UNION ALL SELECT c.run_id, 3, s.* FROM config c JOIN spelled s
        ON instr(c.instance || '-', s.infix || '-') > 0),
-- Bare columns of a row with min() are those of the row that has the minimum.
best AS MATERIALIZED (
    SELECT run_id, variant, mode, min(rank * 1000 - length(prefix)) FROM named GROUP BY run_id),
tagged AS MATERIALIZED (
    SELECT n.run_id, min(-length(n.infix)),
        ltrim(substr(c.instance, instr(c.instance || '-', n.infix || '-') + length(n.infix)), '-') AS tag
    FROM named n JOIN config c ON c.run_id = n.run_id WHERE n.rank = 3 GROUP BY n.run_id),
cell AS MATERIALIZED (
    SELECT r.run_id,
        CASE WHEN c.native = '' THEN 'wrapped' WHEN c.native IS NOT NULL THEN 'native' ELSE b.variant END AS variant,
        coalesce((SELECT m.mode FROM mode m WHERE m.remote_cache = c.remote_cache
            AND m.cache_uploads = c.cache_uploads AND m.remote_execution = c.remote_execution
            AND m.local_execution = c.local_execution), b.mode) AS mode,
        c.salt,
        coalesce(c.instance, CASE WHEN substr(i.name, -length('/' || p.name)) = '/' || p.name THEN i.name END) AS place,
        nullif(t.tag, '') AS tag,
        c.dev_tools
    FROM run r JOIN project p ON p.project_id = r.project_id LEFT JOIN instance i ON i.instance_id = r.instance_id
        LEFT JOIN config c ON c.run_id = r.run_id LEFT JOIN best b ON b.run_id = r.run_id
        LEFT JOIN tagged t ON t.run_id = r.run_id)
SELECT run_id, variant, mode, salt,
    nullif(rtrim(rtrim(place, replace(place, '/', '')), '/'), ''),
    tag,
    ifnull(tag IN ('dev', 'viewcheck'), 0) OR ifnull(dev_tools = 'true', 0)
FROM cell;

CREATE VIEW package_sizes (
    -- One row a package and memory limit under which it ran, by package: the smallest shape that suits all its
    -- executions, failed ones included. It suits if all peaks fit its limit with setting sizing_margin_pct, as
    -- in `br2-ingest plan`; if the package is heavy, only one of more cores than setting heavy_cores, where there is
    -- one. Left out is an outlier: one result that alone is above it, or heavy, of an action (category and identifier)
    -- that has setting outlier_results of them. A kill for memory always asks for more than the limit under which it
    -- came, as worker_sizing has it, and where that is not known for the largest. Limits are told apart: make -jN
    -- follows them.
    package,        -- the target's name
    under_gib,      -- memory limit in force; NULL: none, or not known
    results,        -- counted results whose memory is known
    unknown,        -- and of which it is not
    largest_gib,    -- the largest peak, as in worker_sizing, failed ones included; NULL: none is known, and no shape
    failed,         -- failed executions of which memory is known: not among the results
    heavy_results,  -- results that are heavy as in heavy_packages
    oom_kills,      -- kills for memory under this limit
    shape,          -- the smallest one of table shape that suits; NULL: none does
    package_shape,  -- the largest shape of all rows of the package, whatever their limit: what to give it; NULL: none
    reason          -- in words
) AS
SELECT package, under_gib, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape, reason
FROM _package_sized WHERE by_project = 0 ORDER BY package, under;

CREATE VIEW package_sizes_by_project (
    -- The rows of package_sizes of each project, by project. A digest belongs to the project of its first reference.
    project,        -- name
    package,        -- the target's name
    under_gib,      -- memory limit in force; NULL: none, or not known
    results,        -- counted results whose memory is known
    unknown,        -- and of which it is not
    largest_gib,    -- the largest peak, as in worker_sizing, failed ones included; NULL: none is known, and no shape
    failed,         -- failed executions of which memory is known: not among the results
    heavy_results,  -- results that are heavy as in heavy_packages
    oom_kills,      -- kills for memory under this limit
    shape,          -- the smallest one of table shape that suits; NULL: none does
    package_shape,  -- the largest shape of all rows of the package, whatever their limit: what to give it; NULL: none
    reason          -- in words
) AS
SELECT project, package, under_gib, results, unknown, largest_gib, failed, heavy_results, oom_kills, shape, package_shape, reason
FROM _package_sized WHERE by_project = 1 ORDER BY project, package, under;

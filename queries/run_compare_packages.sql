CREATE VIEW run_compare_packages (
    -- Two runs side by side: one row a package of either, in no order, so that wrapped and native runs can be
    -- compared, whose labels and categories differ. Filter run_a and run_b, each by one trace id: without that
    -- each run is compared with every other. Hits are included: what each run needed.
    --
    -- status, the first that fits: only in a, only in b, same digest (one execution, whose times cannot be
    -- compared with themselves), unknown (a side has one without usage), other limit (they ran under other
    -- memory limits: figures are never compared across limits), within noise, faster, slower (b, by wall time).
    -- Within noise: a difference of at most setting compare_floor_s, or of compare_floor_pct of the shorter one,
    -- or of noise_s. Repeats are runs that executed as many actions of the package, of the same
    -- categories, under the same limit; with setting compare_repeats of them the noise is known.
    run_a,         -- trace id of one run: what it is compared with
    run_b,         -- trace id of the other
    project,       -- of the runs; those of several projects have no row in common
    package,       -- the target's name
    status,        -- see above; NULL: it would be faster or slower, and a setting compare_* is missing
    wall_a_s,      -- wall time of a's executions with usage, seconds; NULL: none is known
    wall_b_s,      -- of b's
    wall_delta_s,  -- b - a; NULL: not compared
    wall_ratio,    -- b / a; NULL likewise
    cpu_a_s,       -- user + system of all processes, seconds
    cpu_b_s,       -- of b's
    cpu_delta_s,   -- b - a
    cpu_ratio,     -- b / a
    cores_a,       -- cpu / wall: an average, says nothing of peaks
    cores_b,       -- of b's
    max_rss_a_gib, -- largest single process, never a sum; a lower bound if it was killed
    max_rss_b_gib, -- of b's
    limits,        -- memory limits that the executions ran under: same, differ, not known (of one at least)
    limit_a_gib,   -- the smallest known one
    limit_b_gib,   -- of b's
    repeats,       -- recorded executions by other runs (see above); NULL: not looked for, as the floor decides
    usual_s,       -- their median wall time, of those that executed what b did
    noise_s,       -- setting compare_noise times their median distance from it; NULL: too few repeats
    actions_a,     -- digests of the package, and actions of it that asked for none
    actions_b,     -- of b's
    unknown_a,     -- of these, without usage: missing, failed, local or uploaded by the client
    unknown_b,     -- of b's
    executed_a,    -- of these, executed by run a itself; the figures of the others are of an earlier execution
    executed_b,    -- of b's
    hits_a,        -- of these, served from a cache as the log says; 0 where the log is gone
    hits_b         -- of b's
) AS
SELECT run_a, run_b, project, package, status, wall_a_s, wall_b_s, wall_delta_s, wall_ratio, cpu_a_s, cpu_b_s,
    cpu_delta_s, cpu_ratio, cores_a, cores_b, max_rss_a_gib, max_rss_b_gib, limits, limit_a_gib, limit_b_gib, repeats, usual_s, noise_s,
    actions_a, actions_b, unknown_a, unknown_b, executed_a, executed_b, hits_a, hits_b
FROM _pair_shown WHERE by_package = 1;

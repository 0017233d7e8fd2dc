-- One row: the settings by which a difference counts.
SELECT
    (SELECT value * 1.0 FROM setting WHERE key = 'compare_floor_s') AS floor_s,
    (SELECT value * 1.0 FROM setting WHERE key = 'compare_floor_pct') AS floor_pct,
    (SELECT value * 1.0 FROM setting WHERE key = 'compare_noise') AS noise,
    (SELECT value * 1.0 FROM setting WHERE key = 'compare_repeats') AS repeats

CREATE VIEW _bucket (
    -- The five classes of wall time, as result.bucket numbers them.
    bucket,    -- 0 to 4
    wall_time, -- as shown
    from_s,    -- from this on, seconds
    to_s       -- below this, seconds; NULL: no end
) AS
VALUES (0, '0-5 s', 0, 5), (1, '5-20 s', 5, 20), (2, '20-60 s', 20, 60), (3, '60-300 s', 60, 300), (4, '300+ s', 300, NULL);

CREATE VIEW _json_string (
    -- The names of packages that a JSON string cannot hold as they are: few, as a rule. Made by hand: SQLite 3.40 runs
    -- no JSON function of a view in a database that it does not trust.
    package, -- the name
    text     -- quoted; backslash, quote and control characters escaped, all else as it is
) AS
WITH RECURSIVE name(package) AS (
    SELECT name FROM package WHERE name GLOB '*["\' || char(1) || '-' || char(31) || ']*'
    UNION SELECT package FROM listed_package WHERE package GLOB '*["\' || char(1) || '-' || char(31) || ']*'),
-- One control character a step, of names that have any.
step(package, code, text) AS (
    SELECT package, 1, replace(replace(package, '\', '\\'), '"', '\"') FROM name
    UNION ALL
    SELECT package, code + 1, replace(text, char(code), printf('\u%04x', code)) FROM step
    WHERE code < 32 AND package GLOB '*[' || char(1) || '-' || char(31) || ']*')
SELECT package, '"' || text || '"' FROM step WHERE code = 32 OR NOT package GLOB '*[' || char(1) || '-' || char(31) || ']*';

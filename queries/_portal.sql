CREATE VIEW _portal (
    -- One row an instance name, while setting portal_url has a base.
    instance_id, -- of table instance
    place        -- what its pages in bb-portal begin with, up to the digest function
) AS
SELECT i.instance_id, rtrim(s.value, '/') || '/' || CASE i.name WHEN '' THEN ''
    ELSE replace(replace(i.name, '%', '%25'), ' ', '%20') || '/' END || 'blobs/'
FROM instance i JOIN setting s ON s.key = 'portal_url' AND s.value <> '';

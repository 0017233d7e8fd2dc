-- Memory limits to compare with: shapes, and what each pool in use is given today. Equal ones in one row.
SELECT limit_bytes, group_concat(shape, ', ') AS shapes
FROM (SELECT limit_bytes, shape FROM _shape WHERE limit_bytes > 0 ORDER BY shape LIKE 'pool %', shape)
GROUP BY limit_bytes ORDER BY limit_bytes

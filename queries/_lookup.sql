CREATE VIEW _lookup (
    -- Table lookup, in which a filter `digest = '…'` is a search. What it adds is always true: SQLite puts the
    -- digest that is asked for in place of the column, which then names the key in index lookup_by_digest, of
    -- which it searches each batch. It costs 2 us a row where nothing is asked for: views of many rows join the
    -- table itself.
    lookup_id, -- see table lookup, as all below
    instance_id, function, hash, size_bytes, state, message, first_run_id, first_seq, name_id, digest
) AS
SELECT lookup_id, instance_id, function, hash, size_bytes, state, message, first_run_id, first_seq, name_id, digest
FROM lookup
WHERE digest_key = upper(substr(digest, 1, 4) || substr(rtrim(digest, '0123456789'), -5, 4));

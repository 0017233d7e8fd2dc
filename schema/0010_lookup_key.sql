-- Step 10 of the tables: to find a digest among ten million costs a log no more than among a thousand. Digests come in no
-- order, so in one index of all of them each new one would change a page of its own.

-- 131,072 neighbours each.
ALTER TABLE lookup ADD COLUMN batch INTEGER GENERATED ALWAYS AS (lookup_id >> 17) VIRTUAL;

CREATE TABLE lookup_key (
    -- One row a lookup of the batches before lookup_keyed.until_batch: where the ingest finds it at once. Rows come many
    -- at once and in order, when enough batches are complete; until then a batch is searched by lookup_by_digest.
    key TEXT NOT NULL,                               -- its digest_key
    lookup_id INTEGER NOT NULL REFERENCES lookup,
    PRIMARY KEY (key, lookup_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE lookup_keyed (
    -- One row: how far table lookup_key has come.
    until_batch INTEGER NOT NULL, -- all lookups of batches before it are there
    due_batch INTEGER NOT NULL    -- those of batches before it are on their way: who adds a lookup to one adds its key
) STRICT;

INSERT INTO lookup_key (key, lookup_id)
SELECT digest_key, lookup_id FROM lookup WHERE batch < (SELECT max(lookup_id) >> 17 FROM lookup) ORDER BY digest_key, lookup_id;
INSERT INTO lookup_keyed (until_batch, due_batch) SELECT ifnull(max(lookup_id), 0) >> 17, ifnull(max(lookup_id), 0) >> 17 FROM lookup;

DROP INDEX lookup_by_digest;
CREATE INDEX lookup_by_digest ON lookup (batch, digest_key);
-- Views name digest_key alone; SQLite searches batch after batch for it where it knows that these are few.
ANALYZE sqlite_schema;
DELETE FROM sqlite_stat1 WHERE tbl = 'lookup' AND idx = 'lookup_by_digest';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('lookup', 'lookup_by_digest', '1048576 131072 1');
ANALYZE sqlite_schema;

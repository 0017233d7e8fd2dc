#include "store_lookup_key.h"

#include "store_db.h"

#include <assert.h>
#include <sqlite3.h>

#define BATCH_SHIFT 17 /* of schema/0010_lookup_key.sql */
#define BATCHES_SEARCHED 4
#define PORTIONS 32 /* of all keys: each a transaction whose pages fit the cache */
#define BYTES_A_PORTION (256 / PORTIONS)

/* ---- how far it has come ---- */

static int read_keyed(struct store *store, struct keyed *out, struct err *err)
{
	struct statement *s = db_use(store, ST_KEYED_SELECT,
				     "SELECT until_batch, due_batch, (SELECT batch FROM lookup"
				     " ORDER BY lookup_id DESC LIMIT 1) FROM lookup_keyed");

	if (db_row(s, err) < 0)
		return -1;
	*out = (struct keyed){true, column_int(s, 0), column_int(s, 1), column_int(s, 2)};
	if (out->newest == UNKNOWN)
		out->newest = 0;
	db_reset(s);
	return 0;
}

/* Good for one transaction: store_begin() forgets it, as others may have written. */
static int know_keyed(struct store *store, struct err *err)
{
	if (store->keyed.known && !sqlite3_get_autocommit(store->db))
		return 0;
	return read_keyed(store, &store->keyed, err);
}

/* ---- one digest ---- */

/* Column lookup.digest_key; out: 9 bytes. */
static struct str digest_key(const struct digest *digest, char out[9])
{
	static const char hex[] = "0123456789ABCDEF";
	const uint8_t *hash = digest->hash;
	size_t len = digest->hash_len, i;

	assert(len >= 2);
	for (i = 0; i < 4; i++) {
		uint8_t byte = hash[i < 2 ? i : len - 4 + i];

		out[2 * i] = hex[byte >> 4];
		out[2 * i + 1] = hex[byte & 15];
	}
	out[8] = '\0';
	return (struct str){out, 8};
}

#define FOUND_SQL "SELECT l.lookup_id, l.state, l.first_run_id, l.first_seq FROM "
#define WHOLE_SQL                                                                 \
	" AND l.hash = :hash AND l.size_bytes = :size AND l.function = :function" \
	" AND l.instance_id = :instance"
#define IN_BATCH_SQL(batch) \
	FOUND_SQL "lookup l WHERE l.batch = " batch " AND l.digest_key = :key" WHOLE_SQL
#define IN_1_SQL IN_BATCH_SQL(":newest")
#define IN_2_SQL IN_1_SQL " UNION ALL " IN_BATCH_SQL(":newest - 1")
#define IN_3_SQL IN_2_SQL " UNION ALL " IN_BATCH_SQL(":newest - 2")
#define IN_4_SQL IN_3_SQL " UNION ALL " IN_BATCH_SQL(":newest - 3")
#define IN_KEYS_SQL                                                            \
	" UNION ALL " FOUND_SQL                                                \
	"lookup_key k CROSS JOIN lookup l ON l.lookup_id = k.lookup_id WHERE " \
	"k.key = :key" WHOLE_SQL

/* By the number of batches, from `newest` down, without and with the keys. */
static const char *const find_sql[BATCHES_SEARCHED][2] = {
	{IN_1_SQL, IN_1_SQL IN_KEYS_SQL},
	{IN_2_SQL, IN_2_SQL IN_KEYS_SQL},
	{IN_3_SQL, IN_3_SQL IN_KEYS_SQL},
	{IN_4_SQL, IN_4_SQL IN_KEYS_SQL},
};

static int find_in(struct store *store, int64_t newest, int64_t batches, int64_t instance_id,
		   const struct digest *digest, struct found_lookup *out, struct err *err)
{
	bool keyed = store->keyed.until > 0;
	struct statement *s =
		db_use(store, (enum statement_id)(ST_LOOKUP_FIND_FIRST + 2 * (batches - 1) + keyed),
		       find_sql[batches - 1][keyed]);
	char key[9];
	int found;

	bind_int(s, ":newest", newest);
	bind_text(s, ":key", digest_key(digest, key));
	bind_digest(s, digest);
	bind_int(s, ":instance", instance_id);
	found = db_step(s, err);
	if (found > 0)
		*out = (struct found_lookup){column_int(s, 0), (enum lookup_state)column_int(s, 1),
					     column_int(s, 2), column_int(s, 3)};
	db_reset(s);
	return found;
}

int lookup_find(struct store *store, int64_t instance_id, const struct digest *digest,
		struct found_lookup *out, struct err *err)
{
	int64_t newest, batches;
	int found;

	if (know_keyed(store, err) < 0)
		return -1;
	newest = store->keyed.newest;
	do {
		batches = newest - store->keyed.until + 1;
		if (batches > BATCHES_SEARCHED)
			batches = BATCHES_SEARCHED;
		if (batches < 1)
			batches = 1;
		found = find_in(store, newest, batches, instance_id, digest, out, err);
		newest -= batches;
	} while (found == 0 && newest >= store->keyed.until);
	return found;
}

static int put_key(struct store *store, int64_t lookup_id, struct err *err)
{
	struct statement *s = db_use(store, ST_KEY_PUT,
				     "INSERT INTO lookup_key (key, lookup_id) SELECT digest_key,"
				     " lookup_id FROM lookup WHERE lookup_id = :lookup");

	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

/* Where the newest lookups were dropped, their numbers are given again. */
int lookup_added(struct store *store, int64_t lookup_id, struct err *err)
{
	int64_t batch = lookup_id >> BATCH_SHIFT;

	if (know_keyed(store, err) < 0)
		return -1;
	if (batch > store->keyed.newest)
		store->keyed.newest = batch;
	return batch < store->keyed.due ? put_key(store, lookup_id, err) : 0;
}

int lookup_dropped(struct store *store, int64_t lookup_id, struct str key, struct err *err)
{
	struct statement *s =
		db_use(store, ST_KEY_DROP,
		       "DELETE FROM lookup_key WHERE key = :key AND lookup_id = :lookup");

	bind_text(s, ":key", key);
	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

/* ---- batches that are complete ---- */

static bool is_late(const struct keyed *keyed)
{
	return keyed->newest - keyed->until >= BATCHES_SEARCHED - 1;
}

/* From here on who adds a lookup to a batch that is complete adds its key. */
static int announce(struct store *store, struct err *err)
{
	struct statement *s = db_use(store, ST_KEYED_DUE,
				     "UPDATE lookup_keyed SET due_batch = max(due_batch, :newest)");

	if (know_keyed(store, err) < 0)
		return -1;
	bind_int(s, ":newest", store->keyed.newest);
	if (db_done(s, err) < 0)
		return -1;
	return read_keyed(store, &store->keyed, err);
}

/* Keys whose first byte is the portion's. Some are there if an ingest was killed meanwhile. */
static int put_batch(struct store *store, int portion, int64_t batch, struct err *err)
{
	struct statement *s =
		db_use(store, ST_KEYS_PUT,
		       "INSERT OR IGNORE INTO lookup_key (key, lookup_id)"
		       " SELECT digest_key, lookup_id FROM lookup WHERE batch = :batch"
		       " AND digest_key >= printf('%02X', :first) AND digest_key < printf('%02XG', "
		       ":last)");

	bind_int(s, ":batch", batch);
	bind_int(s, ":first", portion * BYTES_A_PORTION);
	bind_int(s, ":last", (portion + 1) * BYTES_A_PORTION - 1);
	return db_done(s, err);
}

static int put_end(struct store *store, int64_t until, struct err *err)
{
	struct statement *s =
		db_use(store, ST_KEYED_UNTIL,
		       "UPDATE lookup_keyed SET until_batch = max(until_batch, :until)");

	bind_int(s, ":until", until);
	return db_done(s, err);
}

static int put_portion(struct store *store, int portion, const struct keyed *keyed, struct err *err)
{
	int64_t batch;

	for (batch = keyed->until; batch < keyed->due; batch++)
		if (put_batch(store, portion, batch, err) < 0)
			return -1;
	return portion == PORTIONS - 1 ? put_end(store, keyed->due, err) : 0;
}

static int put_all(struct store *store, struct err *err)
{
	const struct keyed keyed = store->keyed; /* as it was announced */
	int portion, rc = 0;

	for (portion = 0; rc == 0 && portion < PORTIONS; portion++) {
		if (store_begin(store, err) < 0)
			return -1;
		rc = put_portion(store, portion, &keyed, err);
		if (rc < 0)
			store_rollback(store);
		else
			rc = store_commit(store, err);
	}
	return rc;
}

int store_key_lookups(struct store *store, struct err *err)
{
	/* As the last transaction left it, which did not look if it met no digest. */
	if (!store->keyed.known || !is_late(&store->keyed))
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	if (announce(store, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err) < 0 ? -1 : put_all(store, err);
}

/*
 * Blobs that failed attempts link, each a HistoricalExecuteResponse: which are
 * wanted, and what became of them. Their results hang on the attempt: the same
 * digest can be killed today and succeed tomorrow, and both are kept.
 */
#include "store_db.h"

#define NS_PER_DAY INT64_C(86400000000000)

void bind_attempt(struct statement *s, const struct attempt_key *key)
{
	bind_int(s, ":run", key->run_id);
	bind_int(s, ":span", key->span_id);
	bind_int(s, ":idx", key->idx);
}

int historical_link(struct store *store, const struct attempt_key *key, const struct digest *blob,
		    struct err *err)
{
	struct statement *s =
		db_use(store, ST_HISTORICAL_LINK,
		       "INSERT INTO historical (run_id, span_id, idx, function, hash, size_bytes)"
		       " VALUES (:run, :span, :idx, :function, :hash, :size)"
		       " ON CONFLICT DO NOTHING");

	bind_attempt(s, key);
	bind_digest(s, blob);
	return db_done(s, err);
}

/* ---- what to ask ---- */

/*
 * A blob is what its digest says, for ever: one that was read and is of no use is
 * asked again only when the user says so, as a newer version may understand it.
 */
#define WANTED_SQL                                                                      \
	" FROM historical h INDEXED BY historical_open CROSS JOIN run r USING (run_id)" \
	" CROSS JOIN attempt t USING (run_id, span_id, idx)"                            \
	" CROSS JOIN lookup l ON l.lookup_id = t.lookup_id"                             \
	" CROSS JOIN instance i ON i.instance_id = l.instance_id"                       \
	" LEFT JOIN attempt_text x USING (run_id, span_id, idx)"                        \
	" WHERE h.state <> 1 AND (h.run_id, h.span_id, h.idx) > (:run, :span, :idx)"    \
	" AND i.cache = :cache AND (h.state IN (0, 4, 7, 8) OR :retry"                  \
	" OR (h.state IN (2, 5, 6) AND r.start_ns > :now - :day"                        \
	" * (SELECT value FROM setting WHERE key = 'retry_missing_days')))"

static void bind_wanted(struct statement *s, const char *cache, const struct attempt_key *after,
			int64_t now_ns, bool retry_missing)
{
	bind_attempt(s, after);
	bind_text(s, ":cache", str_of(cache));
	bind_int(s, ":retry", retry_missing);
	bind_int(s, ":now", now_ns);
	bind_int(s, ":day", NS_PER_DAY);
}

static void lend(struct buf *buf, struct str text)
{
	buf_clear(buf);
	buf_add(buf, text.data, text.len);
}

static void read_wanted(struct store *store, struct statement *s, struct wanted_blob *out)
{
	struct buf *instance = &store->borrowed[0], *message = &store->borrowed[1];

	out->key = (struct attempt_key){column_int(s, 0), column_int(s, 1), column_int(s, 2)};
	column_digest(s, 3, &out->digest);
	column_digest(s, 6, &out->action);
	lend(instance, column_text(s, 9));
	lend(message, column_text(s, 10));
	out->instance = instance->data;
	out->message = (struct str){message->data, message->len};
	out->state = (enum lookup_state)column_int(s, 11);
}

int store_next_historical(struct store *store, const char *cache, const struct attempt_key *after,
			  int64_t now_ns, bool retry_missing, struct wanted_blob *out_wanted,
			  struct err *err)
{
	struct statement *s =
		db_use(store, ST_HISTORICAL_NEXT,
		       "SELECT h.run_id, h.span_id, h.idx, h.function, h.hash, h.size_bytes,"
		       " l.function, l.hash, l.size_bytes, i.name, x.message, h.state" WANTED_SQL
		       " ORDER BY h.run_id, h.span_id, h.idx LIMIT 1");
	int found;

	bind_wanted(s, cache, after, now_ns, retry_missing);
	found = db_step(s, err);
	if (found > 0)
		read_wanted(store, s, out_wanted);
	db_reset(s);
	return found;
}

int store_count_historical(struct store *store, const char *cache, int64_t now_ns,
			   bool retry_missing, int64_t *out_count, struct err *err)
{
	static const struct attempt_key first = {0, 0, 0};
	struct statement *s = db_use(store, ST_HISTORICAL_COUNT, "SELECT count(*)" WANTED_SQL);

	bind_wanted(s, cache, &first, now_ns, retry_missing);
	if (db_row(s, err) < 0)
		return -1;
	*out_count = column_int(s, 0);
	db_reset(s);
	return 0;
}

int store_next_twin(struct store *store, const struct attempt_key *of,
		    const struct attempt_key *after, struct attempt_key *out_key,
		    struct digest *out_action, struct err *err)
{
	struct statement *s = db_use(
		store, ST_HISTORICAL_TWIN,
		"SELECT h.run_id, h.span_id, h.idx, m.function, m.hash, m.size_bytes"
		" FROM historical k JOIN attempt b USING (run_id, span_id, idx)"
		" JOIN lookup l ON l.lookup_id = b.lookup_id"
		" JOIN historical h ON h.hash = k.hash AND h.size_bytes = k.size_bytes"
		" AND h.function = k.function JOIN attempt t ON t.run_id = h.run_id"
		" AND t.span_id = h.span_id AND t.idx = h.idx"
		" JOIN lookup m ON m.lookup_id = t.lookup_id"
		" WHERE k.run_id = :run AND k.span_id = :span AND k.idx = :idx AND h.state <> 1"
		" AND (h.run_id, h.span_id, h.idx) <> (:run, :span, :idx)"
		" AND (h.run_id, h.span_id, h.idx) > (:after_run, :after_span, :after_idx)"
		" AND m.instance_id = l.instance_id ORDER BY h.run_id, h.span_id, h.idx LIMIT 1");
	int found;

	bind_attempt(s, of);
	bind_int(s, ":after_run", after->run_id);
	bind_int(s, ":after_span", after->span_id);
	bind_int(s, ":after_idx", after->idx);
	found = db_step(s, err);
	if (found > 0) {
		*out_key =
			(struct attempt_key){column_int(s, 0), column_int(s, 1), column_int(s, 2)};
		column_digest(s, 3, out_action);
	}
	db_reset(s);
	return found;
}

/* ---- what became of it ---- */

int store_put_historical_state(struct store *store, const struct attempt_key *key,
			       enum lookup_state state, const char *message, struct err *err)
{
	struct statement *s =
		db_use(store, ST_HISTORICAL_STATE,
		       "UPDATE historical SET state = :state, message = :message"
		       " WHERE run_id = :run AND span_id = :span AND idx = :idx AND state <> 1"
		       " AND (state, message) IS NOT (:state, :message)");

	bind_int(s, ":state", state);
	bind_text(s, ":message", str_of(message));
	bind_attempt(s, key);
	return db_done(s, err);
}

/* The lookup of an attempt. 1; 0: the attempt is gone, or has none; -1. */
static int lookup_of(struct store *store, const struct attempt_key *key, int64_t *out_lookup_id,
		     struct err *err)
{
	struct statement *s = db_use(store, ST_HISTORICAL_LOOKUP,
				     "SELECT lookup_id FROM attempt WHERE run_id = :run"
				     " AND span_id = :span AND idx = :idx AND lookup_id NOT NULL");

	bind_attempt(s, key);
	return db_find(s, out_lookup_id, err);
}

/* 1: another attempt has the result of the same blob; 0; -1. */
static int is_known(struct store *store, const struct attempt_key *key, struct err *err)
{
	struct statement *s = db_use(
		store, ST_HISTORICAL_KNOWN,
		"SELECT 1 FROM historical k JOIN historical h ON h.hash = k.hash"
		" AND h.size_bytes = k.size_bytes AND h.function = k.function AND h.state = 1"
		" WHERE k.run_id = :run AND k.span_id = :span AND k.idx = :idx LIMIT 1");
	int found;

	bind_attempt(s, key);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

int store_put_historical(struct store *store, const struct attempt_key *key,
			 const struct result *result, struct err *err)
{
	struct result_owner owner = {.attempt = key};
	int found = lookup_of(store, key, &owner.lookup_id, err);
	int known;

	if (found <= 0)
		return found;
	known = is_known(store, key, err);
	owner.known = known > 0;
	if (known < 0 || result_put(store, &owner, result, err) < 0)
		return -1;
	return store_put_historical_state(store, key, STATE_FOUND, NULL, err);
}

/* ---- moving ---- */

static int move_result(struct store *store, const struct attempt_key *key, int64_t lookup_id,
		       struct err *err)
{
	struct statement *s = db_use(store, ST_HISTORICAL_MOVE,
				     "UPDATE result SET lookup_id = :lookup WHERE source = 2"
				     " AND attempt_run_id = :run AND attempt_span_id = :span"
				     " AND attempt_idx = :idx");

	bind_int(s, ":lookup", lookup_id);
	bind_attempt(s, key);
	if (db_done(s, err) < 0)
		return -1;
	if (!db_changes(store))
		return 0;
	if (lookup_refer_results(store, lookup_id, err) < 0 ||
	    invocation_sums_move(store, key, err) < 0)
		return -1;
	return allot_attempt_again(store, key, err); /* it may have come to another cluster */
}

int historical_move(struct store *store, const struct attempt_key *key, int64_t lookup_id,
		    struct err *err)
{
	struct statement *s = db_use(store, ST_HISTORICAL_FORGET,
				     "UPDATE historical SET state = 0, message = NULL"
				     " WHERE run_id = :run AND span_id = :span AND idx = :idx"
				     " AND state NOT IN (0, 1)");

	bind_attempt(s, key);
	if (db_done(s, err) < 0)
		return -1;
	return move_result(store, key, lookup_id, err);
}

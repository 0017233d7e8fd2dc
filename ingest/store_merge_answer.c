/*
 * Digests of a source and what became of asking for them. The runs are merged, so
 * what attempts refer to is there; a digest that is not was left by its run for
 * another instance, and is worth a row only if it was found.
 */
#include "store_merge_db.h"

#include <string.h>

/* ---- which answer is worth more ---- */

/*
 * A definite answer outweighs one that was none; of two equal ones it does not
 * matter which stays, but it must not depend on the order.
 */
static int worth_of(int64_t state)
{
	switch (state) {
	case STATE_FOUND:
		return 3;
	case STATE_WANTED:
		return 0;
	case STATE_REFUSED:
	case STATE_ERROR:
	case STATE_UNREACHABLE:
		return 1;
	default:
		return 2;
	}
}

struct answer {
	int64_t state;
	struct str message; /* NULL: none */
};

static int compare_texts(struct str a, struct str b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len && a.data && b.data ? memcmp(a.data, b.data, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool is_better(const struct answer *a, const struct answer *b)
{
	if (worth_of(a->state) != worth_of(b->state))
		return worth_of(a->state) > worth_of(b->state);
	if (a->state != b->state)
		return a->state > b->state;
	return compare_texts(a->message, b->message) > 0;
}

/* ---- results ---- */

int merge_find_result(struct merge *merge, int64_t lookup_id, int64_t *out_result_id,
		      struct err *err)
{
	struct statement *s = db_use(merge->into, ST_INTO_RESULT,
				     "SELECT result_id FROM result WHERE lookup_id = :lookup"
				     " AND source = 1");

	bind_int(s, ":lookup", lookup_id);
	return db_find(s, out_result_id, err);
}

/* What its container used belongs to one execution. */
static int put_usage(struct merge *merge, int64_t result_id, struct result_usage *usage,
		     struct err *err)
{
	if (!usage->status)
		return 0;
	usage->result_id = result_id;
	return store_put_result_usage(merge->into, usage, err);
}

/* ---- lookups ---- */

/* A lookup of the source at its row. */
struct lookup_at {
	int64_t result_id; /* UNKNOWN: it has none */
	const char *cache, *instance;
	struct digest digest;
	struct answer answer;
	struct reference first; /* run_id: of the source; name_id is not set */
	struct action_name name;
};

static struct statement *use_lookups(struct merge *merge)
{
	return db_use(merge->from, ST_FROM_LOOKUPS,
		      "SELECT r.result_id, i.cache, i.name, l.function, l.hash, l.size_bytes,"
		      " l.state, l.message, l.first_run_id, l.first_seq, " NAME_COLUMNS
		      " FROM lookup l CROSS JOIN instance i ON i.instance_id = l.instance_id"
		      " CROSS JOIN action_name n ON n.name_id = l.name_id" NAME_JOINS(
			      "CROSS JOIN") " LEFT JOIN result r ON r.lookup_id = l.lookup_id"
					    " AND r.source = 1 ORDER BY l.lookup_id");
}

static int read_lookup(struct statement *s, struct lookup_at *out, struct err *err)
{
	struct columns c = {s, 0};

	out->result_id = next_int(&c);
	out->cache = next_text(&c).data;
	out->instance = next_text(&c).data;
	if (next_digest(&c, &out->digest, err) < 0)
		return -1;
	out->answer.state = next_int(&c);
	out->answer.message = next_text(&c);
	out->first.run_id = next_int(&c);
	out->first.seq = next_int(&c);
	next_name(&c, &out->name);
	return 0;
}

/* The database's lookup and its answer, the message borrowed. 1; 0; -1. */
static int find_lookup(struct merge *merge, const struct lookup_at *at, int64_t *out_id,
		       struct answer *out, struct err *err)
{
	enum lookup_state state;
	struct statement *s;
	int found = store_find_lookup(merge->into, at->cache, at->instance, &at->digest, out_id,
				      &state, err);

	if (found <= 0)
		return found;
	*out = (struct answer){state, STR_NULL};
	if (state == STATE_FOUND || state == STATE_WANTED)
		return 1;
	s = db_use(merge->into, ST_INTO_LOOKUP,
		   "SELECT message FROM lookup WHERE lookup_id = :lookup");
	bind_int(s, ":lookup", *out_id);
	if (db_row(s, err) < 0)
		return -1;
	arena_reset(&merge->arena);
	found = keep_text(merge, &merge->arena, column_text(s, 0), &out->message, err);
	db_reset(s);
	return found < 0 ? -1 : 1;
}

/* One that no attempt refers to, but that was found: what was found is never lost. */
static int make_lookup(struct merge *merge, const struct lookup_at *at, int64_t *out_id,
		       struct err *err)
{
	struct reference first = at->first;
	int64_t instance_id;
	int found = merge_find_run(merge, at->first.run_id, &first.run_id, err);

	if (found <= 0)
		return found;
	if (name_intern_action(merge->into, &at->name, &first.name_id, err) < 0 ||
	    name_intern_instance(merge->into, at->cache, at->instance, &instance_id, err) < 0 ||
	    lookup_intern(merge->into, instance_id, &at->digest, &first, out_id, err) < 0)
		return -1;
	return 1;
}

static int put_new(struct merge *merge, int64_t lookup_id, const struct result *result,
		   struct result_usage *usage, struct err *err)
{
	int64_t result_id;
	int found;

	merge->tally->results++;
	if (store_put_result(merge->into, lookup_id, result, err) < 0)
		return -1;
	found = merge_find_result(merge, lookup_id, &result_id, err);
	return found > 0 ? put_usage(merge, result_id, usage, err) : found;
}

static int put_known(struct merge *merge, const struct lookup_at *at, int64_t lookup_id,
		     int64_t result_id, struct result_usage *usage, struct err *err)
{
	int order;

	merge->tally->results_known++;
	if (merge_compare_results(merge, at->result_id, result_id, &order, err) < 0)
		return -1;
	if (order < 0)
		merge_note_conflict(merge, at->result_id, lookup_id);
	return order == 0 ? put_usage(merge, result_id, usage, err) : 0;
}

static int put_found(struct merge *merge, const struct lookup_at *at, int64_t lookup_id,
		     struct err *err)
{
	struct result result;
	struct result_usage usage;
	int64_t result_id;
	int found = merge_read_result(merge, at->result_id, &result, &usage, err), known;

	if (found <= 0)
		return found;
	known = merge_find_result(merge, lookup_id, &result_id, err);
	if (known < 0)
		return -1;
	return known ? put_known(merge, at, lookup_id, result_id, &usage, err)
		     : put_new(merge, lookup_id, &result, &usage, err);
}

static int merge_lookup(struct merge *merge, const struct lookup_at *at, struct err *err)
{
	bool is_found = at->answer.state == STATE_FOUND && at->result_id != UNKNOWN;
	struct answer known = {STATE_WANTED, STR_NULL};
	int64_t lookup_id;
	int found = find_lookup(merge, at, &lookup_id, &known, err);

	if (found == 0 && is_found)
		found = make_lookup(merge, at, &lookup_id, err);
	if (found <= 0)
		return found;
	if (is_found)
		return put_found(merge, at, lookup_id, err);
	if (at->answer.state == STATE_FOUND || !is_better(&at->answer, &known))
		return 0;
	return store_put_state(merge->into, lookup_id, (enum lookup_state)at->answer.state,
			       at->answer.message.data, err);
}

int merge_lookups(struct merge *merge, struct err *err)
{
	struct statement *s = use_lookups(merge);
	struct lookup_at at;
	int more;

	while ((more = db_step(s, err)) > 0)
		if (read_lookup(s, &at, err) < 0 || merge_lookup(merge, &at, err) < 0 ||
		    merge_rows(merge, STORE_SLICE_ACTIONS / STORE_SLICE_RESULTS, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

/* ---- linked blobs ---- */

struct blob_at {
	struct attempt_key key; /* of the source */
	struct answer answer;
	int64_t result_id; /* UNKNOWN: none */
	struct str cache, instance;
};

static struct statement *use_historical(struct merge *merge)
{
	return db_use(merge->from, ST_FROM_HISTORICAL,
		      "SELECT h.run_id, h.span_id, h.idx, h.state, h.message, r.result_id, i.cache,"
		      " i.name FROM historical h JOIN attempt a USING (run_id, span_id, idx)"
		      " LEFT JOIN lookup l ON l.lookup_id = a.lookup_id"
		      " LEFT JOIN instance i ON i.instance_id = l.instance_id"
		      " LEFT JOIN result r ON r.source = 2 AND r.attempt_run_id = h.run_id"
		      " AND r.attempt_span_id = h.span_id AND r.attempt_idx = h.idx"
		      " ORDER BY h.run_id, h.span_id, h.idx");
}

static void read_blob(struct statement *s, struct blob_at *out)
{
	struct columns c = {s, 0};

	out->key.run_id = next_int(&c);
	out->key.span_id = next_int(&c);
	out->key.idx = next_int(&c);
	out->answer.state = next_int(&c);
	out->answer.message = next_text(&c);
	out->result_id = next_int(&c);
	out->cache = next_text(&c);
	out->instance = next_text(&c);
}

/*
 * The database's row of the same attempt; *out_same: it is asked under the same
 * instance. 1; 0; -1.
 */
static int find_blob(struct merge *merge, const struct attempt_key *key, const struct blob_at *at,
		     struct answer *out, bool *out_same, struct err *err)
{
	struct statement *s =
		db_use(merge->into, ST_INTO_HISTORICAL,
		       "SELECT h.state, h.message, (i.cache, i.name) IS (:cache, :instance)"
		       " FROM historical h JOIN attempt a USING (run_id, span_id, idx)"
		       " LEFT JOIN lookup l ON l.lookup_id = a.lookup_id"
		       " LEFT JOIN instance i ON i.instance_id = l.instance_id"
		       " WHERE h.run_id = :run AND h.span_id = :span AND h.idx = :idx");
	int found;

	bind_text(s, ":cache", at->cache);
	bind_text(s, ":instance", at->instance);
	bind_attempt(s, key);
	found = db_step(s, err);
	arena_reset(&merge->arena);
	if (found > 0) {
		out->state = column_int(s, 0);
		*out_same = column_int(s, 2) > 0;
		if (keep_text(merge, &merge->arena, column_text(s, 1), &out->message, err) < 0)
			found = -1;
	}
	db_reset(s);
	return found;
}

/* Its result in the database. 1; 0; -1. */
static int find_linked(struct merge *merge, const struct attempt_key *key, int64_t *out_result_id,
		       struct err *err)
{
	struct statement *s = db_use(merge->into, ST_INTO_HISTORICAL_RESULT,
				     "SELECT result_id FROM result WHERE source = 2"
				     " AND attempt_run_id = :run AND attempt_span_id = :span"
				     " AND attempt_idx = :idx");

	bind_attempt(s, key);
	return db_find(s, out_result_id, err);
}

static int put_linked(struct merge *merge, const struct attempt_key *key, const struct blob_at *at,
		      bool known, struct err *err)
{
	struct result result;
	struct result_usage usage;
	int64_t result_id;
	int found = merge_read_result(merge, at->result_id, &result, &usage, err);

	if (found <= 0)
		return found;
	merge->tally->results += !known;
	merge->tally->results_known += known;
	if (!known && store_put_historical(merge->into, key, &result, err) < 0)
		return -1;
	found = find_linked(merge, key, &result_id, err);
	return found > 0 ? put_usage(merge, result_id, &usage, err) : found;
}

static int merge_blob(struct merge *merge, const struct blob_at *at, struct err *err)
{
	struct attempt_key key = at->key;
	struct answer known;
	bool same;
	int found = merge_find_run(merge, at->key.run_id, &key.run_id, err);

	if (found > 0)
		found = find_blob(merge, &key, at, &known, &same, err);
	if (found <= 0)
		return found;
	if (at->answer.state == STATE_FOUND && at->result_id != UNKNOWN)
		return put_linked(merge, &key, at, known.state == STATE_FOUND, err);
	if (!same || at->answer.state == STATE_FOUND || !is_better(&at->answer, &known))
		return 0;
	return store_put_historical_state(merge->into, &key, (enum lookup_state)at->answer.state,
					  at->answer.message.data, err);
}

int merge_historical(struct merge *merge, struct err *err)
{
	struct statement *s = use_historical(merge);
	struct blob_at at;
	int more;

	while ((more = db_step(s, err)) > 0) {
		read_blob(s, &at);
		if (merge_blob(merge, &at, err) < 0 ||
		    merge_rows(merge, STORE_SLICE_ACTIONS / STORE_SLICE_RESULTS, err) < 0) {
			db_reset(s);
			return -1;
		}
	}
	return more;
}

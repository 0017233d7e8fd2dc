/*
 * Digests as they are asked, and who refers to them. A digest belongs to its
 * earliest reference by (start of the run, trace id, seq), whatever the order
 * in which logs are read; a run whose start is unknown comes after all others.
 */
#include "store_db.h"

#include <string.h>

#define NS_PER_DAY INT64_C(86400000000000)

/* ---- references ---- */

static int set_reference(struct store *store, int64_t lookup_id, const struct reference *to,
			 struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_REFER,
		       "UPDATE lookup SET first_run_id = :run, first_seq = :seq, name_id = :name"
		       " WHERE lookup_id = :lookup"
		       " AND (first_run_id, first_seq, name_id) IS NOT (:run, :seq, :name)");

	bind_int(s, ":run", to->run_id);
	bind_int(s, ":seq", to->seq);
	bind_int(s, ":name", to->name_id);
	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

static int refer_results(struct store *store, int64_t lookup_id, struct err *err)
{
	struct statement *s = db_use(
		store, ST_RESULT_REFER,
		"WITH f AS (SELECT l.name_id, t.package_id, n.category_id, r.project_id, r.run_id"
		" FROM lookup l"
		" JOIN run r ON r.run_id = l.first_run_id"
		" JOIN action_name n ON n.name_id = l.name_id"
		" JOIN target t ON t.target_id = n.target_id WHERE l.lookup_id = :lookup)"
		" UPDATE result SET (name_id, package_id, category_id, project_id, first_run_id)"
		" = (SELECT name_id, package_id, category_id, project_id, run_id FROM f)"
		" WHERE result_id IN (SELECT result_id FROM result WHERE source = 1"
		" AND lookup_id = :lookup UNION ALL SELECT result_id FROM result"
		" WHERE source = 2 AND lookup_id = :lookup)"
		" AND (name_id, package_id, category_id, project_id, first_run_id)"
		" IS NOT (SELECT name_id, package_id, category_id, project_id, run_id FROM f)");

	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

/* Its result of the action cache, if that is of another category, project or package. 1; 0; -1. */
static int find_moved(struct store *store, int64_t lookup_id, int64_t *out_result_id,
		      struct err *err)
{
	struct statement *s =
		db_use(store, ST_RESULT_MOVED,
		       "SELECT r.result_id FROM result r JOIN lookup l ON l.lookup_id = r.lookup_id"
		       " JOIN action_name n ON n.name_id = l.name_id"
		       " JOIN target t ON t.target_id = n.target_id"
		       " JOIN run g ON g.run_id = l.first_run_id WHERE r.lookup_id = :lookup"
		       " AND r.source = 1 AND (r.category_id, r.project_id, r.package_id)"
		       " IS NOT (n.category_id, g.project_id, t.package_id)");

	bind_int(s, ":lookup", lookup_id);
	return db_find(s, out_result_id, err);
}

int lookup_refer_results(struct store *store, int64_t lookup_id, struct err *err)
{
	int64_t result_id;
	int moved = find_moved(store, lookup_id, &result_id, err);

	if (moved < 0 || (moved && sizes_leave(store, result_id, err) < 0) ||
	    refer_results(store, lookup_id, err) < 0)
		return -1;
	return moved ? sizes_join(store, result_id, err) : 0;
}

static int refer(struct store *store, int64_t lookup_id, const struct reference *to,
		 struct err *err)
{
	if (set_reference(store, lookup_id, to, err) < 0)
		return -1;
	return db_changes(store) ? lookup_refer_results(store, lookup_id, err) : 0;
}

int lookup_refer_anew(struct store *store, int64_t lookup_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_FIRST,
		       "SELECT a.run_id, a.seq, a.name_id FROM attempt t"
		       " JOIN action a ON a.run_id = t.run_id AND a.span_id = t.span_id"
		       " JOIN run r ON r.run_id = t.run_id WHERE t.lookup_id = :lookup"
		       " ORDER BY r.start_ns IS NULL, r.start_ns, r.trace_id, a.seq LIMIT 1");
	struct reference first;
	int found;

	bind_int(s, ":lookup", lookup_id);
	found = db_step(s, err);
	if (found > 0)
		first = (struct reference){column_int(s, 0), column_int(s, 1), column_int(s, 2)};
	db_reset(s);
	/* Nobody refers to it: a result that is kept keeps its name, too. */
	return found > 0 ? refer(store, lookup_id, &first, err) : found;
}

/* 1: a reference of run `run_id` comes before one of `other`; 0; -1. */
static int run_is_earlier(struct store *store, int64_t run_id, int64_t other, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_EARLIER,
		       "SELECT 1 FROM run a, run b WHERE a.run_id = :run AND b.run_id = :other"
		       " AND (a.start_ns IS NULL, ifnull(a.start_ns, 0), a.trace_id)"
		       " < (b.start_ns IS NULL, ifnull(b.start_ns, 0), b.trace_id)");
	int earlier;

	bind_int(s, ":run", run_id);
	bind_int(s, ":other", other);
	earlier = db_step(s, err);
	db_reset(s);
	return earlier;
}

static int note_reference(struct store *store, int64_t lookup_id, const struct reference *from,
			  const struct reference *first, struct err *err)
{
	int earlier = from->run_id == first->run_id
			      ? from->seq < first->seq
			      : run_is_earlier(store, from->run_id, first->run_id, err);

	return earlier > 0 ? refer(store, lookup_id, from, err) : earlier;
}

/* ---- digests ---- */

static int insert_lookup(struct store *store, int64_t instance_id, const struct digest *digest,
			 const struct reference *from, int64_t *out_lookup_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_INSERT,
		       "INSERT INTO lookup (instance_id, function, hash, size_bytes, first_run_id,"
		       " first_seq, name_id) VALUES (:instance, :function, :hash, :size, :run, "
		       ":seq, :name)");

	bind_int(s, ":instance", instance_id);
	bind_digest(s, digest);
	bind_int(s, ":run", from->run_id);
	bind_int(s, ":seq", from->seq);
	bind_int(s, ":name", from->name_id);
	if (db_done(s, err) < 0)
		return -1;
	*out_lookup_id = db_last_id(store);
	return lookup_added(store, *out_lookup_id, err);
}

int lookup_intern(struct store *store, int64_t instance_id, const struct digest *digest,
		  const struct reference *from, int64_t *out_lookup_id, struct err *err)
{
	struct found_lookup found;
	struct reference first;
	int rc = lookup_find(store, instance_id, digest, &found, err);

	if (rc < 0)
		return -1;
	if (!rc)
		return insert_lookup(store, instance_id, digest, from, out_lookup_id, err);
	*out_lookup_id = found.lookup_id;
	first = (struct reference){found.first_run_id, found.first_seq, UNKNOWN};
	return note_reference(store, found.lookup_id, from, &first, err);
}

/* ---- what to ask ---- */

/*
 * Answers that are worth asking again: those that were none (wanted, refused,
 * an error, unreachable) always, the others while a run that needs them is
 * young. Attempts that failed left nothing in an action cache; what became of
 * one with status 0 is not known.
 */
#define WANTED_SQL                                                                               \
	" FROM lookup l INDEXED BY lookup_open JOIN instance i ON i.instance_id = l.instance_id" \
	" WHERE l.state <> 1 AND l.lookup_id > :after AND i.cache = :cache"                      \
	" AND (l.state IN (0, 4, 7, 8) OR :retry OR (SELECT max(r.start_ns) FROM attempt t"      \
	" JOIN run r ON r.run_id = t.run_id WHERE t.lookup_id = l.lookup_id) > :now"             \
	" - :day * (SELECT value FROM setting WHERE key = 'retry_missing_days'))"                \
	" AND EXISTS (SELECT 1 FROM attempt t WHERE t.lookup_id = l.lookup_id"                   \
	" AND t.status IN (0, 2))"

static void bind_wanted(struct statement *s, int64_t after_id, const char *cache, int64_t now_ns,
			bool retry_missing)
{
	bind_int(s, ":after", after_id);
	bind_text(s, ":cache", str_of(cache));
	bind_int(s, ":retry", retry_missing);
	bind_int(s, ":now", now_ns);
	bind_int(s, ":day", NS_PER_DAY);
}

/*
 * A question costs more than a row, so a batch of rows is fetched at once. One
 * that another process answers meanwhile is asked twice, which harms nobody.
 */
static int fill_batch(struct store *store, const char *cache, struct statement *s, struct err *err)
{
	struct wanted_batch *batch = &store->wanted;
	int more;

	batch->count = batch->next = 0;
	buf_clear(&batch->names);
	buf_addstr(&batch->names, cache);
	buf_addch(&batch->names, '\0');
	bind_int(s, ":limit", WANTED_BATCH);
	while ((more = db_step(s, err)) > 0) {
		struct wanted_row *row = &batch->rows[batch->count++];
		struct str name = column_text(s, 1);

		row->lookup_id = column_int(s, 0);
		row->name_at = batch->names.len;
		column_digest(s, 2, &row->digest);
		buf_add(&batch->names, name.data, name.len);
		buf_addch(&batch->names, '\0');
	}
	return more;
}

static int fetch_wanted(struct store *store, const char *cache, int64_t after_id, int64_t now_ns,
			bool retry_missing, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_NEXT,
		       "SELECT l.lookup_id, i.name, l.function, l.hash, l.size_bytes" WANTED_SQL
		       " ORDER BY l.lookup_id LIMIT :limit");

	store->wanted.of = ST_LOOKUP_NEXT;
	store->wanted.now_ns = now_ns;
	store->wanted.retry_missing = retry_missing;
	bind_wanted(s, after_id, cache, now_ns, retry_missing);
	return fill_batch(store, cache, s, err);
}

/* Never asked, of runs whose instance is settled. */
static int fetch_settled(struct store *store, const char *cache, const char *given,
			 int64_t after_id, struct err *err)
{
	struct statement *s = db_use(
		store, ST_LOOKUP_SETTLED,
		"SELECT l.lookup_id, i.name, l.function, l.hash, l.size_bytes"
		" FROM lookup l INDEXED BY lookup_open JOIN instance i"
		" ON i.instance_id = l.instance_id WHERE l.state <> 1 AND l.state = 0"
		" AND l.lookup_id > :after AND i.cache = :cache AND EXISTS (SELECT 1 FROM attempt t"
		" JOIN run r ON r.run_id = t.run_id WHERE t.lookup_id = l.lookup_id"
		" AND t.status IN (0, 2) AND (r.instance_proved OR i.name = :given))"
		" ORDER BY l.lookup_id LIMIT :limit");

	store->wanted.of = ST_LOOKUP_SETTLED;
	bind_int(s, ":after", after_id);
	bind_text(s, ":cache", str_of(cache));
	bind_text(s, ":given", str_of(given));
	return fill_batch(store, cache, s, err);
}

/* Does the batch go on where the caller is? */
static bool goes_on(const struct wanted_batch *batch, enum statement_id of, const char *cache,
		    int64_t after_id)
{
	return batch->of == of && batch->next > 0 && batch->next < batch->count &&
	       batch->rows[batch->next - 1].lookup_id == after_id &&
	       strcmp(batch->names.data, cache) == 0;
}

/* Of the batch; 0: it is empty. */
static int give_wanted(struct wanted_batch *batch, struct wanted *out)
{
	const struct wanted_row *row;

	if (batch->next == batch->count)
		return 0;
	row = &batch->rows[batch->next++];
	out->lookup_id = row->lookup_id;
	out->instance = batch->names.data + row->name_at;
	out->digest = row->digest;
	return 1;
}

int store_next_wanted(struct store *store, const char *cache, int64_t after_id, int64_t now_ns,
		      bool retry_missing, struct wanted *out_wanted, struct err *err)
{
	const struct wanted_batch *batch = &store->wanted;
	bool same = batch->now_ns == now_ns && batch->retry_missing == retry_missing;

	if (!(same && goes_on(batch, ST_LOOKUP_NEXT, cache, after_id)) &&
	    fetch_wanted(store, cache, after_id, now_ns, retry_missing, err) < 0)
		return -1;
	return give_wanted(&store->wanted, out_wanted);
}

int store_next_settled(struct store *store, const char *cache, const char *given, int64_t after_id,
		       struct wanted *out_wanted, struct err *err)
{
	if (!goes_on(&store->wanted, ST_LOOKUP_SETTLED, cache, after_id) &&
	    fetch_settled(store, cache, given, after_id, err) < 0)
		return -1;
	return give_wanted(&store->wanted, out_wanted);
}

static int newest_id(struct store *store, enum statement_id id, const char *sql, int64_t *out_id,
		     struct err *err)
{
	struct statement *s = db_use(store, id, sql);

	if (db_row(s, err) < 0)
		return -1;
	*out_id = column_int(s, 0);
	db_reset(s);
	return 0;
}

int store_newest_lookup(struct store *store, int64_t *out_id, struct err *err)
{
	return newest_id(store, ST_LOOKUP_NEWEST, "SELECT ifnull(max(lookup_id), 0) FROM lookup",
			 out_id, err);
}

int store_newest_run(struct store *store, int64_t *out_id, struct err *err)
{
	return newest_id(store, ST_RUN_NEWEST, "SELECT ifnull(max(run_id), 0) FROM run", out_id,
			 err);
}

int store_count_wanted(struct store *store, const char *cache, int64_t now_ns, bool retry_missing,
		       int64_t *out_count, struct err *err)
{
	struct statement *s = db_use(store, ST_LOOKUP_COUNT, "SELECT count(*)" WANTED_SQL);

	bind_wanted(s, 0, cache, now_ns, retry_missing);
	if (db_row(s, err) < 0)
		return -1;
	*out_count = column_int(s, 0);
	db_reset(s);
	return 0;
}

int store_find_lookup(struct store *store, const char *cache, const char *instance,
		      const struct digest *digest, int64_t *out_lookup_id,
		      enum lookup_state *out_state, struct err *err)
{
	struct found_lookup lookup;
	int64_t instance_id;
	int found = name_find_instance(store, cache, instance, &instance_id, err);

	if (found <= 0)
		return found;
	found = lookup_find(store, instance_id, digest, &lookup, err);
	if (found > 0) {
		*out_lookup_id = lookup.lookup_id;
		*out_state = lookup.state;
	}
	return found;
}

int store_put_state(struct store *store, int64_t lookup_id, enum lookup_state state,
		    const char *message, struct err *err)
{
	struct statement *s = db_use(store, ST_LOOKUP_STATE,
				     "UPDATE lookup SET state = :state, message = :message"
				     " WHERE lookup_id = :lookup AND state <> 1"
				     " AND (state, message) IS NOT (:state, :message)");

	bind_int(s, ":state", state);
	bind_text(s, ":message", str_of(message));
	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

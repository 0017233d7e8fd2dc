/* Under which instance name a run's digests are asked, and what else it may be. */
#include "digest.h"
#include "store_db.h"

#include "util/mem.h"

#include <string.h>

static void forget_current(struct store *store)
{
	store->run_id = 0;
	store->wanted.count = store->wanted.next = 0; /* some of them may go */
}

int run_instance(struct store *store, int64_t run_id, int64_t *out_instance_id, struct err *err)
{
	struct statement *s;

	if (store->run_id != run_id) {
		s = db_use(store, ST_RUN_INSTANCE,
			   "SELECT instance_id FROM run WHERE run_id = :run");
		bind_int(s, ":run", run_id);
		if (db_row(s, err) < 0)
			return -1;
		store->instance_id = column_int(s, 0);
		store->run_id = run_id;
		db_reset(s);
	}
	*out_instance_id = store->instance_id;
	return 0;
}

/* ---- the choice ---- */

/* Texts that a call hands out, one after the other in a buffer of the store. */
static size_t lend(struct buf *buf, struct str text)
{
	size_t at = buf->len;

	buf_add(buf, text.data, text.len);
	buf_addch(buf, '\0');
	return at;
}

int store_get_instance(struct store *store, int64_t run_id, struct instance_choice *out_choice,
		       struct err *err)
{
	struct statement *s = db_use(store, ST_CHOICE_SELECT,
				     "SELECT i.cache, i.name, r.instance_source, r.instance_proved"
				     " FROM run r JOIN instance i ON i.instance_id = r.instance_id"
				     " WHERE r.run_id = :run");
	struct buf *texts = &store->borrowed[0];
	size_t at[3];
	int found, i;

	bind_int(s, ":run", run_id);
	found = db_step(s, err);
	if (found > 0) {
		buf_clear(texts);
		for (i = 0; i < 3; i++)
			at[i] = lend(texts, column_text(s, i));
		out_choice->cache = texts->data + at[0];
		out_choice->name = texts->data + at[1];
		out_choice->source = texts->data + at[2];
		out_choice->proved = column_int(s, 3) > 0;
	}
	db_reset(s);
	return found;
}

/* Best first, as instance_candidates() lists them. */
static int source_rank(const char *source)
{
	static const char *const sources[] = {"flag",	      "link", ".buckconfig",
					      "project.json", "log",  "default"};
	int i, count = sizeof(sources) / sizeof(*sources);

	for (i = 0; i < count && strcmp(sources[i], source) != 0; i++)
		;
	return i;
}

/*
 * The order of instance_candidates() as far as it does not depend on what else a
 * log has shown: below 0 if `a` is the better guess. Of one source the longer name
 * is the more exact one: a pool's prefix, a link's whole path.
 */
int instance_order(const struct instance_choice *a, const struct instance_choice *b)
{
	size_t a_len = strlen(a->name), b_len = strlen(b->name);
	int order = source_rank(a->source) - source_rank(b->source);

	if (!order)
		order = (a_len < b_len) - (a_len > b_len);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->cache, b->cache);
}

static bool same_instance(const struct instance_choice *a, const struct instance_choice *b)
{
	return strcmp(a->cache, b->cache) == 0 && strcmp(a->name, b->name) == 0;
}

/*
 * What stays of an old and a wanted choice: decided by comparing, so that the
 * order of logs does not matter. Two proofs of different names are the user's
 * doing: the later one stays.
 */
static struct instance_choice merge_choices(const struct instance_choice *old,
					    const struct instance_choice *wanted)
{
	struct instance_choice merged = *old;

	if (same_instance(old, wanted)) {
		merged.proved = old->proved || wanted->proved;
		if (source_rank(wanted->source) < source_rank(old->source))
			merged.source = wanted->source;
		return merged;
	}
	if (wanted->proved || old->proved)
		return wanted->proved ? *wanted : *old;
	return instance_order(wanted, old) < 0 ? *wanted : *old;
}

/* ---- moving a run to another instance ---- */

static int set_attempt(struct store *store, const struct attempt_key *key, int64_t lookup_id,
		       struct err *err)
{
	struct statement *s = db_use(store, ST_ATTEMPT_MOVE,
				     "UPDATE attempt SET lookup_id = :lookup WHERE run_id = :run"
				     " AND span_id = :span AND idx = :idx");

	bind_int(s, ":lookup", lookup_id);
	bind_attempt(s, key);
	return db_done(s, err);
}

/* Only failed attempts are left: nobody would have asked. */
static int forget_answer(struct store *store, int64_t lookup_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_FORGET,
		       "UPDATE lookup SET state = 0, message = NULL WHERE lookup_id = :lookup"
		       " AND state NOT IN (0, 1) AND NOT EXISTS (SELECT 1 FROM attempt"
		       " WHERE lookup_id = :lookup AND status IN (0, 2))");

	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

/* An attempt has left this lookup: it goes with its last reference, unless it was found. */
static int leave_lookup(struct store *store, int64_t lookup_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOKUP_DROP,
		       "DELETE FROM lookup WHERE lookup_id = :lookup"
		       " AND NOT EXISTS (SELECT 1 FROM attempt WHERE lookup_id = :lookup)"
		       " AND NOT EXISTS (SELECT 1 FROM result WHERE source = 1"
		       " AND lookup_id = :lookup)"
		       " AND NOT EXISTS (SELECT 1 FROM result WHERE source = 2"
		       " AND lookup_id = :lookup) RETURNING digest_key");
	int dropped, failed;

	bind_int(s, ":lookup", lookup_id);
	dropped = db_step(s, err);
	if (dropped < 0)
		return -1;
	if (dropped) {
		failed = lookup_dropped(store, lookup_id, column_text(s, 0), err);
		db_reset(s);
		return failed;
	}
	if (forget_answer(store, lookup_id, err) < 0)
		return -1;
	return lookup_refer_anew(store, lookup_id, err);
}

/* The attempt at the statement's row; `function` DIGEST_UNKNOWN: as it is. */
static int move_attempt(struct store *store, struct statement *row, int64_t run_id,
			int64_t instance_id, enum digest_function function, struct err *err)
{
	struct reference self = {run_id, column_int(row, 3), column_int(row, 4)};
	struct attempt_key key = {run_id, column_int(row, 0), column_int(row, 1)};
	struct digest digest;
	int64_t lookup_id;

	column_digest(row, 5, &digest);
	if (function != DIGEST_UNKNOWN)
		digest.function = (uint8_t)function;
	if (lookup_intern(store, instance_id, &digest, &self, &lookup_id, err) < 0 ||
	    set_attempt(store, &key, lookup_id, err) < 0 ||
	    historical_move(store, &key, lookup_id, err) < 0)
		return -1;
	return leave_lookup(store, column_int(row, 2), err);
}

static int move_attempts(struct store *store, int64_t run_id, int64_t instance_id, struct err *err)
{
	/* Updates do not touch the keys that this walks along. */
	struct statement *s =
		db_use(store, ST_ATTEMPTS_OF_RUN,
		       "SELECT t.span_id, t.idx, t.lookup_id, a.seq, a.name_id, l.function, l.hash,"
		       " l.size_bytes FROM attempt t CROSS JOIN action a CROSS JOIN lookup l"
		       " WHERE t.run_id = :run AND a.run_id = t.run_id AND a.span_id = t.span_id"
		       " AND l.lookup_id = t.lookup_id AND l.instance_id <> :instance");
	int more;

	bind_int(s, ":run", run_id);
	bind_int(s, ":instance", instance_id);
	while ((more = db_step(s, err)) > 0)
		if (move_attempt(store, s, run_id, instance_id, DIGEST_UNKNOWN, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

static int set_instance(struct store *store, int64_t run_id, int64_t instance_id,
			const struct instance_choice *choice, struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_INSTANCE_PUT,
		       "UPDATE run SET instance_id = :instance, instance_proved = :proved,"
		       " instance_source = :source WHERE run_id = :run"
		       " AND (instance_id, instance_proved, instance_source)"
		       " IS NOT (:instance, :proved, :source)");

	bind_int(s, ":instance", instance_id);
	bind_int(s, ":proved", choice->proved);
	bind_text(s, ":source", str_of(choice->source));
	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

int store_put_instance(struct store *store, int64_t run_id, const struct instance_choice *choice,
		       struct err *err)
{
	struct instance_choice old, merged = *choice;
	int64_t instance_id;
	int found = store_get_instance(store, run_id, &old, err);

	if (found < 0)
		return -1;
	if (found)
		merged = merge_choices(&old, choice);
	forget_current(store);
	if (name_intern_instance(store, merged.cache, merged.name, &instance_id, err) < 0 ||
	    set_instance(store, run_id, instance_id, &merged, err) < 0)
		return -1;
	if (!found || same_instance(&old, &merged))
		return 0;
	return move_attempts(store, run_id, instance_id, err);
}

/* ---- candidates ---- */

int store_put_candidates(struct store *store, int64_t run_id, const struct instance_choice *choices,
			 size_t count, struct err *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct statement *s = db_use(
			store, ST_CANDIDATE_PUT,
			"INSERT INTO instance_candidate (run_id, cache, name, rank, source)"
			" VALUES (:run, :cache, :name, :rank, :source)"
			" ON CONFLICT (run_id, cache, name) DO UPDATE SET rank = excluded.rank,"
			" source = excluded.source WHERE excluded.rank < rank");

		bind_int(s, ":run", run_id);
		bind_text(s, ":cache", str_of(choices[i].cache));
		bind_text(s, ":name", str_of(choices[i].name));
		bind_int(s, ":rank", source_rank(choices[i].source));
		bind_text(s, ":source", str_of(choices[i].source));
		if (db_done(s, err) < 0)
			return -1;
	}
	return 0;
}

/* Would the run at the statement's row stay as it is if this choice were proposed to it? */
static bool is_settled(struct statement *row, const struct instance_choice *choice)
{
	int64_t rank = column_int(row, 1);
	struct instance_choice merged, old = {.proved = false};

	if (rank == UNKNOWN || rank > source_rank(choice->source) || column_int(row, 2) == UNKNOWN)
		return false;
	old.cache = column_text(row, 3).data;
	old.name = column_text(row, 4).data;
	old.source = column_text(row, 5).data;
	merged = merge_choices(&old, choice);
	return same_instance(&old, &merged) && strcmp(old.source, merged.source) == 0 &&
	       old.proved == merged.proved;
}

/*
 * The next run of the file after `after` that the choice changes. 1; 0; -1. As a rule
 * there is none, which is to cost one question a file.
 */
static int next_to_name(struct store *store, const char *path, const struct instance_choice *choice,
			int64_t after, int64_t *out_run_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_TO_NAME,
		       /* In the order of index run_log_by_file: nothing is sorted. */
		       "SELECT l.run_id, (SELECT c.rank FROM instance_candidate c"
		       " WHERE c.run_id = l.run_id AND c.cache = :cache AND c.name = :name),"
		       " i.instance_id, i.cache, i.name, ifnull(r.instance_source, '')"
		       " FROM log_file f CROSS JOIN run_log l ON l.log_file_id = f.log_file_id"
		       " CROSS JOIN run r ON r.run_id = l.run_id"
		       " LEFT JOIN instance i ON i.instance_id = r.instance_id"
		       " WHERE f.path = :path AND l.run_id > :after"
		       " AND r.instance_proved = 0 ORDER BY l.run_id");
	int more;

	bind_text(s, ":cache", str_of(choice->cache));
	bind_text(s, ":name", str_of(choice->name));
	bind_text(s, ":path", str_of(path));
	bind_int(s, ":after", after);
	while ((more = db_step(s, err)) > 0 && is_settled(s, choice))
		;
	if (more > 0)
		*out_run_id = column_int(s, 0);
	db_reset(s);
	return more;
}

int store_name_instance(struct store *store, const char *path, const struct instance_choice *choice,
			struct err *err)
{
	int64_t run_id = 0;
	int found;

	while ((found = next_to_name(store, path, choice, run_id, &run_id, err)) > 0)
		if (store_put_candidates(store, run_id, choice, 1, err) < 0 ||
		    store_put_instance(store, run_id, choice, err) < 0)
			return -1;
	return found;
}

int store_find_elsewhere(struct store *store, const char *path, const char *cache, bool unproved,
			 const char **out_cache, struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_ELSEWHERE,
		       "SELECT i.cache FROM log_file f CROSS JOIN run_log l"
		       " ON l.log_file_id = f.log_file_id CROSS JOIN run r ON r.run_id = l.run_id"
		       " JOIN instance i ON i.instance_id = r.instance_id"
		       " WHERE f.path = :path AND i.cache <> :cache"
		       " AND r.instance_proved >= (NOT :unproved)"
		       " AND EXISTS (SELECT 1 FROM attempt t WHERE t.run_id = r.run_id"
		       " AND t.lookup_id IS NOT NULL) ORDER BY i.cache LIMIT 1");
	int found;

	bind_text(s, ":path", str_of(path));
	bind_text(s, ":cache", str_of(cache));
	bind_int(s, ":unproved", unproved);
	found = db_step(s, err);
	if (found > 0) {
		buf_clear(&store->borrowed[0]);
		lend(&store->borrowed[0], column_text(s, 0));
		*out_cache = store->borrowed[0].data;
	}
	db_reset(s);
	return found;
}

/* ---- the digest function ---- */

int run_move_function(struct store *store, int64_t run_id, enum digest_function function,
		      struct err *err)
{
	struct statement *s =
		db_use(store, ST_ATTEMPTS_OF_FUNCTION,
		       "SELECT t.span_id, t.idx, t.lookup_id, a.seq, a.name_id, l.function, l.hash,"
		       " l.size_bytes, l.instance_id FROM attempt t CROSS JOIN action a"
		       " CROSS JOIN lookup l"
		       " WHERE t.run_id = :run AND a.run_id = t.run_id AND a.span_id = t.span_id"
		       " AND l.lookup_id = t.lookup_id AND l.function <> :function"
		       " AND length(l.hash) = :length AND NOT EXISTS (SELECT 1 FROM run_config c"
		       " WHERE c.run_id = :run AND c.key GLOB '*buck2.digest_algorithms')");
	int more;

	forget_current(store);
	bind_int(s, ":run", run_id);
	bind_int(s, ":function", (int64_t)function);
	bind_int(s, ":length", (int64_t)digest_function_length((int)function));
	while ((more = db_step(s, err)) > 0)
		if (move_attempt(store, s, run_id, column_int(s, 8), function, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

/*
 * The next run of the file after `after` with a digest of another function and that
 * length. 1; 0; -1.
 */
static int next_to_move(struct store *store, const char *path, enum digest_function function,
			int64_t after, int64_t *out_run_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_RUN_TO_MOVE,
		       "SELECT l.run_id FROM log_file f CROSS JOIN run_log l"
		       " ON l.log_file_id = f.log_file_id CROSS JOIN run r ON r.run_id = l.run_id"
		       " WHERE f.path = :path AND l.run_id > :after AND r.instance_proved = 0"
		       " AND EXISTS (SELECT 1 FROM attempt t CROSS JOIN lookup k"
		       " WHERE t.run_id = l.run_id AND k.lookup_id = t.lookup_id"
		       " AND k.function <> :function AND length(k.hash) = :length)"
		       " ORDER BY l.run_id LIMIT 1");

	bind_text(s, ":path", str_of(path));
	bind_int(s, ":after", after);
	bind_int(s, ":function", (int64_t)function);
	bind_int(s, ":length", (int64_t)digest_function_length((int)function));
	return db_find(s, out_run_id, err);
}

int store_name_function(struct store *store, const char *path, enum digest_function function,
			struct err *err)
{
	int64_t run_id = 0;
	int found;

	while ((found = next_to_move(store, path, function, run_id, &run_id, err)) > 0)
		if (run_move_function(store, run_id, function, err) < 0)
			return -1;
	return found;
}

/* ---- what was proposed ---- */

int store_has_proposed(struct store *store, const char *path, int64_t proposal, struct err *err)
{
	struct statement *s =
		db_use(store, ST_PROPOSED,
		       "SELECT 1 FROM log_file WHERE path = :path AND proposal = :proposal");
	int found;

	bind_text(s, ":path", str_of(path));
	bind_int(s, ":proposal", proposal);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

int store_note_proposed(struct store *store, const char *path, int64_t proposal, struct err *err)
{
	struct statement *s = db_use(store, ST_PROPOSED_NOTE,
				     "UPDATE log_file SET proposal = :proposal WHERE path = :path");

	bind_int(s, ":proposal", proposal);
	bind_text(s, ":path", str_of(path));
	return db_done(s, err);
}

int run_propose_anew(struct store *store, int64_t run_id, struct err *err)
{
	struct statement *s = db_use(store, ST_PROPOSED_ANEW,
				     "UPDATE log_file SET proposal = NULL WHERE log_file_id IN"
				     " (SELECT log_file_id FROM run_log WHERE run_id = :run)"
				     " AND proposal IS NOT NULL");

	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

/* ---- runs whose instance no answer has proved ---- */

static int next_run(struct store *store, const char *cache, int64_t after_run_id,
		    struct unproved *out, struct err *err)
{
	struct statement *s = db_use(
		store, ST_UNPROVED_RUN,
		"SELECT r.run_id, r.trace_id FROM run r WHERE r.run_id > :after"
		" AND r.instance_proved = 0 AND EXISTS (SELECT 1 FROM instance_candidate c"
		" WHERE c.run_id = r.run_id AND c.cache = :cache)"
		" AND EXISTS (SELECT 1 FROM attempt t WHERE t.run_id = r.run_id AND t.status = 2"
		" AND t.lookup_id IS NOT NULL) ORDER BY r.run_id LIMIT 1");
	struct buf *text = &store->borrowed[0];
	int found;

	bind_int(s, ":after", after_run_id);
	bind_text(s, ":cache", str_of(cache));
	found = db_step(s, err);
	if (found > 0) {
		struct str trace_id = column_text(s, 1);

		buf_clear(text);
		buf_add(text, trace_id.data, trace_id.len);
		out->run_id = column_int(s, 0);
		out->trace_id = (struct str){text->data, text->len};
	}
	db_reset(s);
	return found;
}

/* Texts move while their buffer grows: first where they stand, then the pointers. */
static void point_candidates(struct store *store, const char *cache, const char *texts)
{
	size_t i;

	for (i = 0; i < store->candidate_count; i++) {
		struct instance_choice *choice = &store->candidates[i];

		choice->cache = cache;
		choice->name = texts;
		texts += strlen(texts) + 1;
		choice->source = texts;
		texts += strlen(texts) + 1;
	}
}

static int load_candidates(struct store *store, const char *cache, struct unproved *out,
			   struct err *err)
{
	struct statement *s = db_use(store, ST_UNPROVED_CANDIDATES,
				     "SELECT name, source FROM instance_candidate"
				     " WHERE run_id = :run AND cache = :cache"
				     " ORDER BY rank, length(name) DESC, name");
	struct buf *texts = &store->borrowed[1];
	size_t count = 0;
	int more;

	buf_clear(texts);
	buf_addstr(texts, cache);
	buf_addch(texts, '\0');
	bind_int(s, ":run", out->run_id);
	bind_text(s, ":cache", str_of(cache));
	while ((more = db_step(s, err)) > 0) {
		lend(texts, column_text(s, 0));
		lend(texts, column_text(s, 1));
		count++;
	}
	store->candidates = xreallocarray(store->candidates, count + 1, sizeof(*store->candidates));
	memset(store->candidates, 0, (count + 1) * sizeof(*store->candidates));
	store->candidate_count = count;
	point_candidates(store, texts->data, texts->data + strlen(texts->data) + 1);
	out->candidates = store->candidates;
	out->candidate_count = count;
	return more;
}

static int load_digests(struct store *store, size_t max, struct unproved *out, struct err *err)
{
	struct statement *s =
		db_use(store, ST_UNPROVED_DIGESTS,
		       "SELECT DISTINCT l.function, l.hash, l.size_bytes"
		       " FROM attempt t CROSS JOIN lookup l WHERE t.run_id = :run AND t.status = 2"
		       " AND l.lookup_id = t.lookup_id LIMIT :max");
	int more;

	store->digests = xreallocarray(store->digests, max + 1, sizeof(*store->digests));
	out->digests = store->digests;
	out->digest_count = 0;
	bind_int(s, ":run", out->run_id);
	bind_int(s, ":max", (int64_t)max);
	while ((more = db_step(s, err)) > 0)
		column_digest(s, 0, &store->digests[out->digest_count++]);
	return more;
}

int store_next_unproved(struct store *store, const char *cache, int64_t after_run_id,
			size_t max_digests, struct unproved *out_unproved, struct err *err)
{
	int found = next_run(store, cache, after_run_id, out_unproved, err);

	if (found <= 0)
		return found;
	if (load_candidates(store, cache, out_unproved, err) < 0 ||
	    load_digests(store, max_digests, out_unproved, err) < 0)
		return -1;
	return 1;
}

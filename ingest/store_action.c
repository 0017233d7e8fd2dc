/* Actions with their attempts, and those that are in flight. */
#include "store_db.h"

#include "util/json.h"

#include <assert.h>

/* Hosts, use cases and the like that an action or attempt has: NULL for empty. */
static struct str known(struct str text)
{
	return text.len ? text : STR_NULL;
}

/* Not known to have failed: status 0 is one that this version does not know. */
static bool has_failed(const struct attempt *attempt)
{
	return attempt->status != STATUS_SUCCESS && attempt->status != STATUS_UNKNOWN;
}

/* ---- actions ---- */

static int count_action(struct store *store, int64_t run_id, const struct action *action,
			struct err *err)
{
	int64_t kind = action->execution_kind == UNKNOWN ? 0 : action->execution_kind;
	const struct total_row row = {
		TOTAL_ACTIONS, {run_id, action->type, kind, action->failed}, {1}};

	return totals_add(store, &row, err);
}

/*
 * An end comes whole. Only its start is another record, which one copy of the log
 * may lack: what is derived from the end then is some ns off, so that the smaller of
 * two is taken, whichever came first. And a file that holds several logs counts on.
 */
static int complete_action(struct store *store, const struct reference *self, int64_t span_id,
			   int64_t start_ns, struct err *err)
{
	struct statement *s =
		db_use(store, ST_ACTION_COMPLETE,
		       "UPDATE action SET seq = min(seq, :seq),"
		       " start_ns = coalesce(min(start_ns, :start_ns), start_ns, :start_ns)"
		       " WHERE run_id = :run AND span_id = :span AND (:seq < seq"
		       " OR :start_ns < start_ns OR (start_ns IS NULL AND :start_ns IS NOT NULL))");

	bind_int(s, ":seq", self->seq);
	bind_int(s, ":start_ns", start_ns);
	bind_int(s, ":run", self->run_id);
	bind_int(s, ":span", span_id);
	return db_done(s, err);
}

static int put_action(struct store *store, const struct reference *self, int64_t span_id,
		      int64_t start_ns, const struct action *action, struct err *err)
{
	struct statement *s;
	int64_t rule_id;

	if (name_intern_or_null(store, NAME_RULE, known(action->rule_type), &rule_id, err) < 0)
		return -1;
	s = db_use(store, ST_ACTION_PUT,
		   "INSERT INTO action (run_id, span_id, seq, name_id, type, kind, execution_kind,"
		   " failed, start_ns, duration_us, wall_us, output_bytes, input_bytes,"
		   " upload_result, dep_file_upload_result, scheduling_mode, rule_id)"
		   " VALUES (:run, :span, :seq, :name, :type, :kind, :execution_kind, :failed,"
		   " :start_ns, :duration_us, :wall_us, :output_bytes, :input_bytes,"
		   " :upload_result, :dep_file_upload_result, :scheduling_mode, :rule)"
		   " ON CONFLICT DO NOTHING");
	bind_int(s, ":run", self->run_id);
	bind_int(s, ":span", span_id);
	bind_int(s, ":seq", self->seq);
	bind_int(s, ":name", self->name_id);
	bind_int(s, ":type", action->type);
	bind_int(s, ":kind", action->kind);
	bind_int(s, ":execution_kind", action->execution_kind);
	bind_int(s, ":failed", action->failed);
	bind_int(s, ":start_ns", start_ns);
	bind_int(s, ":duration_us", action->duration_us);
	bind_int(s, ":wall_us", action->wall_us);
	bind_int(s, ":output_bytes", action->output_bytes);
	bind_int(s, ":input_bytes", action->input_bytes);
	bind_int(s, ":upload_result", action->upload_result);
	bind_int(s, ":dep_file_upload_result", action->dep_file_upload_result);
	bind_int(s, ":scheduling_mode", action->scheduling_mode);
	bind_int(s, ":rule", rule_id);
	if (db_done(s, err) < 0)
		return -1;
	if (db_changes(store))
		return count_action(store, self->run_id, action, err);
	return complete_action(store, self, span_id, start_ns, err);
}

static int put_action_text(struct store *store, int64_t run_id, int64_t span_id,
			   const struct action *action, struct err *err)
{
	struct statement *s;

	if (!action->error_text.data && !action->suite.data && !known(action->host).data &&
	    !known(action->dep_file_key).data)
		return 0;
	/*
	 * The host is the run's as a rule. To leave it out then would need that to be known first,
	 * and it is what a damaged log may lack.
	 */
	s = db_use(store, ST_ACTION_TEXT_PUT,
		   "INSERT INTO action_text (run_id, span_id, error, suite, host, dep_file_key)"
		   " VALUES (:run, :span, :error, :suite, :host, :dep_file_key)"
		   " ON CONFLICT DO NOTHING");
	bind_int(s, ":span", span_id);
	bind_text(s, ":error", action->error_text);
	bind_text(s, ":suite", action->suite);
	bind_text(s, ":host", known(action->host));
	bind_text(s, ":dep_file_key", known(action->dep_file_key));
	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

/* ---- attempts ---- */

/* JSON array of [name, value]; no properties at all: NULL. */
static int intern_platform(struct store *store, const struct attempt *attempt, int64_t *out_id,
			   struct err *err)
{
	struct buf *json = &store->borrowed[0];
	size_t i;

	if (attempt->platform.data)
		return name_intern(store, NAME_PLATFORM, attempt->platform, out_id, err);
	buf_clear(json);
	buf_addch(json, '[');
	for (i = 0; i < attempt->property_count; i++) {
		buf_addstr(json, i ? ",[" : "[");
		json_add_text(json, attempt->properties[i].name);
		buf_addch(json, ',');
		json_add_text(json, attempt->properties[i].value);
		buf_addch(json, ']');
	}
	buf_addch(json, ']');
	return name_intern_or_null(store, NAME_PLATFORM,
				   i ? (struct str){json->data, json->len} : STR_NULL, out_id, err);
}

/* Column attempt.cache_hit: a remote attempt was executed, or where it was found. */
static int64_t cache_hit_of(const struct attempt *attempt)
{
	if (attempt->kind != ATTEMPT_REMOTE)
		return UNKNOWN;
	if (!attempt->cache_hit)
		return 0;
	return attempt->cache_hit_type == HIT_REMOTE_DEP_FILE ? 2 : 1;
}

static int put_attempt(struct store *store, const struct attempt_key *key,
		       const struct attempt *attempt, int64_t lookup_id, struct err *err)
{
	struct statement *s;
	int64_t platform_id, use_case_id;

	if (intern_platform(store, attempt, &platform_id, err) < 0 ||
	    name_intern_or_null(store, NAME_RULE, known(attempt->use_case), &use_case_id, err) < 0)
		return -1;
	s = db_use(store, ST_ATTEMPT_PUT,
		   "INSERT INTO attempt (run_id, span_id, idx, kind, status, lookup_id, cache_hit,"
		   " exit_code, start_ns, wall_us, execution_us, queue_us, server_queue_us,"
		   " input_us, memory_peak_bytes, platform_id, use_case_id)"
		   " VALUES (:run, :span, :idx, :kind, :status, :lookup, :cache_hit, :exit_code,"
		   " :start_ns, :wall_us, :execution_us, :queue_us, :server_queue_us, :input_us,"
		   " :memory_peak_bytes, :platform, :use_case) ON CONFLICT DO NOTHING");
	bind_attempt(s, key);
	bind_int(s, ":kind", attempt->kind);
	bind_int(s, ":status", attempt->status);
	bind_int(s, ":lookup", lookup_id);
	bind_int(s, ":cache_hit", cache_hit_of(attempt));
	bind_int(s, ":exit_code", attempt->exit_code);
	bind_int(s, ":start_ns", attempt->start_ns);
	bind_int(s, ":wall_us", attempt->wall_us);
	bind_int(s, ":execution_us", attempt->execution_us);
	bind_int(s, ":queue_us", attempt->queue_us);
	bind_int(s, ":server_queue_us", attempt->server_queue_us);
	bind_int(s, ":input_us", attempt->input_us);
	bind_int(s, ":memory_peak_bytes", attempt->memory_peak_bytes);
	bind_int(s, ":platform", platform_id);
	bind_int(s, ":use_case", use_case_id);
	return db_done(s, err);
}

/* The digest of an attempt that is never asked. */
static int put_digest(struct store *store, const struct attempt_key *key,
		      const struct digest *digest, struct err *err)
{
	struct statement *s =
		db_use(store, ST_ATTEMPT_DIGEST_PUT,
		       "INSERT INTO attempt_digest (run_id, span_id, idx, function, hash,"
		       " size_bytes) VALUES (:run, :span, :idx, :function, :hash, :size)"
		       " ON CONFLICT DO NOTHING");

	bind_attempt(s, key);
	bind_digest(s, digest);
	return db_done(s, err);
}

/* The last bytes of a text, from the beginning of a character on. */
static struct str last_bytes(struct str text, size_t max)
{
	size_t skip;

	if (text.len <= max)
		return text;
	skip = text.len - max;
	while (skip < text.len && ((unsigned char)text.data[skip] & 0xc0) == 0x80)
		skip++;
	return (struct str){text.data + skip, text.len - skip};
}

/* What of an attempt's stderr is kept: cleaning may lengthen it, hence twice. */
static struct str kept_stderr(struct store *store, const struct attempt *attempt)
{
	struct str tail;

	if (!has_failed(attempt) || !attempt->stderr_text.len)
		return STR_NULL;
	if (attempt->no_stderr)
		return STR("");
	tail = attempt->stderr_clean.data ? attempt->stderr_clean : attempt->stderr_text;
	tail = last_bytes(tail, STORE_STDERR_MAX);
	return last_bytes(text_clean(tail, &store->borrowed[1]), STORE_STDERR_MAX);
}

static int put_attempt_stderr(struct store *store, const struct attempt_key *key,
			      const struct attempt *attempt, struct err *err)
{
	struct str text = kept_stderr(store, attempt);
	struct statement *s;

	if (!text.data)
		return 0;
	s = db_use(store, ST_ATTEMPT_STDERR_PUT,
		   "INSERT INTO attempt_stderr (run_id, span_id, idx, stderr, stderr_bytes)"
		   " VALUES (:run, :span, :idx, :stderr, :stderr_bytes)"
		   " ON CONFLICT DO UPDATE SET stderr = excluded.stderr"
		   " WHERE stderr = '' AND excluded.stderr <> ''");
	bind_attempt(s, key);
	bind_text(s, ":stderr", text);
	bind_int(s, ":stderr_bytes",
		 attempt->stderr_bytes ? attempt->stderr_bytes : (int64_t)attempt->stderr_text.len);
	return db_done(s, err);
}

static int put_attempt_text(struct store *store, const struct attempt_key *key,
			    const struct attempt *attempt, struct err *err)
{
	struct statement *s;

	if (!known(attempt->error_stage).data && !known(attempt->error_text).data &&
	    !known(attempt->additional_message).data)
		return 0;
	s = db_use(store, ST_ATTEMPT_TEXT_PUT,
		   "INSERT INTO attempt_text (run_id, span_id, idx, error_stage, error, message)"
		   " VALUES (:run, :span, :idx, :error_stage, :error, :message)"
		   " ON CONFLICT DO NOTHING");
	bind_attempt(s, key);
	bind_text(s, ":error_stage", known(attempt->error_stage));
	bind_text(s, ":error", known(attempt->error_text));
	bind_text(s, ":message", known(attempt->additional_message));
	return db_done(s, err);
}

static int put_attempt_whole(struct store *store, const struct reference *self,
			     const struct attempt_key *key, const struct attempt *attempt,
			     struct err *err)
{
	bool asked = attempt->kind == ATTEMPT_REMOTE && attempt->digest.hash_len;
	int64_t instance_id, lookup_id = UNKNOWN;

	if (asked) {
		if (run_instance(store, self->run_id, &instance_id, err) < 0)
			return -1;
		assert(instance_id != UNKNOWN);
		if (lookup_intern(store, instance_id, &attempt->digest, self, &lookup_id, err) < 0)
			return -1;
	}
	if (put_attempt(store, key, attempt, lookup_id, err) < 0)
		return -1;
	if (asked && attempt->historical.hash_len &&
	    historical_link(store, key, &attempt->historical, err) < 0)
		return -1;
	if (!asked && attempt->digest.hash_len && put_digest(store, key, &attempt->digest, err) < 0)
		return -1;
	if (put_attempt_text(store, key, attempt, err) < 0)
		return -1;
	return put_attempt_stderr(store, key, attempt, err);
}

/* Has the run anything in flight? Most have not: then no action of it is looked for there. */
static int note_landed(struct store *store, int64_t run_id, struct err *err)
{
	struct statement *s = db_use(store, ST_IN_FLIGHT_ANY,
				     "SELECT 1 FROM in_flight WHERE run_id = :run LIMIT 1");
	int found;

	bind_int(s, ":run", run_id);
	found = db_step(s, err);
	db_reset(s);
	if (found == 0)
		store->landed_run_id = run_id;
	return found < 0 ? -1 : 0;
}

static int drop_in_flight(struct store *store, int64_t run_id, int64_t span_id, struct err *err)
{
	struct statement *s;

	if (store->landed_run_id == run_id)
		return 0;
	s = db_use(store, ST_IN_FLIGHT_DROP,
		   "DELETE FROM in_flight WHERE run_id = :run AND span_id = :span");
	bind_int(s, ":run", run_id);
	bind_int(s, ":span", span_id);
	return db_done(s, err) < 0 ? -1 : note_landed(store, run_id, err);
}

int store_put_action(struct store *store, int64_t run_id, uint64_t span_id, uint64_t seq,
		     int64_t start_ns, const struct action *action, struct err *err)
{
	struct reference self = {.run_id = run_id, .seq = (int64_t)seq};
	size_t i;

	if (name_intern_action(store, &action->name, &self.name_id, err) < 0 ||
	    put_action(store, &self, (int64_t)span_id, start_ns, action, err) < 0 ||
	    put_action_text(store, run_id, (int64_t)span_id, action, err) < 0)
		return -1;
	for (i = 0; i < action->attempt_count; i++) {
		struct attempt_key key = {run_id, (int64_t)span_id, (int64_t)i};

		if (put_attempt_whole(store, &self, &key, &action->attempts[i], err) < 0)
			return -1;
	}
	return drop_in_flight(store, run_id, (int64_t)span_id, err);
}

/* ---- in flight ---- */

int store_put_in_flight(struct store *store, int64_t run_id, const struct started *started,
			struct err *err)
{
	const struct digest *digest = &started->stage.digest;
	struct statement *s;
	int64_t name_id;

	store->landed_run_id = 0;
	if (name_intern_action(store, &started->action->name, &name_id, err) < 0)
		return -1;
	s = db_use(store, ST_IN_FLIGHT_PUT,
		   "INSERT INTO in_flight (run_id, span_id, seq, name_id, type, start_ns, stage,"
		   " stage_seq, hash, size_bytes, function)"
		   " SELECT run_id, :span, :seq, :name, :type, :start_ns, :stage, :stage_seq,"
		   " :hash, :size, :function FROM run WHERE run_id = :run AND complete = 0"
		   " AND NOT EXISTS (SELECT 1 FROM action WHERE run_id = :run AND span_id = :span)"
		   " AND NOT EXISTS (SELECT 1 FROM cancelled_span WHERE run_id = :run"
		   " AND span_id = :span)"
		   " ON CONFLICT (run_id, span_id) DO UPDATE SET stage = excluded.stage,"
		   " stage_seq = excluded.stage_seq, hash = excluded.hash,"
		   " size_bytes = excluded.size_bytes, function = excluded.function"
		   " WHERE ifnull(excluded.stage_seq, -1) > ifnull(stage_seq, -1)");
	bind_int(s, ":span", (int64_t)started->span_id);
	bind_int(s, ":seq", (int64_t)started->seq);
	bind_int(s, ":name", name_id);
	bind_int(s, ":type", started->action->type);
	bind_int(s, ":start_ns", started->start_ns);
	if (digest->hash_len) {
		bind_text(s, ":stage", started->stage.name);
		bind_int(s, ":stage_seq", (int64_t)started->stage_seq);
		bind_digest(s, digest);
	}
	bind_int(s, ":run", run_id);
	return db_done(s, err);
}

int store_drop_in_flight(struct store *store, int64_t run_id, uint64_t span_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_CANCELLED_PUT,
		       "INSERT INTO cancelled_span (run_id, span_id) VALUES (:run, :span)"
		       " ON CONFLICT DO NOTHING");

	bind_int(s, ":run", run_id);
	bind_int(s, ":span", (int64_t)span_id);
	if (db_done(s, err) < 0)
		return -1;
	return drop_in_flight(store, run_id, (int64_t)span_id, err);
}

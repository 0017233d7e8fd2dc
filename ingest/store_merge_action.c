/* Actions of a source's run, read back as a log would show them. */
#include "digest.h"
#include "store_merge_db.h"

#include <string.h>

/* ---- attempts ---- */

static int count_attempts(struct merge *merge, const struct attempt_key *key, size_t *out,
			  struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_ATTEMPT_COUNT,
				     "SELECT count(*) FROM attempt WHERE run_id = :run"
				     " AND span_id = :span");

	bind_int(s, ":run", key->run_id);
	bind_int(s, ":span", key->span_id);
	if (db_row(s, err) < 0)
		return -1;
	*out = (size_t)column_int(s, 0);
	db_reset(s);
	return 0;
}

static struct statement *use_attempts(struct merge *merge, const struct attempt_key *key)
{
	struct statement *s = db_use(
		merge->from, ST_FROM_ATTEMPTS,
		"SELECT a.idx, a.kind, a.status, a.cache_hit, a.exit_code, a.start_ns, a.wall_us,"
		" a.execution_us, a.queue_us, a.server_queue_us, a.input_us, a.memory_peak_bytes,"
		" p.properties, u.name, x.error_stage, x.error, x.message, e.stderr,"
		" e.stderr_bytes, l.function, l.hash, l.size_bytes, d.function, d.hash,"
		" d.size_bytes, h.function, h.hash, h.size_bytes FROM attempt a"
		" LEFT JOIN lookup l ON l.lookup_id = a.lookup_id"
		" LEFT JOIN platform p ON p.platform_id = a.platform_id"
		" LEFT JOIN rule u ON u.rule_id = a.use_case_id"
		" LEFT JOIN attempt_digest d USING (run_id, span_id, idx)"
		" LEFT JOIN attempt_text x USING (run_id, span_id, idx)"
		" LEFT JOIN attempt_stderr e USING (run_id, span_id, idx)"
		" LEFT JOIN historical h USING (run_id, span_id, idx)"
		" WHERE a.run_id = :run AND a.span_id = :span ORDER BY a.idx");

	bind_int(s, ":run", key->run_id);
	bind_int(s, ":span", key->span_id);
	return s;
}

static void read_cache_hit(struct columns *c, struct attempt *out)
{
	int64_t hit = next_int(c);

	out->cache_hit = hit > 0;
	out->cache_hit_type = hit == 2 ? HIT_REMOTE_DEP_FILE : HIT_ACTION_CACHE;
}

/* One that an ingest was told to leave out is '', and its length is known. */
static int read_stderr(struct merge *merge, struct columns *c, struct attempt *out, struct err *err)
{
	struct str text = next_text(c);

	out->stderr_bytes = next_int(c);
	if (!text.data)
		return 0;
	out->no_stderr = !text.len;
	return keep_text(merge, &merge->arena, text.len ? text : STR(" "), &out->stderr_text, err);
}

static int read_digests(struct columns *c, struct attempt *out, struct err *err)
{
	struct digest asked, other;

	if (next_digest(c, &asked, err) < 0 || next_digest(c, &other, err) < 0 ||
	    next_digest(c, &out->historical, err) < 0)
		return -1;
	out->digest = asked.hash_len ? asked : other;
	return 0;
}

static int read_attempt(struct merge *merge, struct columns *c, struct attempt *out,
			struct err *err)
{
	struct str *const texts[] = {&out->platform, &out->use_case, &out->error_stage,
				     &out->error_text, &out->additional_message};
	size_t i;

	out->kind = (enum attempt_kind)next_int(c);
	out->status = (enum attempt_status)next_int(c);
	read_cache_hit(c, out);
	out->exit_code = next_int(c);
	out->start_ns = next_int(c);
	out->wall_us = next_int(c);
	out->execution_us = next_int(c);
	out->queue_us = next_int(c);
	out->server_queue_us = next_int(c);
	out->input_us = next_int(c);
	out->memory_peak_bytes = next_int(c);
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (keep_text(merge, &merge->arena, next_text(c), texts[i], err) < 0)
			return -1;
	if (read_stderr(merge, c, out, err) < 0)
		return -1;
	return read_digests(c, out, err);
}

/* Attempts are numbered as they were tried, from 0. */
static int read_attempts(struct merge *merge, const struct attempt_key *key, struct action *action,
			 struct err *err)
{
	struct statement *s;
	size_t count, at = 0;
	int more, rc = 0;

	if (count_attempts(merge, key, &count, err) < 0)
		return -1;
	action->attempts = keep_room(merge, &merge->arena, count, sizeof(*action->attempts), err);
	if (!action->attempts)
		return -1;
	action->attempt_count = count;
	s = use_attempts(merge, key);
	while ((more = db_step(s, err)) > 0 && rc == 0) {
		struct columns c = {s, 0};

		if (next_int(&c) != (int64_t)at || at == count)
			rc = err_set(err, ERR_DB, "%s: damaged: an action's attempts have gaps",
				     merge->from->path);
		else
			rc = read_attempt(merge, &c, &action->attempts[at++], err);
	}
	db_reset(s);
	return more < 0 ? -1 : rc;
}

/* ---- actions ---- */

static struct statement *use_actions(struct merge *merge, int64_t run_id)
{
	struct statement *s = db_use(
		merge->from, ST_FROM_ACTIONS,
		"SELECT a.span_id, a.seq, a.start_ns, " NAME_COLUMNS ", a.type, a.kind,"
		" a.execution_kind, a.failed, a.duration_us, a.wall_us, a.output_bytes,"
		" a.input_bytes, a.upload_result, a.dep_file_upload_result, a.scheduling_mode,"
		" u.name, x.error, x.suite, x.host, x.dep_file_key"
		" FROM action a CROSS JOIN action_name n ON n.name_id = a.name_id" NAME_JOINS(
			"CROSS JOIN") " LEFT JOIN rule u ON u.rule_id = a.rule_id"
				      " LEFT JOIN action_text x USING (run_id, span_id)"
				      " WHERE a.run_id = :run ORDER BY a.run_id, a.span_id");

	bind_int(s, ":run", run_id);
	return s;
}

/* Borrowed while the row stands. */
static void read_action(struct columns *c, struct action *out)
{
	next_name(c, &out->name);
	out->type = (enum action_type)next_int(c);
	out->kind = next_int(c);
	out->execution_kind = next_int(c);
	out->failed = next_int(c) > 0;
	out->duration_us = next_int(c);
	out->wall_us = next_int(c);
	out->output_bytes = next_int(c);
	out->input_bytes = next_int(c);
	out->upload_result = next_int(c);
	out->dep_file_upload_result = next_int(c);
	out->scheduling_mode = next_int(c);
	out->rule_type = next_text(c);
	out->error_text = next_text(c);
	out->suite = next_text(c);
	out->host = next_text(c);
	out->dep_file_key = next_text(c);
}

/*
 * An attempt that this database knows has its digest: a record comes whole. Only
 * under another instance or function it may be another lookup, and that is settled.
 */
static void forget_digests(struct action *action)
{
	size_t i;

	for (i = 0; i < action->attempt_count; i++)
		action->attempts[i].digest.hash_len = 0;
}

static void set_function(struct action *action, enum digest_function function)
{
	size_t i;

	for (i = 0; i < action->attempt_count; i++) {
		struct digest *digest = &action->attempts[i].digest;

		if (digest->hash_len == digest_function_length((int)function))
			digest->function = (uint8_t)function;
	}
}

static bool has_digest(const struct action *action)
{
	size_t i;

	for (i = 0; i < action->attempt_count; i++)
		if (action->attempts[i].kind == ATTEMPT_REMOTE &&
		    action->attempts[i].digest.hash_len)
			return true;
	return false;
}

/* A run whose digests can be asked has an instance, unless a stranger made the file. */
static int ensure_instance(struct merge *merge, int64_t run_id, const struct action *action,
			   struct err *err)
{
	static const struct instance_choice unnamed = {"", "", "default", false};
	int64_t instance_id;

	if (!has_digest(action))
		return 0;
	if (run_instance(merge->into, run_id, &instance_id, err) < 0)
		return -1;
	return instance_id == UNKNOWN ? store_put_instance(merge->into, run_id, &unnamed, err) : 0;
}

static int is_known(struct merge *merge, int64_t run_id, int64_t span_id, struct err *err)
{
	struct statement *s =
		db_use(merge->into, ST_INTO_ACTION,
		       "SELECT 1 FROM action WHERE run_id = :run AND span_id = :span");
	int found;

	bind_int(s, ":run", run_id);
	bind_int(s, ":span", span_id);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

/* The action at the row of `s`. */
static int merge_action(struct merge *merge, struct statement *s, int64_t from_run_id,
			int64_t run_id, enum digest_function function, struct err *err)
{
	struct columns c = {s, 0};
	struct attempt_key key = {from_run_id, next_int(&c), 0};
	int64_t seq = next_int(&c), start_ns = next_int(&c);
	struct action action = {0};
	int known = is_known(merge, run_id, key.span_id, err);

	arena_reset(&merge->arena);
	read_action(&c, &action);
	if (known < 0 || read_attempts(merge, &key, &action, err) < 0)
		return -1;
	if (known)
		forget_digests(&action);
	else if (function != DIGEST_UNKNOWN)
		set_function(&action, function);
	merge->tally->actions += !known;
	merge->tally->actions_known += known;
	if (ensure_instance(merge, run_id, &action, err) < 0)
		return -1;
	return store_put_action(merge->into, run_id, (uint64_t)key.span_id, (uint64_t)seq, start_ns,
				&action, err);
}

int merge_actions(struct merge *merge, int64_t from_run_id, int64_t run_id,
		  enum digest_function function, struct err *err)
{
	struct statement *s = use_actions(merge, from_run_id);
	int more;

	while ((more = db_step(s, err)) > 0)
		if (merge_action(merge, s, from_run_id, run_id, function, err) < 0 ||
		    merge_rows(merge, 1, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

/* ---- in flight ---- */

static int merge_started(struct merge *merge, struct statement *s, int64_t run_id, struct err *err)
{
	struct columns c = {s, 0};
	struct action action = {0};
	struct started started = {.action = &action};

	started.span_id = (uint64_t)next_int(&c);
	started.seq = (uint64_t)next_int(&c);
	next_name(&c, &action.name);
	action.type = (enum action_type)next_int(&c);
	started.start_ns = next_int(&c);
	started.stage.name = next_text(&c);
	started.stage_seq = (uint64_t)next_int(&c);
	if (next_digest(&c, &started.stage.digest, err) < 0)
		return -1;
	return store_put_in_flight(merge->into, run_id, &started, err);
}

static int merge_in_flight(struct merge *merge, int64_t from_run_id, int64_t run_id,
			   struct err *err)
{
	struct statement *s =
		db_use(merge->from, ST_FROM_FLIGHTS,
		       "SELECT i.span_id, i.seq, " NAME_COLUMNS ", i.type, i.start_ns, i.stage,"
		       " i.stage_seq, i.function, i.hash, i.size_bytes FROM in_flight i"
		       " CROSS JOIN action_name n ON n.name_id = i.name_id" NAME_JOINS(
			       "CROSS JOIN") " WHERE i.run_id = :run ORDER BY i.run_id, i.span_id");
	int more;

	bind_int(s, ":run", from_run_id);
	while ((more = db_step(s, err)) > 0)
		if (merge_started(merge, s, run_id, err) < 0 || merge_rows(merge, 1, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

int merge_flights(struct merge *merge, int64_t from_run_id, int64_t run_id, struct err *err)
{
	struct statement *s;
	int more;

	if (merge_in_flight(merge, from_run_id, run_id, err) < 0)
		return -1;
	s = db_use(merge->from, ST_FROM_CANCELLED,
		   "SELECT span_id FROM cancelled_span WHERE run_id = :run");
	bind_int(s, ":run", from_run_id);
	while ((more = db_step(s, err)) > 0)
		if (store_drop_in_flight(merge->into, run_id, (uint64_t)column_int(s, 0), err) <
			    0 ||
		    merge_rows(merge, 1, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

/* What the action cache or a historical blob said: one record of one execution. */
#include "store_db.h"
#include "store_measured.h"

static struct str signal_of(const struct result *result)
{
	return result->has_rusage ? result->rusage.termination_signal : STR_NULL;
}

/* ---- the parts of a result ---- */

/* Rows that a result points to; UNKNOWN: none. */
struct result_names {
	int64_t worker_id, request_id, allotment_id;
};

/* When the worker had it, as _time says it once it is stored. */
static int64_t start_of(const struct result *result)
{
	static const enum result_time order[] = {TIME_EXECUTION_START, TIME_WORKER_START,
						 TIME_QUEUED};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (result->time_ns[order[i]] != UNKNOWN)
			return result->time_ns[order[i]];
	return UNKNOWN;
}

static int intern_names(struct store *store, int64_t lookup_id, const struct result *result,
			struct result_names *out, struct err *err)
{
	struct execution execution = {UNKNOWN, lookup_id, start_of(result)};

	out->request_id = UNKNOWN;
	if (name_intern_or_null(store, NAME_WORKER, result->worker, &out->worker_id, err) < 0)
		return -1;
	execution.worker_id = out->worker_id;
	if (allot_find(store, &execution, &out->allotment_id, err) < 0)
		return -1;
	if (!result->has_request)
		return 0;
	return name_intern_request(store, &result->request, &out->request_id, err);
}

static void bind_owner(struct statement *s, const struct result_owner *owner)
{
	static const struct attempt_key none = {UNKNOWN, UNKNOWN, UNKNOWN};

	bind_int(s, ":lookup", owner->lookup_id);
	bind_attempt(s, owner->attempt ? owner->attempt : &none);
}

static int put_head(struct store *store, const struct result_owner *owner,
		    const struct result *result, const struct measured *measured,
		    const struct result_names *names, struct err *err)
{
	struct statement *s = db_use(
		store, ST_RESULT_PUT,
		"INSERT INTO result (lookup_id, source, wall_ns, cpu_ns, max_rss_bytes,"
		" exit_code, termination_signal, worker_id, request_id, allotment_id,"
		" name_id, package_id, category_id, project_id, first_run_id, attempt_run_id,"
		" attempt_span_id, attempt_idx, status_code, status_message)"
		" SELECT l.lookup_id, :source,"
		" :wall_ns, :cpu_ns, :max_rss_bytes, :exit_code, :termination_signal,"
		" :worker, :request, :allotment, l.name_id, t.package_id, n.category_id,"
		" r.project_id, r.run_id, :run, :span, :idx, :status_code, :status_message"
		" FROM lookup l JOIN run r ON r.run_id = l.first_run_id"
		" JOIN action_name n ON n.name_id = l.name_id"
		" JOIN target t ON t.target_id = n.target_id WHERE l.lookup_id = :lookup"
		" ON CONFLICT DO NOTHING");

	bind_owner(s, owner);
	bind_int(s, ":source", result->source);
	bind_int(s, ":wall_ns", measured->wall_ns);
	bind_int(s, ":cpu_ns", measured->cpu_ns);
	bind_int(s, ":max_rss_bytes", measured->max_rss_bytes);
	bind_int(s, ":exit_code", result->exit_code);
	bind_text(s, ":termination_signal", signal_of(result));
	bind_int(s, ":worker", names->worker_id);
	bind_int(s, ":request", names->request_id);
	bind_int(s, ":allotment", names->allotment_id);
	if (owner->attempt) {
		bind_int(s, ":status_code", result->status_code);
		bind_text(s, ":status_message", result->status_message);
	}
	return db_done(s, err);
}

/* RETURNING would make a table for them each time. */
static int read_columns(struct store *store, int64_t result_id, struct result_columns *out,
			struct err *err)
{
	struct statement *s =
		db_use(store, ST_RESULT_COLUMNS,
		       "SELECT category_id, project_id, bucket, memory_mib, centicores"
		       " FROM result WHERE result_id = :result");

	bind_int(s, ":result", result_id);
	if (db_row(s, err) < 0)
		return -1;
	*out = (struct result_columns){column_int(s, 0), column_int(s, 1), column_int(s, 2),
				       column_int(s, 3), column_int(s, 4)};
	db_reset(s);
	return 0;
}

/* In the order in which an execution passes them. */
static const enum result_time time_order[TIME_COUNT] = {
	TIME_QUEUED,	      TIME_WORKER_START,     TIME_FETCH_START,
	TIME_FETCH_COMPLETED, TIME_EXECUTION_START,  TIME_EXECUTION_COMPLETED,
	TIME_UPLOAD_START,    TIME_UPLOAD_COMPLETED, TIME_WORKER_COMPLETED,
};

static int64_t base_of(const struct result *result)
{
	size_t i;

	for (i = 0; i < TIME_COUNT; i++)
		if (result->time_ns[time_order[i]] != UNKNOWN)
			return result->time_ns[time_order[i]];
	return UNKNOWN;
}

/* When the worker was done with it, as far as that is known. */
static int64_t completion_of(const struct result *result)
{
	static const enum result_time order[] = {TIME_WORKER_COMPLETED, TIME_UPLOAD_COMPLETED,
						 TIME_EXECUTION_COMPLETED};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (result->time_ns[order[i]] != UNKNOWN)
			return result->time_ns[order[i]];
	return base_of(result);
}

/* From the known time before it to each known time; UNKNOWN: it is not, or no integer holds the
 * step. */
static void steps_of(const struct result *result, int64_t out[TIME_COUNT])
{
	int64_t last_ns = base_of(result);
	size_t i;

	for (i = 0; i < TIME_COUNT; i++) {
		enum result_time time = time_order[i];

		out[time] = distance_ns(last_ns, result->time_ns[time]);
		if (out[time] != UNKNOWN)
			last_ns = result->time_ns[time];
	}
}

/* The four phases, as _span says them once they are stored. */
static void phases_of(const int64_t steps[TIME_COUNT], int64_t out[PHASE_COUNT])
{
	static const enum result_time bounds[PHASE_COUNT][2] = {
		[PHASE_QUEUED] = {TIME_QUEUED, TIME_WORKER_START},
		[PHASE_FETCH] = {TIME_FETCH_START, TIME_FETCH_COMPLETED},
		[PHASE_RUN] = {TIME_EXECUTION_START, TIME_EXECUTION_COMPLETED},
		[PHASE_UPLOAD] = {TIME_UPLOAD_START, TIME_UPLOAD_COMPLETED},
	};
	size_t i;

	for (i = 0; i < PHASE_COUNT; i++)
		out[i] = steps[bounds[i][0]] == UNKNOWN ? UNKNOWN : steps[bounds[i][1]];
}

static int put_times(struct store *store, int64_t result_id, const struct result *result,
		     const int64_t steps[TIME_COUNT], struct err *err)
{
	static const char *const params[TIME_COUNT] = {
		[TIME_QUEUED] = ":queued",
		[TIME_WORKER_START] = ":worker_start",
		[TIME_WORKER_COMPLETED] = ":worker_completed",
		[TIME_FETCH_START] = ":fetch_start",
		[TIME_FETCH_COMPLETED] = ":fetch_completed",
		[TIME_EXECUTION_START] = ":execution_start",
		[TIME_EXECUTION_COMPLETED] = ":execution_completed",
		[TIME_UPLOAD_START] = ":upload_start",
		[TIME_UPLOAD_COMPLETED] = ":upload_completed",
	};
	int64_t base_ns = base_of(result);
	struct statement *s;
	size_t i;

	if (base_ns == UNKNOWN && result->virtual_ns == UNKNOWN)
		return 0;
	s = db_use(store, ST_RESULT_TIME_PUT,
		   "INSERT INTO result_time (result_id, base_ns, queued_step_ns,"
		   " worker_start_step_ns, fetch_start_step_ns, fetch_completed_step_ns,"
		   " execution_start_step_ns, execution_completed_step_ns, upload_start_step_ns,"
		   " upload_completed_step_ns, worker_completed_step_ns, is_virtual)"
		   " VALUES (:result, :base, :queued, :worker_start, :fetch_start,"
		   " :fetch_completed, :execution_start, :execution_completed, :upload_start,"
		   " :upload_completed, :worker_completed, :is_virtual)");
	bind_int(s, ":result", result_id);
	bind_int(s, ":base", base_ns);
	for (i = 0; i < TIME_COUNT; i++)
		bind_int(s, params[time_order[i]], steps[time_order[i]]);
	bind_int(s, ":is_virtual", result->virtual_ns == UNKNOWN ? UNKNOWN : 1);
	return db_done(s, err);
}

static int put_rusage(struct store *store, int64_t result_id, const struct rusage *rusage,
		      struct err *err)
{
	struct statement *s = db_use(
		store, ST_RUSAGE_PUT,
		"INSERT INTO rusage (result_id, user_ns, system_ns, minor_faults, major_faults,"
		" swaps, block_in, block_out, messages_sent, messages_received, signals_received,"
		" voluntary_ctx, involuntary_ctx) VALUES (:result, :user_ns, :system_ns,"
		" :minor_faults, :major_faults, :swaps, :block_in, :block_out, :messages_sent,"
		" :messages_received, :signals_received, :voluntary_ctx, :involuntary_ctx)");

	bind_int(s, ":result", result_id);
	bind_int(s, ":user_ns", rusage->user_ns);
	bind_int(s, ":system_ns", rusage->system_ns);
	bind_int(s, ":minor_faults", rusage->minor_faults);
	bind_int(s, ":major_faults", rusage->major_faults);
	bind_int(s, ":swaps", rusage->swaps);
	bind_int(s, ":block_in", rusage->block_in);
	bind_int(s, ":block_out", rusage->block_out);
	bind_int(s, ":messages_sent", rusage->messages_sent);
	bind_int(s, ":messages_received", rusage->messages_received);
	bind_int(s, ":signals_received", rusage->signals_received);
	bind_int(s, ":voluntary_ctx", rusage->voluntary_ctx);
	bind_int(s, ":involuntary_ctx", rusage->involuntary_ctx);
	return db_done(s, err);
}

static int put_file_pool(struct store *store, int64_t result_id,
			 const struct file_pool_usage *usage, struct err *err)
{
	struct statement *s = db_use(
		store, ST_FILE_POOL_PUT,
		"INSERT INTO file_pool_usage (result_id, files_created, files_count_peak,"
		" files_bytes_peak, reads, read_bytes, writes, write_bytes, truncates)"
		" VALUES (:result, :files_created, :files_count_peak, :files_bytes_peak, :reads,"
		" :read_bytes, :writes, :write_bytes, :truncates)");

	bind_int(s, ":result", result_id);
	bind_int(s, ":files_created", usage->files_created);
	bind_int(s, ":files_count_peak", usage->files_count_peak);
	bind_int(s, ":files_bytes_peak", usage->files_bytes_peak);
	bind_int(s, ":reads", usage->reads);
	bind_int(s, ":read_bytes", usage->read_bytes);
	bind_int(s, ":writes", usage->writes);
	bind_int(s, ":write_bytes", usage->write_bytes);
	bind_int(s, ":truncates", usage->truncates);
	return db_done(s, err);
}

static int put_input_root(struct store *store, int64_t result_id,
			  const struct input_root_usage *usage, struct err *err)
{
	struct statement *s =
		db_use(store, ST_INPUT_ROOT_PUT,
		       "INSERT INTO input_root_usage (result_id, directories_resolved,"
		       " directories_read, files_read)"
		       " VALUES (:result, :directories_resolved, :directories_read, :files_read)");

	bind_int(s, ":result", result_id);
	bind_int(s, ":directories_resolved", usage->directories_resolved);
	bind_int(s, ":directories_read", usage->directories_read);
	bind_int(s, ":files_read", usage->files_read);
	return db_done(s, err);
}

static int put_expense(struct store *store, int64_t result_id, const struct expense *expense,
		       struct err *err)
{
	struct statement *s =
		db_use(store, ST_EXPENSE_PUT,
		       "INSERT INTO expense (result_id, name, currency, cost)"
		       " VALUES (:result, :name, :currency, :cost) ON CONFLICT DO NOTHING");

	bind_int(s, ":result", result_id);
	bind_text(s, ":name", expense->name.data ? expense->name : STR(""));
	bind_text(s, ":currency", expense->currency.data ? expense->currency : STR(""));
	bind_real(s, ":cost", expense->cost);
	return db_done(s, err);
}

static int put_aux(struct store *store, int64_t result_id, size_t index,
		   const struct aux_message *aux, struct err *err)
{
	struct statement *s = db_use(store, ST_AUX_PUT,
				     "INSERT INTO aux_message (result_id, idx, type, bytes)"
				     " VALUES (:result, :idx, :type, :bytes)");

	bind_int(s, ":result", result_id);
	bind_int(s, ":idx", (int64_t)index);
	bind_text(s, ":type", aux->type.data ? aux->type : STR(""));
	bind_blob(s, ":bytes", aux->bytes.data, aux->bytes.len);
	return db_done(s, err);
}

static int put_implausible(struct store *store, int64_t result_id, const struct measured *beyond,
			   struct err *err)
{
	struct statement *s =
		db_use(store, ST_IMPLAUSIBLE_PUT,
		       "INSERT INTO implausible (result_id, wall_ns, cpu_ns, max_rss_bytes)"
		       " VALUES (:result, :wall_ns, :cpu_ns, :max_rss_bytes)");

	bind_int(s, ":result", result_id);
	bind_int(s, ":wall_ns", beyond->wall_ns);
	bind_int(s, ":cpu_ns", beyond->cpu_ns);
	bind_int(s, ":max_rss_bytes", beyond->max_rss_bytes);
	return db_done(s, err);
}

static int put_usage(struct store *store, int64_t result_id, const struct result *result,
		     struct err *err)
{
	size_t i;

	if ((result->has_rusage && put_rusage(store, result_id, &result->rusage, err) < 0) ||
	    (result->has_file_pool &&
	     put_file_pool(store, result_id, &result->file_pool, err) < 0) ||
	    (result->has_input_root &&
	     put_input_root(store, result_id, &result->input_root, err) < 0))
		return -1;
	for (i = 0; i < result->expense_count; i++)
		if (put_expense(store, result_id, &result->expenses[i], err) < 0)
			return -1;
	for (i = 0; i < result->aux_count; i++)
		if (put_aux(store, result_id, i, &result->aux[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the result ---- */

static int set_found(struct store *store, int64_t lookup_id, struct err *err)
{
	struct statement *s = db_use(store, ST_RESULT_FOUND,
				     "UPDATE lookup SET state = 1, message = NULL"
				     " WHERE lookup_id = :lookup AND state <> 1");

	bind_int(s, ":lookup", lookup_id);
	return db_done(s, err);
}

/* "Counted" as in all sums: from the action cache, with POSIX usage. */
static int add_sums(struct store *store, int64_t result_id, const struct result_names *names,
		    const struct result *result, const struct measured *measured,
		    const int64_t steps[TIME_COUNT], struct err *err)
{
	int64_t exit_code = result->exit_code;
	struct summand summand = {
		.worker_id = names->worker_id,
		.request_id = names->request_id,
		.allotment_id = names->allotment_id,
		.counted = result->source == SOURCE_ACTION_CACHE && measured->cpu_ns != UNKNOWN,
		.failed = (exit_code != UNKNOWN && exit_code != 0) || signal_of(result).data,
		.wall_ns = measured->wall_ns,
		.cpu_ns = measured->cpu_ns,
		.rss_bytes = measured->max_rss_bytes,
		.first_ns = base_of(result),
		.last_ns = completion_of(result),
		.from_cache = result->source == SOURCE_ACTION_CACHE,
	};

	phases_of(steps, summand.phase_ns);
	if (summand.counted && read_columns(store, result_id, &summand.columns, err) < 0)
		return -1;
	return sums_add(store, &summand, err);
}

int result_put(struct store *store, const struct result_owner *owner, const struct result *result,
	       struct err *err)
{
	struct measured measured, beyond;
	bool is_beyond = measured_of(result, &measured, &beyond);
	struct result_names names;
	int64_t result_id, steps[TIME_COUNT];

	if (intern_names(store, owner->lookup_id, result, &names, err) < 0 ||
	    put_head(store, owner, result, &measured, &names, err) < 0)
		return -1;
	if (!db_changes(store))
		return 0;
	result_id = db_last_id(store);
	package_sums_new(store, result_id);
	steps_of(result, steps);
	if (put_times(store, result_id, result, steps, err) < 0 ||
	    put_usage(store, result_id, result, err) < 0 ||
	    (is_beyond && put_implausible(store, result_id, &beyond, err) < 0) ||
	    (!owner->known &&
	     add_sums(store, result_id, &names, result, &measured, steps, err) < 0))
		return -1;
	return 1;
}

/*
 * Where nothing is put it was found before; or the lookup is gone, since another
 * process moved the run to another instance, where the digest is wanted.
 */
int store_put_result(struct store *store, int64_t lookup_id, const struct result *result,
		     struct err *err)
{
	struct result_owner owner = {.lookup_id = lookup_id};
	int put = result_put(store, &owner, result, err);

	return put > 0 ? set_found(store, lookup_id, err) : put;
}

/* A result of a source, read back as the cache said it. */
#include "store_merge_db.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

/* In the order of the columns of result_time, each the step from the known one before it. */
static const enum result_time time_order[TIME_COUNT] = {
	TIME_QUEUED,	      TIME_WORKER_START,     TIME_FETCH_START,
	TIME_FETCH_COMPLETED, TIME_EXECUTION_START,  TIME_EXECUTION_COMPLETED,
	TIME_UPLOAD_START,    TIME_UPLOAD_COMPLETED, TIME_WORKER_COMPLETED,
};

static void read_times(struct columns *c, struct result *out)
{
	int64_t now_ns = next_int(c), step_ns;
	size_t i;

	for (i = 0; i < TIME_COUNT; i++) {
		step_ns = next_int(c);
		if (now_ns == UNKNOWN || step_ns == UNKNOWN ||
		    __builtin_add_overflow(now_ns, step_ns, &now_ns))
			out->time_ns[time_order[i]] = UNKNOWN;
		else
			out->time_ns[time_order[i]] = now_ns;
	}
}

/* The duration that was sent; one that no clock can give is not known, but was sent. */
static void read_wall(struct columns *c, int64_t wall_ns, struct result *out)
{
	if (next_int(c) == UNKNOWN)
		out->virtual_ns = UNKNOWN;
	else
		out->virtual_ns = wall_ns == UNKNOWN ? -1 : wall_ns;
}

static void read_rusage(struct columns *c, struct result *out)
{
	out->has_rusage = next_int(c) != UNKNOWN;
	out->rusage.user_ns = next_int(c);
	out->rusage.system_ns = next_int(c);
	out->rusage.minor_faults = next_int(c);
	out->rusage.major_faults = next_int(c);
	out->rusage.swaps = next_int(c);
	out->rusage.block_in = next_int(c);
	out->rusage.block_out = next_int(c);
	out->rusage.messages_sent = next_int(c);
	out->rusage.messages_received = next_int(c);
	out->rusage.signals_received = next_int(c);
	out->rusage.voluntary_ctx = next_int(c);
	out->rusage.involuntary_ctx = next_int(c);
}

static void read_file_pool(struct columns *c, struct result *out)
{
	out->has_file_pool = next_int(c) != UNKNOWN;
	out->file_pool.files_created = next_int(c);
	out->file_pool.files_count_peak = next_int(c);
	out->file_pool.files_bytes_peak = next_int(c);
	out->file_pool.reads = next_int(c);
	out->file_pool.read_bytes = next_int(c);
	out->file_pool.writes = next_int(c);
	out->file_pool.write_bytes = next_int(c);
	out->file_pool.truncates = next_int(c);
	out->has_input_root = next_int(c) != UNKNOWN;
	out->input_root.directories_resolved = next_int(c);
	out->input_root.directories_read = next_int(c);
	out->input_root.files_read = next_int(c);
}

static void read_request(struct columns *c, struct result *out)
{
	out->has_request = next_int(c) != UNKNOWN;
	out->request.tool_invocation_id = next_text(c);
	out->request.tool_name = next_text(c);
	out->request.tool_version = next_text(c);
	out->request.correlated_invocations_id = next_text(c);
	out->request.action_mnemonic = next_text(c);
	out->request.target_id = next_text(c);
	out->request.configuration_id = next_text(c);
}

static void read_usage(struct columns *c, struct result_usage *out)
{
	int64_t status = next_int(c);

	memset(out, 0, sizeof(*out));
	out->status = status == UNKNOWN ? 0 : (enum sample_status)status;
	out->settled = next_int(c) > 0;
	out->interval_ms = next_int(c);
	out->lives = next_int(c);
	out->figures.memory_samples = next_int(c);
	out->figures.working_set_peak_bytes = next_int(c);
	out->figures.anon_peak_bytes = next_int(c);
	out->figures.cpu_samples = next_int(c);
	out->figures.cpu_ns = next_int(c);
	out->figures.cpu_window_ns = next_int(c);
	out->cores_peak_milli = next_int(c);
}

static int keep_texts(struct merge *merge, struct result *result, struct err *err)
{
	struct str *const texts[] = {&result->rusage.termination_signal,
				     &result->status_message,
				     &result->worker,
				     &result->request.tool_invocation_id,
				     &result->request.tool_name,
				     &result->request.tool_version,
				     &result->request.correlated_invocations_id,
				     &result->request.action_mnemonic,
				     &result->request.target_id,
				     &result->request.configuration_id};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (keep_text(merge, &merge->rarely, *texts[i], texts[i], err) < 0)
			return -1;
	return 0;
}

static struct statement *use_result(struct merge *merge, int64_t result_id)
{
	struct statement *s = db_use(
		merge->from, ST_FROM_RESULT,
		"SELECT r.source, r.status_code, r.status_message, r.exit_code, w.name,"
		" ifnull(r.wall_ns, x.wall_ns), ifnull(r.max_rss_bytes, x.max_rss_bytes),"
		" r.termination_signal, (SELECT count(*) FROM expense"
		" WHERE result_id = r.result_id), (SELECT count(*) FROM aux_message"
		" WHERE result_id = r.result_id), t.base_ns, t.queued_step_ns,"
		" t.worker_start_step_ns, t.fetch_start_step_ns, t.fetch_completed_step_ns,"
		" t.execution_start_step_ns, t.execution_completed_step_ns,"
		" t.upload_start_step_ns, t.upload_completed_step_ns, t.worker_completed_step_ns,"
		" t.is_virtual, u.result_id, u.user_ns, u.system_ns, u.minor_faults,"
		" u.major_faults, u.swaps, u.block_in, u.block_out, u.messages_sent,"
		" u.messages_received, u.signals_received, u.voluntary_ctx, u.involuntary_ctx,"
		" f.result_id, f.files_created, f.files_count_peak, f.files_bytes_peak, f.reads,"
		" f.read_bytes, f.writes, f.write_bytes, f.truncates, i.result_id,"
		" i.directories_resolved, i.directories_read, i.files_read, q.request_id,"
		" q.invocation, q.tool_name, q.tool_version, q.correlated_invocations_id,"
		" q.action_mnemonic, q.target_id, q.configuration_id, c.status, c.settled,"
		" c.interval_ms, c.lives, c.memory_samples, c.working_set_peak_bytes,"
		" c.anon_peak_bytes, c.cpu_samples, c.cpu_ns, c.cpu_window_ns, c.cores_peak_milli"
		" FROM result r LEFT JOIN worker w ON w.worker_id = r.worker_id"
		" LEFT JOIN result_time t ON t.result_id = r.result_id"
		" LEFT JOIN rusage u ON u.result_id = r.result_id"
		" LEFT JOIN file_pool_usage f ON f.result_id = r.result_id"
		" LEFT JOIN input_root_usage i ON i.result_id = r.result_id"
		" LEFT JOIN request q ON q.request_id = r.request_id"
		" LEFT JOIN result_container c ON c.result_id = r.result_id"
		" LEFT JOIN implausible x ON x.result_id = r.result_id"
		" WHERE r.result_id = :result");

	bind_int(s, ":result", result_id);
	return s;
}

static int read_row(struct merge *merge, struct statement *s, struct result *out,
		    struct result_usage *out_usage, struct err *err)
{
	struct columns c = {s, 0};
	int64_t wall_ns, rss_bytes;
	struct str signal;

	memset(out, 0, sizeof(*out));
	out->source = (enum result_source)next_int(&c);
	out->status_code = next_int(&c);
	out->status_message = next_text(&c);
	out->exit_code = next_int(&c);
	out->worker = next_text(&c);
	wall_ns = next_int(&c);
	rss_bytes = next_int(&c);
	signal = next_text(&c);
	out->expense_count = (size_t)next_int(&c);
	out->aux_count = (size_t)next_int(&c);
	read_times(&c, out);
	read_wall(&c, wall_ns, out);
	read_rusage(&c, out);
	out->rusage.max_rss_bytes = rss_bytes;
	out->rusage.termination_signal = signal;
	read_file_pool(&c, out);
	read_request(&c, out);
	read_usage(&c, out_usage);
	return keep_texts(merge, out, err);
}

/* NULL is what SQLite makes of a number that is none. */
static double read_cost(struct statement *s)
{
	if (sqlite3_column_type(s->handle, 2) == SQLITE_NULL)
		return NAN;
	return sqlite3_column_double(s->handle, 2);
}

static int read_expenses(struct merge *merge, int64_t result_id, struct result *out,
			 struct err *err)
{
	struct statement *s;
	size_t at = 0;
	int more = 0;

	out->expenses =
		keep_room(merge, &merge->rarely, out->expense_count, sizeof(*out->expenses), err);
	if (!out->expenses)
		return -1;
	s = db_use(merge->from, ST_FROM_EXPENSES,
		   "SELECT name, currency, cost FROM expense WHERE result_id = :result"
		   " ORDER BY name");
	bind_int(s, ":result", result_id);
	while (at < out->expense_count && (more = db_step(s, err)) > 0) {
		struct expense *expense = &out->expenses[at++];

		expense->cost = read_cost(s);
		if (keep_text(merge, &merge->rarely, column_text(s, 0), &expense->name, err) < 0 ||
		    keep_text(merge, &merge->rarely, column_text(s, 1), &expense->currency, err) <
			    0)
			more = -1;
		if (more < 0)
			break;
	}
	db_reset(s);
	return more < 0 ? -1 : 0;
}

static int read_aux(struct merge *merge, int64_t result_id, struct result *out, struct err *err)
{
	struct statement *s;
	size_t at = 0;
	int more = 0;

	out->aux = keep_room(merge, &merge->rarely, out->aux_count, sizeof(*out->aux), err);
	if (!out->aux)
		return -1;
	s = db_use(merge->from, ST_FROM_AUX,
		   "SELECT type, bytes FROM aux_message WHERE result_id = :result ORDER BY idx");
	bind_int(s, ":result", result_id);
	while (at < out->aux_count && (more = db_step(s, err)) > 0) {
		struct aux_message *aux = &out->aux[at++];

		if (keep_text(merge, &merge->rarely, column_text(s, 0), &aux->type, err) < 0 ||
		    keep_text(merge, &merge->rarely, column_blob(s, 1), &aux->bytes, err) < 0)
			more = -1;
		if (more < 0)
			break;
	}
	db_reset(s);
	return more < 0 ? -1 : 0;
}

int merge_read_result(struct merge *merge, int64_t result_id, struct result *out,
		      struct result_usage *out_usage, struct err *err)
{
	struct statement *s = use_result(merge, result_id);
	int found = db_step(s, err);

	arena_reset(&merge->rarely);
	if (found > 0 && read_row(merge, s, out, out_usage, err) < 0)
		found = -1;
	db_reset(s);
	if (found <= 0)
		return found;
	if ((out->expense_count && read_expenses(merge, result_id, out, err) < 0) ||
	    (out->aux_count && read_aux(merge, result_id, out, err) < 0))
		return -1;
	return 1;
}

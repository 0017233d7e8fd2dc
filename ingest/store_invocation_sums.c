/*
 * What invocations' executions add up to over time: a sum of moments, which no later
 * result can be added to. An invocation whose results change is noted in invocation_due,
 * and the views make its figures themselves until store_sum_invocations() has kept them.
 *
 * _invocation_made says what the figures are, and check_invocation_sums.sql looks whether
 * they are that. SQLite takes ten times as long for them as sorting the moments here.
 */
#include "store_db.h"
#include "util/idset.h"
#include "util/intervals.h"

#define NOTE                                                                   \
	"INSERT INTO invocation_due (invocation) SELECT DISTINCT q.invocation" \
	" FROM result r CROSS JOIN request q ON q.request_id = r.request_id"   \
	" WHERE q.invocation IS NOT NULL AND q.invocation NOT IN"              \
	" (SELECT invocation FROM invocation_due) AND "

/* Executions of an invocation whose moments are sorted in memory, 40 bytes each. */
#define SORTED_MAX 32768
/* SQLite's sums of REAL are exact up to here, 104 days, and so the same as those of integers. */
#define EXACT_NS (INT64_C(1) << 53)
/* Of a worker: a set holds a bit of each up to the largest. */
#define WORKER_MAX (1 << 24)

/* The executions of an invocation, as _worked has them. */
struct worked {
	struct intervals waiting, running;
	struct idset seen, timed;
	int64_t results, workers, timed_workers, held_high, held_low;
	int64_t from_ns, to_ns;	   /* all moments; from > to: there are none */
	int64_t first_ns, last_ns; /* those of running, of which one without a length is none */
};

int invocation_sums_put(struct store *store, struct err *err)
{
	struct statement *s;

	if (!store->new_result_id)
		return 0;
	s = db_use(store, ST_INVOCATION_NEW, NOTE "r.result_id >= :first");
	bind_int(s, ":first", store->new_result_id);
	return db_done(s, err);
}

int invocation_sums_move(struct store *store, const struct attempt_key *key, struct err *err)
{
	struct statement *s =
		db_use(store, ST_INVOCATION_MOVED,
		       NOTE "r.source = 2 AND r.attempt_run_id = :run"
			    " AND r.attempt_span_id = :span AND r.attempt_idx = :idx");

	bind_attempt(s, key);
	return db_done(s, err);
}

int invocation_sums_leave(struct store *store, struct err *err)
{
	return db_exec(store, NOTE "r.result_id IN (SELECT id FROM gone_result)", err);
}

/* ---- an invocation's executions ---- */

static void worked_release(struct worked *worked)
{
	intervals_release(&worked->waiting);
	intervals_release(&worked->running);
	idset_release(&worked->seen);
	idset_release(&worked->timed);
}

static void count_once(struct idset *set, int64_t id, int64_t *count)
{
	if (id == UNKNOWN || idset_has(set, id))
		return;
	idset_add(set, id);
	++*count;
}

static void widen(int64_t from_ns, int64_t to_ns, int64_t *first_ns, int64_t *last_ns)
{
	if (from_ns < *first_ns)
		*first_ns = from_ns;
	if (to_ns > *last_ns)
		*last_ns = to_ns;
}

static void add_wait(struct worked *worked, int64_t taken_ns, int64_t waited_ns)
{
	intervals_add(&worked->waiting, taken_ns - waited_ns, taken_ns);
	widen(taken_ns - waited_ns, taken_ns, &worked->from_ns, &worked->to_ns);
}

static void add_run(struct worked *worked, int64_t worker_id, int64_t taken_ns, int64_t held_ns)
{
	count_once(&worked->timed, worker_id, &worked->timed_workers);
	worked->held_high += held_ns >> 32;
	worked->held_low += held_ns & UINT32_MAX;
	intervals_add(&worked->running, taken_ns, taken_ns + held_ns);
	widen(taken_ns, taken_ns + held_ns, &worked->from_ns, &worked->to_ns);
	if (held_ns > 0)
		widen(taken_ns, taken_ns + held_ns, &worked->first_ns, &worked->last_ns);
}

/* No sum and no difference of these is out of range. */
static bool is_usual(int64_t worker_id, int64_t taken_ns, int64_t waited_ns, int64_t held_ns)
{
	return (worker_id == UNKNOWN || (worker_id >= 0 && worker_id < WORKER_MAX)) &&
	       (taken_ns == UNKNOWN || (taken_ns >= 0 && taken_ns < INT64_MAX - EXACT_NS)) &&
	       waited_ns < EXACT_NS && held_ns < EXACT_NS;
}

/* False: it is none that is summed up here. */
static bool add_execution(struct worked *worked, struct statement *s)
{
	int64_t worker_id = column_int(s, 0), taken_ns = column_int(s, 1);
	int64_t waited_ns = column_int(s, 2), held_ns = column_int(s, 3);

	if (++worked->results > SORTED_MAX || !is_usual(worker_id, taken_ns, waited_ns, held_ns))
		return false;
	count_once(&worked->seen, worker_id, &worked->workers);
	if (waited_ns != UNKNOWN)
		add_wait(worked, taken_ns, waited_ns);
	if (held_ns != UNKNOWN)
		add_run(worked, worker_id, taken_ns, held_ns);
	return true;
}

static void bind_invocation(struct statement *s, const struct buf *invocation)
{
	bind_text(s, ":invocation", (struct str){invocation->data, invocation->len});
}

/* 1; 0: too many, or such times that SQLite's sums of them are rounded; -1. */
static int read_worked(struct store *store, const struct buf *invocation, struct worked *out,
		       struct err *err)
{
	struct statement *s = db_use(store, ST_INVOCATION_WORKED,
				     "SELECT worker_id, taken_ns, waited_ns, held_ns FROM _worked"
				     " WHERE invocation = :invocation");
	int more;

	*out = (struct worked){.from_ns = INT64_MAX, .to_ns = 0, .first_ns = INT64_MAX};
	bind_invocation(s, invocation);
	while ((more = db_step(s, err)) > 0)
		if (!add_execution(out, s)) {
			db_reset(s);
			return 0;
		}
	if (more < 0)
		return -1;
	return out->to_ns < out->from_ns || out->to_ns - out->from_ns < EXACT_NS;
}

/* ---- summing up anew ---- */

static void bind_measured(struct statement *s, struct intervals *list, const char *time,
			  const char *peak)
{
	int64_t covered_ns;
	size_t most;

	intervals_measure(list, &covered_ns, &most);
	bind_real(s, time, (double)covered_ns);
	bind_int(s, peak, (int64_t)most);
}

static int put_sum(struct store *store, const struct buf *invocation, struct worked *worked,
		   struct err *err)
{
	struct statement *s = db_use(
		store, ST_INVOCATION_SUM_PUT,
		"INSERT INTO invocation_sum (invocation, results, ended, begun, workers, timed,"
		" held_high, held_low, span_ns, ran_ns, waited_ns, peak_running, peak_waiting)"
		" VALUES (:invocation, :results, :ended, :begun, :workers, :timed, :high, :low,"
		" :span, :ran, :waited, :running, :waiting)");

	bind_invocation(s, invocation);
	bind_int(s, ":results", worked->results);
	bind_int(s, ":ended", (int64_t)worked->running.count);
	bind_int(s, ":begun", (int64_t)worked->waiting.count);
	bind_int(s, ":workers", worked->workers);
	bind_int(s, ":timed", worked->timed_workers);
	bind_int(s, ":high", worked->held_high);
	bind_int(s, ":low", worked->held_low);
	if (worked->first_ns < worked->last_ns)
		bind_real(s, ":span", (double)(worked->last_ns - worked->first_ns));
	bind_measured(s, &worked->running, ":ran", ":running");
	bind_measured(s, &worked->waiting, ":waited", ":waiting");
	return db_done(s, err);
}

static int with_invocation(struct statement *s, const struct buf *invocation, struct err *err)
{
	bind_invocation(s, invocation);
	return db_done(s, err);
}

/* As a parameter: compared with a subquery, the view would be made of all. */
static int put_made(struct store *store, const struct buf *invocation, struct err *err)
{
	return with_invocation(db_use(store, ST_INVOCATION_SUM_ANEW,
				      "INSERT INTO invocation_sum SELECT * FROM _invocation_made"
				      " WHERE invocation = :invocation"),
			       invocation, err);
}

/* Where all results are gone it has no row. *out_results: or as many as were too many. */
static int put_anew(struct store *store, const struct buf *invocation, int64_t *out_results,
		    struct err *err)
{
	struct worked worked;
	int usual = read_worked(store, invocation, &worked, err), result = usual;

	if (usual == 0)
		result = put_made(store, invocation, err);
	else if (usual > 0)
		result = worked.results ? put_sum(store, invocation, &worked, err) : 0;
	*out_results = worked.results;
	worked_release(&worked);
	return result;
}

static int sum_anew(struct store *store, const struct buf *invocation, int64_t *out_results,
		    struct err *err)
{
	if (with_invocation(db_use(store, ST_INVOCATION_SUM_DROP,
				   "DELETE FROM invocation_sum WHERE invocation = :invocation"),
			    invocation, err) < 0 ||
	    put_anew(store, invocation, out_results, err) < 0)
		return -1;
	return with_invocation(db_use(store, ST_INVOCATION_DUE_DROP,
				      "DELETE FROM invocation_due WHERE invocation = :invocation"),
			       invocation, err);
}

/* 1; 0: none is due; -1. */
static int first_due(struct store *store, struct buf *out, struct err *err)
{
	struct statement *s =
		db_use(store, ST_INVOCATION_DUE_FIRST,
		       "SELECT invocation FROM invocation_due ORDER BY invocation LIMIT 1");
	int found = db_step(s, err);

	buf_clear(out);
	if (found > 0)
		buf_add(out, column_text(s, 0).data, column_text(s, 0).len);
	db_reset(s);
	return found;
}

/* Of about as many executions as are sorted at once. 1: more may be due; 0; -1. */
static int sum_slice(struct store *store, struct buf *scratch, struct err *err)
{
	int64_t results, left = SORTED_MAX;
	int found;

	if (store_begin(store, err) < 0)
		return -1;
	while ((found = first_due(store, scratch, err)) > 0 && left > 0) {
		found = sum_anew(store, scratch, &results, err);
		if (found < 0)
			break;
		left -= results;
	}
	if (found < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err) < 0 ? -1 : found;
}

int store_sum_invocations(struct store *store, struct err *err)
{
	struct buf scratch = BUF_INIT;
	int found = first_due(store, &scratch, err);

	while (found > 0)
		found = sum_slice(store, &scratch, err);
	buf_release(&scratch);
	return found;
}

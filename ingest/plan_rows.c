/* Which invocations executed something, and what. */
#include "plan_data.h"

#include "plan_table.h"
#include "report_sql.h"
#include "util/grid.h"

#include <stdlib.h>
#include <string.h>

/* ---- invocations ---- */

void plan_executions_release(struct plan_executions *executions)
{
	free(executions->list);
	plan_texts_release(&executions->texts);
	*executions = (struct plan_executions){0};
}

static int take_execution(void *context, const struct row *row, struct err *err)
{
	struct plan_executions *all = context;
	const struct value *v = row->values;

	(void)err;
	all->list = plan_grow(all->list, all->count, sizeof(*all->list));
	all->list[all->count++] =
		(struct plan_execution){.invocation = plan_keep(&all->texts, &v[0]),
					.project = plan_keep(&all->texts, &v[1]),
					.salt = plan_keep(&all->texts, &v[2]),
					.logged = v[3].integer != 0,
					.cache = plan_keep(&all->texts, &v[4])};
	return 0;
}

/* How many trace ids `id` begins; *out_place is that of the last one. */
static size_t count_matches(const struct plan_executions *all, const char *id, size_t *out_place)
{
	size_t i, count = 0;

	for (i = 0; i < all->count; i++)
		if (str_starts(all->list[i].invocation, id)) {
			*out_place = i;
			count++;
		}
	return count;
}

static int refuse(const char *id, size_t matches, struct err *err)
{
	if (matches)
		return err_set(err, ERR_USAGE,
			       "--execution %s: %zu executions begin so; write more of it", id,
			       matches);
	return err_set(err, ERR_USAGE,
		       "--execution %s: nothing is known that it executed; see "
		       "br2-ingest sql \"SELECT invocation, project, salt FROM executions\"",
		       id);
}

/* Keeps those that an id names. */
static int choose(struct plan_executions *all, const char *const *ids, size_t count,
		  struct err *err)
{
	bool *chosen = xcalloc(all->count + 1, sizeof(*chosen));
	size_t i, place, matches, kept = 0;
	int rc = 0;

	for (i = 0; i < count && rc == 0; i++) {
		matches = count_matches(all, ids[i], &place);
		if (matches == 1)
			chosen[place] = true;
		else
			rc = refuse(ids[i], matches, err);
	}
	for (i = 0; i < all->count && rc == 0; i++)
		if (chosen[i])
			all->list[kept++] = all->list[i];
	if (rc == 0)
		all->count = kept;
	free(chosen);
	return rc;
}

int plan_executions_load(struct store *store, const struct report_scope *scope,
			 const char *const *ids, size_t count, struct plan_executions *out,
			 struct err *err)
{
	struct param runs = {":runs",
			     {.type = VALUE_TEXT, .text = {scope->runs.data, scope->runs.len}}};

	*out = (struct plan_executions){0};
	if (store_query(store, report_sql("plan_executions"), &runs, 1, take_execution, out, err) <
	    0)
		return -1;
	if (count)
		return choose(out, ids, count, err);
	if (!out->count)
		return err_set(err, ERR_USAGE,
			       "%s: no execution is known; br2-ingest with the server there "
			       "reads results, and results tell of executions",
			       scope->title.data);
	return 0;
}

/* ---- what one executed ---- */

/* Known, and of a clock that was set. */
static bool is_time(int64_t ns)
{
	return ns != UNKNOWN && ns > 0;
}

static int take_row(void *context, const struct row *row, struct err *err)
{
	struct plan_rows *rows = context;
	const struct value *v = row->values;
	struct plan_row one = {plan_integer(&v[0]), plan_integer(&v[1]), plan_integer(&v[2]),
			       plan_integer(&v[3]), plan_integer(&v[4]), plan_integer(&v[5]),
			       v[6].integer,	    v[7].integer,	 plan_integer(&v[8]),
			       v[9].integer == 1};

	(void)err;
	if (!is_time(one.start_ns) || !is_time(one.completed_ns) ||
	    one.completed_ns < one.start_ns) {
		rows->no_times++;
		return 0;
	}
	if (!is_time(one.arrival_ns) || one.arrival_ns > one.start_ns) {
		rows->no_queued++;
		one.arrival_ns = one.start_ns;
	}
	if (one.run_ns < 0)
		one.run_ns = UNKNOWN;
	rows->list = plan_grow(rows->list, rows->count, sizeof(*rows->list));
	rows->list[rows->count++] = one;
	return 0;
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* The workers took them in this order; ids say nothing, and come last. */
static int by_arrival(const void *a, const void *b)
{
	const struct plan_row *x = a, *y = b;
	int by = order(x->arrival_ns, y->arrival_ns);

	if (!by)
		by = order(x->start_ns, y->start_ns);
	if (!by)
		by = order(x->completed_ns, y->completed_ns);
	if (!by)
		by = order(x->worker_id, y->worker_id);
	return by ? by : order(x->package_id, y->package_id);
}

/* A worker takes one action at a moment: what began on it at the same nanosecond is the same. */
static bool is_same(const struct plan_row *a, const struct plan_row *b)
{
	return a->worker_id == b->worker_id && a->start_ns == b->start_ns &&
	       a->completed_ns == b->completed_ns && a->arrival_ns == b->arrival_ns;
}

static void drop_doubles(struct plan_rows *rows)
{
	size_t i, kept = 0;

	for (i = 0; i < rows->count; i++)
		if (!kept || !is_same(&rows->list[i], &rows->list[kept - 1]))
			rows->list[kept++] = rows->list[i];
	rows->count = kept;
	for (i = 0; i < kept; i++)
		rows->no_cpu += rows->list[i].run_ns == UNKNOWN || rows->list[i].cpu_ns == UNKNOWN;
}

int plan_rows_load(struct store *store, const struct plan_execution *execution,
		   struct plan_rows *out, struct err *err)
{
	struct param invocation = {":invocation",
				   {.type = VALUE_TEXT, .text = execution->invocation}};

	plan_rows_release(out);
	if (store_query(store, report_sql("plan_rows"), &invocation, 1, take_row, out, err) < 0)
		return -1;
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_arrival);
	drop_doubles(out);
	return 0;
}

void plan_rows_release(struct plan_rows *rows)
{
	free(rows->list);
	*rows = (struct plan_rows){0};
}

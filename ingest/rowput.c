#include "rowput.h"

#include "util/mem.h"

#include <stdlib.h>

struct rowput {
	struct slice *slice;
	struct store *store; /* the slice's */
	int64_t run_id;
	int64_t stored_until; /* UNKNOWN: not asked yet; only the file's first run has any */
};

struct rowput *rowput_new(struct slice *slice)
{
	struct rowput *put = xcalloc(1, sizeof(*put));

	put->slice = slice;
	put->store = slice->store;
	put->stored_until = UNKNOWN;
	return put;
}

void rowput_free(struct rowput *put)
{
	free(put);
}

/* ---- rows ---- */

static int put_run(struct rowput *put, const struct run_row *row, struct err *err)
{
	if (store_put_run(put->store, &row->facts, &row->sighting, &put->run_id, err) < 0)
		return -1;
	if (put->stored_until != UNKNOWN || put->run_id == STORE_PRUNED)
		return 0;
	return store_stored_until(put->store, put->run_id, row->sighting.path, &put->stored_until,
				  err);
}

static int put_instance(struct rowput *put, const struct instance_row *row, struct err *err)
{
	struct instance_choice stored;
	int found = 0;

	if (row->if_none)
		found = store_get_instance(put->store, put->run_id, &stored, err);
	if (found)
		return found < 0 ? -1 : 0;
	return store_put_instance(put->store, put->run_id, &row->choice, err);
}

static int put_action(struct rowput *put, const struct action_row *row, struct err *err)
{
	if ((int64_t)row->seq <= put->stored_until)
		return 0;
	if (store_put_action(put->store, put->run_id, row->span_id, row->seq, row->start_ns,
			     &row->action, err) < 0)
		return -1;
	return slice_add(put->slice, SLICE_ACTION, err);
}

static int put_graph(struct rowput *put, const struct graph_row *row, struct err *err)
{
	const struct path *paths = row->graph.paths;

	if (store_put_graph(put->store, put->run_id, row->seq, &row->graph, err) < 0)
		return -1;
	return slice_add(
		put->slice,
		SLICE_ACTION * (1 + paths[PATH_CRITICAL].count + paths[PATH_SLOWEST].count), err);
}

static bool is_passed_over(const struct rowput *put, const struct log_row *row)
{
	return put->run_id == STORE_PRUNED && row->kind != ROW_RUN && row->kind != ROW_RUN_END;
}

static int put_row(struct rowput *put, const struct log_row *row, struct err *err)
{
	if (is_passed_over(put, row))
		return 0;
	switch (row->kind) {
	case ROW_RUN:
		return put_run(put, &row->run, err);
	case ROW_CONFIG:
		return store_put_config(put->store, put->run_id, row->config.values,
					row->config.count, err);
	case ROW_INSTANCE:
		return put_instance(put, &row->instance, err);
	case ROW_CANDIDATES:
		return store_put_candidates(put->store, put->run_id, row->candidates.choices,
					    row->candidates.count, err);
	case ROW_ACTION:
		return put_action(put, &row->action, err);
	case ROW_STARTED:
		return store_put_in_flight(put->store, put->run_id, &row->started.started, err);
	case ROW_DROPPED:
		return store_drop_in_flight(put->store, put->run_id, row->dropped, err);
	case ROW_GRAPH:
		return put_graph(put, &row->graph, err);
	case ROW_RUN_END:
		break;
	}
	put->stored_until = 0; /* numbers begin anew */
	return slice_commit(put->slice, err);
}

int rowput_rows(struct rowput *put, const struct rows *rows, struct err *err)
{
	const struct log_row *row;

	for (row = rows->first; row; row = row->next)
		if (slice_open(put->slice, err) < 0 || put_row(put, row, err) < 0)
			return -1;
	return 0;
}

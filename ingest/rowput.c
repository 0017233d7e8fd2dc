#include "rowput.h"

#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>

struct rowput {
	struct store *store;
	int64_t run_id;
	int64_t stored_until; /* UNKNOWN: not asked yet; only the file's first run has any */
	bool in_transaction;
	size_t rows; /* since the last commit */
};

struct rowput *rowput_new(struct store *store)
{
	struct rowput *put = xcalloc(1, sizeof(*put));

	put->store = store;
	put->stored_until = UNKNOWN;
	return put;
}

void rowput_free(struct rowput *put)
{
	if (!put)
		return;
	if (put->in_transaction)
		store_rollback(put->store);
	free(put);
}

/* ---- slices ---- */

static int open_slice(struct rowput *put, struct err *err)
{
	if (put->in_transaction)
		return 0;
	if (store_begin(put->store, err) < 0)
		return -1;
	put->in_transaction = true;
	return 0;
}

static int close_slice(struct rowput *put, struct err *err)
{
	if (!put->in_transaction)
		return 0;
	put->in_transaction = false;
	put->rows = 0;
	return store_commit(put->store, err);
}

static int count_rows(struct rowput *put, size_t count, struct err *err)
{
	put->rows += count;
	return put->rows < STORE_SLICE_ACTIONS ? 0 : close_slice(put, err);
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
	return count_rows(put, 1, err);
}

static int put_graph(struct rowput *put, const struct graph_row *row, struct err *err)
{
	const struct path *paths = row->graph.paths;

	if (store_put_graph(put->store, put->run_id, row->seq, &row->graph, err) < 0)
		return -1;
	return count_rows(put, 1 + paths[PATH_CRITICAL].count + paths[PATH_SLOWEST].count, err);
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
	return close_slice(put, err);
}

int rowput_rows(struct rowput *put, const struct rows *rows, struct err *err)
{
	const struct log_row *row;

	for (row = rows->first; row; row = row->next)
		if (open_slice(put, err) < 0 || put_row(put, row, err) < 0)
			return -1;
	return 0;
}

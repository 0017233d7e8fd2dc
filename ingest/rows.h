/*
 * What the events of a log amount to, on the way from the thread that reads the
 * log to the one that stores: rows in the order in which they are put, in a batch
 * that owns all that they point to.
 */
#ifndef BR2_ROWS_H
#define BR2_ROWS_H

#include "model.h"
#include "store.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Of an action's name or error no more is kept: a thousand times what is usual, and
 * little enough for every reader to have one waiting.
 */
#define ROWS_TEXT_MAX ((size_t)1 << 20)
/* Of all texts of one action, or of one path, together: a record may hold thousands. */
#define ROWS_ROW_MAX ((size_t)5 << 18)

enum row_kind {
	ROW_RUN,	/* facts of the run that the rows after it belong to */
	ROW_CONFIG,	/* its -c values */
	ROW_INSTANCE,	/* the name under which its digests are asked */
	ROW_CANDIDATES, /* all names that may be tried, best first */
	ROW_ACTION,
	ROW_STARTED,
	ROW_DROPPED, /* an action that will never end */
	ROW_GRAPH,
	ROW_RUN_END,
};

struct run_row {
	struct run_facts facts;
	struct sighting sighting;
};

struct config_row {
	struct config_value *values;
	size_t count;
};

struct instance_row {
	struct instance_choice choice;
	bool if_none; /* leave the run's own where it has one */
};

struct candidates_row {
	struct instance_choice *choices;
	size_t count;
};

struct action_row {
	uint64_t span_id, seq;
	int64_t start_ns;
	struct action action;
};

struct started_row {
	struct started started;
	struct action action; /* started.action points here */
};

struct graph_row {
	uint64_t seq;
	struct build_graph graph;
};

struct log_row {
	enum row_kind kind;
	struct log_row *next;
	union {
		struct run_row run;
		struct config_row config;
		struct instance_row instance;
		struct candidates_row candidates;
		struct action_row action;
		struct started_row started;
		struct graph_row graph;
		uint64_t dropped; /* span id */
	};
};

struct rows {
	struct arena arena;
	struct log_row *first, *last;
	size_t count;
};

void rows_init(struct rows *rows);
void rows_release(struct rows *rows);
/* *to takes all rows; *from is empty then. */
void rows_move(struct rows *to, struct rows *from);
/* Bytes that the batch takes. */
size_t rows_bytes(const struct rows *rows);

/*
 * Each copies what it is given, with all texts; of an action's, a path's and a run's the first
 * ROWS_TEXT_MAX bytes, and together the first ROWS_ROW_MAX.
 */
void rows_add_run(struct rows *rows, const struct run_facts *facts,
		  const struct sighting *sighting);
void rows_add_config(struct rows *rows, const struct config_value *values, size_t count);
void rows_add_instance(struct rows *rows, const struct instance_choice *choice, bool if_none);
void rows_add_candidates(struct rows *rows, const struct instance_choice *choices, size_t count);
void rows_add_action(struct rows *rows, uint64_t span_id, uint64_t seq, int64_t start_ns,
		     const struct action *action);
void rows_add_started(struct rows *rows, const struct started *started);
void rows_add_dropped(struct rows *rows, uint64_t span_id);
void rows_add_graph(struct rows *rows, uint64_t seq, const struct build_graph *graph);
void rows_add_run_end(struct rows *rows);

#endif

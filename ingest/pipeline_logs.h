/*
 * The part of the pipeline that takes in logs: which of them are unknown, their
 * rows into the store, what is said and counted of each.
 */
#ifndef BR2_PIPELINE_LOGS_H
#define BR2_PIPELINE_LOGS_H

#include "discover.h"
#include "pipeline.h"
#include "places.h"
#include "slice.h"
#include "util/err.h"

/* Logs that are still to be stored. */
struct logs_left {
	const struct log_file *const *files;
	size_t count;
};

struct log_intake {
	const struct ingest_options *options;
	const struct places *places;
	const struct log_list *list;
	struct slice *slice; /* NULL: only count */
	struct ingest_tally *tally;
	/* Where rows are stored, in between: after each batch, and after each log that was read. */
	int (*on_batch)(void *context, struct err *err);
	int (*on_log)(void *context, const struct log_file *file, struct logs_left *left,
		      struct err *err);
	void *context;
};

/*
 * Takes in all logs of the list. One bad log never spoils the others: it is said
 * and counted. -1: the store failed, or interrupted.
 */
int pipeline_take_logs(const struct log_intake *intake, struct err *err);

#endif

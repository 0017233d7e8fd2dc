/*
 * The part of the pipeline that takes in logs: which of them are unknown, their
 * rows into the store, what is said and counted of each.
 */
#ifndef BR2_PIPELINE_LOGS_H
#define BR2_PIPELINE_LOGS_H

#include "discover.h"
#include "pipeline.h"
#include "places.h"
#include "store.h"
#include "util/err.h"

struct log_intake {
	const struct ingest_options *options;
	const struct places *places;
	const struct log_list *list;
	struct store *store; /* NULL: only count */
	struct ingest_tally *tally;
};

/*
 * Takes in all logs of the list. One bad log never spoils the others: it is said
 * and counted. -1: the store failed, or interrupted.
 */
int pipeline_take_logs(const struct log_intake *intake, struct err *err);

#endif

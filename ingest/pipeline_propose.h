/*
 * A part of the pipeline: what configuration and flags say of the instance name and the
 * digest function -> the runs of a log. It counts for logs that were read before, too: it
 * may have been mended since. Only runs whose name no answer has proved take it.
 */
#ifndef BR2_PIPELINE_PROPOSE_H
#define BR2_PIPELINE_PROPOSE_H

#include "pipeline.h"
#include "places.h"
#include "store.h"

struct proposing {
	struct store *store;
	const struct ingest_options *options;
	const struct places *places;
};

/* Inside a transaction: to the runs that the file has shown so far. */
int propose(const struct proposing *proposing, const struct log_file *file, struct err *err);
/* The same once the file is read; nothing is done if all this was proposed to them before. */
int propose_news(const struct proposing *proposing, const struct log_file *file, struct err *err);
/*
 * After all that was asked: tells of logs whose runs belong to another cluster than the one
 * that --cache names, and stay there. `asked`: a server was there, so that none of them is
 * still to be decided.
 */
int propose_tell(const struct proposing *proposing, const struct log_list *list, bool asked,
		 struct err *err);

#endif

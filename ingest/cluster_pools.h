/*
 * Pools of workers as the chart's values files say them: below `pools`, by name,
 * enabled, instancePrefix, worker (concurrency, replicas, resources.requests and
 * .limits) and scaling (min, max, cooldownSeconds). Everything else in the files
 * is the chart's own and not looked at.
 */
#ifndef BR2_CLUSTER_POOLS_H
#define BR2_CLUSTER_POOLS_H

#include "cluster.h"

#include <stddef.h>

#define POOLS_MAX 256

struct pool_sink {
	void *context;
	/* 0, or -1 to end the reading. Texts are borrowed during the call. */
	int (*pool)(void *context, const struct pool_spec *pool, struct err *err);
	/* Something to tell the user; reading goes on. One line. */
	void (*warning)(void *context, const char *text);
	/* NULL, or told of each pool that the files name, also of one that is left out then. */
	void (*named)(void *context, struct str pool);
};

struct pool_tally {
	uint64_t pools; /* given to the sink */
	uint64_t bad;	/* left out, each with a warning */
};

/* A values file. */
struct pool_text {
	const char *name; /* for messages: its path */
	struct str text;
};

/*
 * Merges the files, the later ones over the earlier, and gives each pool to the
 * sink. Where only a limit stands it is the request, too, as Kubernetes has it;
 * without `scaling`, worker.replicas is how many workers there are. A pool that
 * cannot be read, or that no cluster would take, is warned of and left out.
 * -1: the sink's own error; ERR_FORMAT, ERR_LIMIT: a file that is no YAML, no
 * `pools` in any of them, too much. The text says where.
 */
int cluster_pools_read(const struct pool_text *files, size_t count, const struct pool_sink *sink,
		       struct pool_tally *tally, struct err *err);

#endif

/*
 * Time series as Prometheus keeps them: labels, and the samples as they were
 * scraped, with their own times. Plain values; part of the cluster stage.
 */
#ifndef BR2_CLUSTER_SERIES_H
#define BR2_CLUSTER_SERIES_H

#include "util/err.h"
#include "util/str.h"

#include <stdbool.h>
#include <stdint.h>

struct series_label {
	struct str name, value;
};

struct series_sample {
	int64_t time_ns; /* of the scrape, or the exporter's own */
	double value;	 /* finite */
};

/* Samples in ascending order of time, at least one. */
struct series {
	const struct series_label *labels;
	size_t label_count;
	const struct series_sample *samples;
	size_t sample_count;
};

/* Takes one series, all of it borrowed during the call. -1 stops the reading. */
typedef int series_fn(void *context, const struct series *series, struct err *err);

/* NULL where there is no such label: an empty one is none to Prometheus. */
struct str series_label(const struct series *series, const char *name);

/*
 * Two scrape jobs may deliver the same container twice. One counts: "kubelet",
 * else the first by name; a series without the label comes last. Is it a?
 */
bool series_job_before(struct str a, struct str b);

#endif

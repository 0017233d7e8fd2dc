/*
 * Joins the stored executions, Prometheus and the store: what containers used
 * while actions ran. Part of pipeline_cluster.
 */
#ifndef BR2_PIPELINE_SAMPLES_H
#define BR2_PIPELINE_SAMPLES_H

#include "cluster_samples.h"
#include "store.h"

struct sampling {
	struct prometheus *prometheus;
	struct store *store;
	const char *cache;		  /* the user's name for the cluster */
	struct cluster_selector selector; /* names the container that runs actions */
	int64_t oldest_ns;		  /* Prometheus knows nothing older */
	int64_t settled_ns;		  /* what is younger may not be scraped yet */
	int64_t now_ns;
};

/*
 * Asks about the executions that Prometheus was not asked about, or that were too
 * young then, and stores what it answers. 0; 1: Prometheus failed, as `fault`
 * says, and what was read before is stored; -1: the store failed.
 */
int sampling_run(const struct sampling *sampling, struct err *fault, struct err *err);

#endif

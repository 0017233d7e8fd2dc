/*
 * What Prometheus knows of containers that ended: asks for the few metrics of
 * kube-state-metrics and cAdvisor that tell of it, and turns their samples into
 * the structs of cluster.h. These metrics outlive the pods by the server's
 * retention, unlike a list of pods.
 *
 * Memory: runs of equal samples are kept as one, at most EVIDENCE_MAX bytes.
 */
#ifndef BR2_CLUSTER_EVIDENCE_H
#define BR2_CLUSTER_EVIDENCE_H

#include "cluster.h"
#include "cluster_prometheus.h"

#define EVIDENCE_MAX ((size_t)64 << 20)

/* Whose containers. NULL: the default; "": all. */
struct cluster_selector {
	const char *namespace; /* default "buildbarn" */
	const char *container; /* default "runner" */
};

/* What it says, or the default. Borrowed. */
const char *cluster_selector_namespace(const struct cluster_selector *selector);
const char *cluster_selector_container(const struct cluster_selector *selector);
/* "namespace/container". Caller frees. */
char *cluster_selector_text(const struct cluster_selector *selector);

/*
 * What happened after from_ns and not after to_ns, with what five minutes on
 * either side tell of it. Terminations: each (pod, container, second) once, of
 * all that the metrics name in that time, also where they happened before it.
 * Kills in containers that lived on: each rise of a counter, so that the same
 * rise is the same row whatever time is asked for. Adds to *tally.
 *
 * -1: as prometheus_range(), the sink's own error, or ERR_LIMIT: more than
 * EVIDENCE_MAX. Nothing was given to the sink then but what came before its own error.
 */
int cluster_evidence_read(struct prometheus *prometheus, const struct cluster_selector *selector,
			  int64_t from_ns, int64_t to_ns, const struct cluster_sink *sink,
			  struct cluster_tally *tally, struct err *err);

#endif

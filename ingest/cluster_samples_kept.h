/*
 * Samples of containers, kept by pod and life: those of the pods that are asked
 * about, one scrape job each. Part of cluster_samples.
 */
#ifndef BR2_CLUSTER_SAMPLES_KEPT_H
#define BR2_CLUSTER_SAMPLES_KEPT_H

#include "cluster_samples.h"
#include "cluster_samples_window.h"

enum sampled { SAMPLED_WORKING_SET, SAMPLED_ANON, SAMPLED_CPU, SAMPLED_COUNT };

/* One life of a container: what a restart begins, under a new id. */
struct life {
	char *namespace, *id;	  /* as its series name them; "" */
	char *job[SAMPLED_COUNT]; /* that delivers it; NULL: none says so, or no samples */
	struct sample_list of[SAMPLED_COUNT]; /* count 0: no such series */
};

/* A pod that is asked about. */
struct kept_pod {
	struct str name;
	const struct sample_window **windows; /* into kept_pods.windows; by time */
	size_t window_count;
	struct life *lives;
	size_t life_count, life_room;
};

struct kept_pods {
	const struct sample_window **windows; /* by pod, then time */
	struct kept_pod *items;		      /* by name */
	size_t count;
	size_t bytes;	  /* of samples and lives */
	bool too_much;	  /* more than SAMPLES_MAX: the last series was not kept */
	int64_t first_ns; /* of any pod's samples; INT64_MAX: none */
};

/* Borrows the windows. */
void kept_pods_init(struct kept_pods *pods, const struct sample_window *windows, size_t count);
void kept_pods_release(struct kept_pods *pods);
/* Keeps a series if its pod is asked about. -1 (ERR_LIMIT): too_much. */
int kept_pods_add(struct kept_pods *pods, enum sampled metric, const struct series *series,
		  struct err *err);
/* Pods of one name in several namespaces: whose container it was cannot be told. */
bool kept_pod_is_ambiguous(const struct kept_pod *pod);

#endif

/*
 * What is kept of many series: runs of equal samples, grouped by the container
 * that they are about. Part of cluster_evidence.
 */
#ifndef BR2_CLUSTER_KEPT_H
#define BR2_CLUSTER_KEPT_H

#include "cluster_series.h"

enum kept_metric {
	KEPT_NONE = 0,
	KEPT_INFO,	  /* of the pod; value 1 */
	KEPT_CPU_REQUEST, /* cores */
	KEPT_CPU_LIMIT,
	KEPT_MEMORY_REQUEST, /* bytes */
	KEPT_MEMORY_LIMIT,
	KEPT_RESTARTS,
	KEPT_ENDED,  /* the last termination: seconds since the epoch */
	KEPT_REASON, /* its reason: value 1, text in KEPT_TEXT_REASON */
	KEPT_EXIT,   /* its exit code */
	KEPT_OOM,    /* kills by the kernel since the container began */
};

enum kept_text {
	KEPT_NAMESPACE,
	KEPT_POD,
	KEPT_UID,
	KEPT_CONTAINER,
	KEPT_ID,	/* only cAdvisor's series have one, and they have no uid */
	KEPT_KEY_COUNT, /* a group: equal up to here */
	KEPT_JOB = KEPT_KEY_COUNT,
	KEPT_NODE,
	KEPT_TEXT_REASON,
	KEPT_TEXT_COUNT,
};

/* A series had this value from its first to its last sample here. */
struct kept {
	enum kept_metric metric;
	struct str text[KEPT_TEXT_COUNT];
	double value;
	int64_t first_ns, last_ns;
};

struct kept_list {
	struct kept **items;
	size_t count, room;
	size_t bytes, max; /* memory used, and its ceiling */
};

void kept_init(struct kept_list *list, size_t max);
void kept_release(struct kept_list *list);

/* -1 (ERR_LIMIT): more than the ceiling. */
int kept_add(struct kept_list *list, enum kept_metric metric, const struct series *series,
	     struct err *err);

/* By group, then metric, then time. The pod's own group stands before its containers'. */
void kept_sort(struct kept_list *list);
/* The end of the group that begins at `start`, which is below count. */
size_t kept_group_end(const struct kept_list *list, size_t start);
/* Do both agree in the first `count` texts? */
bool kept_same(const struct kept *a, const struct kept *b, size_t count);

#endif

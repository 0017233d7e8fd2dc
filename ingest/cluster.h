/*
 * What a cluster says of its containers: plain structs that flow from the two
 * readers (cluster_pods.h, cluster_prometheus.h) to the store. What they say is
 * passed on as it is; whether it tells of a kill for memory is the views' to
 * judge, because each trap in it (OOMKilled with exit code 143, Error with 137)
 * needs the action beside it.
 *
 * Unknown is UNKNOWN or NULL, never 0 or "". Texts are borrowed during the call.
 */
#ifndef BR2_CLUSTER_H
#define BR2_CLUSTER_H

#include "model.h"
#include "util/err.h"

/* Who says so, the nearest to the action first. */
enum evidence_layer {
	LAYER_ACTION = 1,     /* its own result: exit code, termination signal */
	LAYER_TEXT = 2,	      /* what it or the client wrote */
	LAYER_PODS = 3,	      /* a list of pods */
	LAYER_PROMETHEUS = 4, /* kube-state-metrics and cAdvisor */
};

/*
 * A container of a pod, and what it may use: what is enacted, where the pod
 * says that, else what its spec wants. Identity: (namespace, pod, uid,
 * container). UNKNOWN limit: none is set, or it is not known.
 */
struct container_spec {
	enum evidence_layer layer;
	struct str namespace, pod, uid, node, container;
	int64_t cpu_request_millicores, cpu_limit_millicores;
	int64_t memory_request_bytes, memory_limit_bytes;
	int64_t restart_count;
};

/*
 * A container's process ended, for whatever reason. Identity: (namespace, pod,
 * uid, container, finished_ns) in every layer; finished_ns has whole seconds.
 */
struct termination {
	enum evidence_layer layer;
	struct str namespace, pod, uid, container;
	struct str container_id; /* "containerd://…"; Prometheus does not say it */
	struct str reason;	 /* OOMKilled, Error, Completed, … as the runtime put it */
	int64_t exit_code, signal;
	int64_t started_ns, finished_ns;
	int64_t restarts; /* the container's count when this was seen: a step of more than
			     one between two rows is a termination that nobody saw */
};

/*
 * The kernel killed processes in a container that lived on: its counter rose by
 * `count` after first_ns and not later than last_ns. Identity: (namespace, pod,
 * container, container_id, last_ns).
 */
struct oom_count {
	enum evidence_layer layer;
	struct str namespace, pod, container;
	struct str container_id; /* the cgroup's path, as cAdvisor names it */
	int64_t first_ns; /* UNKNOWN: since the container began; not before the read window */
	int64_t last_ns;
	int64_t count;
};

/* Takes what a reader finds, in no order. Each returns 0, or -1 to stop it. */
struct cluster_sink {
	void *context;
	int (*container)(void *context, const struct container_spec *spec, struct err *err);
	int (*termination)(void *context, const struct termination *end, struct err *err);
	int (*oom)(void *context, const struct oom_count *oom, struct err *err);
	/* Something to tell the user; reading goes on. One line. */
	void (*warning)(void *context, const char *text);
};

/* How much was looked at: what an empty answer is worth. */
struct cluster_tally {
	uint64_t pods, containers, terminations, ooms; /* given to the sink; pods: seen */
	uint64_t passed_over; /* list items and series that are something else */
	uint64_t malformed;   /* ones that cannot be read, or values in them */
	uint64_t unseen;      /* terminations that only a restart count tells of */
	int64_t newest_ns;    /* newest finishedAt, newest sample; UNKNOWN: none */
	int64_t oldest_ns;    /* oldest start of a pod or container that a list names; UNKNOWN */
};

#define CLUSTER_TALLY_INIT                            \
	{                                             \
		0, 0, 0, 0, 0, 0, 0, UNKNOWN, UNKNOWN \
	}

#endif

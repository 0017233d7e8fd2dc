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

/* What samples tell of one stretch of time. Bytes and times are UNKNOWN where there is no sample.
 */
struct container_figures {
	int64_t memory_samples;
	int64_t working_set_peak_bytes, anon_peak_bytes;
	int64_t cpu_samples;
	int64_t cpu_ns, cpu_window_ns; /* the counter's rises, and the time that they took */
};

#define CONTAINER_FIGURES_INIT                           \
	{                                                \
		0, UNKNOWN, UNKNOWN, 0, UNKNOWN, UNKNOWN \
	}

/* result_container.status; the better one is the smaller one. */
enum sample_status {
	SAMPLE_OK = 1,	      /* there are samples in its time */
	SAMPLE_NONE = 2,      /* its pod has some before or after it */
	SAMPLE_NO_SERIES = 3, /* other pods have */
	SAMPLE_EXPIRED = 4,   /* Prometheus knows no container from so long ago */
	SAMPLE_SHARED = 5,    /* several actions ran in the container at a time */
};

/* What its container used while an execution ran. Identity: result_id. */
struct result_usage {
	int64_t result_id;
	enum sample_status status;
	bool settled;	     /* Prometheus will not know more of it */
	int64_t interval_ms; /* median time between two samples around it */
	int64_t lives; /* containers that have samples in it: figures span them, rises do not */
	struct container_figures figures;
	int64_t cores_peak_milli; /* of the steepest rise */
};

/* The same of one life of a container and minute. Identity: all but the figures. */
struct minute_usage {
	struct str namespace, pod, container;
	struct str container_id;	  /* as in struct oom_count */
	int64_t minute;			  /* since the epoch */
	struct container_figures figures; /* a rise counts where it ends */
};

/*
 * What a chart's values give the workers of a pool. UNKNOWN: they do not say.
 * Requests and limits are those of the container that runs the actions.
 */
struct pool_spec {
	struct str pool;
	struct str instance_prefix;
	int64_t enabled;     /* 0, 1 */
	int64_t concurrency; /* actions that a worker runs at once */
	int64_t cpu_request_millicores, cpu_limit_millicores;
	int64_t memory_request_bytes, memory_limit_bytes;
	int64_t workers_min, workers_max;
	int64_t cooldown_s;
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

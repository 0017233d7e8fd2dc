/*
 * What-if, one plan for one execution of a build: its actions on workers of given
 * pools, and what that costs. Pure.
 */
#ifndef BR2_PLAN_REPLAY_H
#define BR2_PLAN_REPLAY_H

#include "model.h"
#include "plan_sim.h"
#include "shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One action that a worker executed; nothing is UNKNOWN but where it says so. */
struct plan_row {
	int64_t arrival_ns;		    /* when it was queued */
	int64_t start_ns, completed_ns;	    /* when a worker took it and was done with it */
	int64_t run_ns, cpu_ns, peak_bytes; /* UNKNOWN */
	int64_t package_id, worker_id;
	int64_t allotment_id;	  /* UNKNOWN */
	bool peak_is_lower_bound; /* it may have been killed before its peak */
};

/* Workers of one kind, as a plan has them. */
struct plan_site {
	struct plan_pool pool;
	int64_t pod_cpu_milli, pod_memory_bytes; /* a worker's pod, whole; UNKNOWN */
	int64_t limit_bytes;			 /* UNKNOWN */
	int64_t jobs;  /* of make, for what runs longer with fewer; 0: as it ran */
	int64_t share; /* so many of the pool's workers are one pod, its threads; else 1 */
};

/* What a plan costs; of several executions the sums, and the most of what is at once. */
struct plan_figures {
	int64_t actions;
	int64_t makespan_ns; /* first arrival to last completion */
	int64_t worker_ns;   /* lives of all workers, cooldown included */
	int64_t node_ns;     /* UNKNOWN: no node was given, or requests are not known */
	int64_t most_workers, most_nodes; /* the latter UNKNOWN as node_ns */
	int64_t at_risk;      /* actions whose peak is over the limit; UNKNOWN: no limit known */
	int64_t risk_unknown; /* of the others, those whose peak is not, or only a lower bound */
	int64_t requested_core_ns; /* pods' requests while they live; UNKNOWN */
	int64_t *waits;		   /* of each action; sorted by plan_finish() */
	size_t wait_count, wait_cap;
};

/*
 * Adds one execution: `rows` sorted by arrival, count >= 1, row i on the site
 * site_of[i]; sites whose pools share have `together` workers at most. `node` may be
 * NULL; else each site's pod fits it.
 */
void plan_replay(const struct plan_site *sites, size_t site_count, size_t together,
		 const struct plan_row *rows, const size_t *site_of, size_t count,
		 const struct node_size *node, struct plan_figures *out);

/* Adds what `one` has; both are finished or not. */
void plan_figures_init(struct plan_figures *figures);
void plan_figures_add(struct plan_figures *sum, const struct plan_figures *one);
void plan_figures_release(struct plan_figures *figures);

/* ---- waits, after plan_finish() ---- */

void plan_finish(struct plan_figures *figures);
int64_t plan_wait_sum(const struct plan_figures *figures);
/* sorted[min(n - 1, floor(0.9 n))], and the last one; 0 for no action. */
int64_t plan_wait_p90(const struct plan_figures *figures);
int64_t plan_wait_max(const struct plan_figures *figures);

#endif

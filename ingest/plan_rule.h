/*
 * What-if, the rules: which shape a package goes to, how many jobs make runs there,
 * and how long an action may take with so many. The one place that knows them; all
 * that prints a plan says them in words. Pure.
 */
#ifndef BR2_PLAN_RULE_H
#define BR2_PLAN_RULE_H

#include "shape.h"

#include <stddef.h>
#include <stdint.h>

/* What is known of a package, over all its stored executions. */
struct plan_need {
	int64_t peak_bytes; /* the most memory seen; UNKNOWN: never measured */
	int64_t wide_milli; /* it is heavy, and needs a shape of more cores than these: setting
			       heavy_cores; UNKNOWN: it is not */
};

struct plan_jobs {
	int64_t bytes_per_job; /* 0: memory does not limit them */
	double extra;	       /* over the cores; what is left of one job is none */
};

/*
 * The shape for a package, an index: of those whose memory limit holds the peak and
 * `margin_pct` more, the smallest one, and where the package is heavy the smallest of
 * those that have more cores than setting heavy_cores, if there is one. Where no limit
 * is enough, or the peak is not known: the one with the largest limit.
 * Smaller: by limit, then cores, then the order given. count >= 1.
 */
size_t plan_choose(const struct shape *shapes, size_t count, const struct plan_need *need,
		   double margin_pct);

/* N of make -jN on a worker: min(cores, rounded up, + extra, limit / bytes_per_job), at least 1. */
int64_t plan_jobs_of(const struct shape *shape, const struct plan_jobs *rule);

/*
 * How long a command may run that took run_ns and cpu_ns, with `jobs` at once:
 * cpu / min(its own average cores, jobs). Never shorter than run_ns: that more jobs
 * would have helped is not known. Either may be UNKNOWN: then run_ns as it is.
 */
int64_t plan_run_with(int64_t run_ns, int64_t cpu_ns, int64_t jobs);

#endif

/* What-if: the workers that an execution really had, pool by pool. */
#ifndef BR2_PLAN_TODAY_H
#define BR2_PLAN_TODAY_H

#include "plan.h"

/* Sites for PLAN_SEEN and PLAN_TODAY: the same pools in the same order. */
struct plan_sites {
	struct plan_site *seen, *scaled;
	struct plan_today *pools;
	int64_t **seen_ns; /* of each site: what its pool borrows */
	size_t count;
	size_t workers;	 /* that were seen, of all pools */
	size_t *site_of; /* of each row */
	int64_t turn_ns; /* what a worker needed between two actions, the median; 0: none was seen
			  */
};

void plan_sites_make(const struct plan_known *known, const struct plan_execution *execution,
		     const struct plan_rows *rows, struct plan_sites *out);
void plan_sites_release(struct plan_sites *sites);

#endif

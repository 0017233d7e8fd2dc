/* What-if: the workers that an execution really had, pool by pool. */
#ifndef BR2_PLAN_TODAY_H
#define BR2_PLAN_TODAY_H

#include "plan.h"

/* Sites for PLAN_SEEN: the pools as this execution found them. */
struct plan_sites {
	struct plan_site *seen;
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

/* Pools as they are today; executions are noted one by one, the latest first. */
struct plan_todays {
	struct plan_today *list; /* the caller's to free */
	size_t count;
};

void plan_todays_note(struct plan_todays *todays, const struct plan_known *known,
		      const struct plan_sites *sites, int64_t first_ns, int64_t now_ns);
/* As many workers as today's pools of these sites have at most. */
size_t plan_todays_workers(const struct plan_todays *todays, const struct plan_sites *sites);
/* Sites for PLAN_TODAY, in the order of `sites`; the caller frees them. */
struct plan_site *plan_todays_sites(const struct plan_todays *todays,
				    const struct plan_known *known, const struct plan_sites *sites);

#endif

/*
 * What-if, the clockwork: actions that arrive at given moments, and pools of equal
 * workers that KEDA scales. Pure: no SQL, no I/O, whole nanoseconds, and the same
 * outcome for the same input. O(n log n) for n actions.
 *
 * The rules, of each pool:
 *   - First come, first served. A free worker takes an action at once: of several
 *     the one with the lowest number, so that the others can go.
 *   - One more worker is wanted as long as those that start have fewer places than
 *     actions wait, up to workers_max. It is there start_ns later, also when nothing
 *     waits for it any more.
 *   - Between two actions a worker needs turn_ns: to report, and to be given the next.
 *   - A worker that was idle for cooldown_ns goes; workers_min of them stay, and are
 *     there from the first arrival on. A pool without an action has no workers.
 *
 * Pools that share have no more than `together` workers at any moment, those that
 * start and those that always stay included. Where two want one, the pool whose
 * first action has waited longest gets it. Where there are as many as may be, the
 * idle worker whose cooldown ends first goes at once to make room for another
 * pool's; those that always stay do not.
 */
#ifndef BR2_PLAN_SIM_H
#define BR2_PLAN_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_action {
	int64_t arrival_ns;
	int64_t service_ns; /* from a worker's taking it to its being done with it; >= 0 */
	size_t pool;	    /* an index */
};

struct plan_pool {
	size_t workers_min; /* <= workers_max */
	size_t workers_max; /* >= 1 */
	size_t concurrency; /* actions that a worker runs at once; >= 1 */
	bool shares;	    /* its workers count against `together` */
	int64_t start_ns;   /* >= 0, as those that follow */
	int64_t turn_ns;
	int64_t cooldown_ns;
	/*
	 * NULL, or when each of workers_max workers came, sorted: those workers and no
	 * others, which stay until the last action is done. Nothing is scaled then.
	 */
	const int64_t *seen_ns;
};

/* A worker's life: from being wanted (or seen) until it has gone. */
struct plan_life {
	int64_t from_ns, until_ns;
	size_t pool;
};

struct plan_outcome {
	int64_t *start_ns; /* of each action, in the order given: when a worker took it */
	size_t *worker;	   /* its number in the pool, below workers_max; a number is given again
			      after its worker went */
	int64_t last_ns;   /* when the last action was done; INT64_MIN: there were none */
	struct plan_life *lives;
	size_t life_count;
};

/*
 * Runs `count` actions, sorted by arrival. An idle worker's life includes its cooldown;
 * those that always stay end with the last action of all. Times stop at INT64_MAX.
 * `together` is taken for as many as always stay, and one more where a pool that
 * shares may have none, if it is less: else some action would wait forever. Fills
 * *out, which the caller releases.
 */
void plan_simulate(const struct plan_pool *pools, size_t pool_count, size_t together,
		   const struct plan_action *actions, size_t count, struct plan_outcome *out);
void plan_outcome_release(struct plan_outcome *out);

/* a + b, both >= 0 or a time and a duration: stops at INT64_MAX. */
int64_t plan_add(int64_t a, int64_t b);

#endif

/*
 * Runs the clockwork of `plan` on numbers from standard input, for a test that
 * compares it with a slow reference.
 *
 * Input: "MIN MAX CONCURRENCY START TURN COOLDOWN ACTIONS", then ARRIVAL SERVICE of
 * each action, sorted by arrival. Several of these blocks may follow each other.
 * Output, a line a block: last time; start and worker of each action; begin and end of
 * each life, sorted; separated by '|'.
 */
#include "plan_sim.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int by_life(const void *a, const void *b)
{
	const struct plan_life *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->until_ns > y->until_ns) - (x->until_ns < y->until_ns);
}

static void print(struct plan_outcome *out, size_t count)
{
	size_t i;

	qsort(out->lives, out->life_count, sizeof(*out->lives), by_life);
	printf("%" PRId64 " |", out->last_ns);
	for (i = 0; i < count; i++)
		printf(" %" PRId64 " %zu", out->start_ns[i], out->worker[i]);
	fputs(" |", stdout);
	for (i = 0; i < out->life_count; i++)
		printf(" %" PRId64 " %" PRId64, out->lives[i].from_ns, out->lives[i].until_ns);
	putchar('\n');
}

int main(void)
{
	struct plan_pool pool = {0};
	size_t i, count;

	while (scanf("%zu %zu %zu %" SCNd64 " %" SCNd64 " %" SCNd64 " %zu", &pool.workers_min,
		     &pool.workers_max, &pool.concurrency, &pool.start_ns, &pool.turn_ns,
		     &pool.cooldown_ns, &count) == 7) {
		struct plan_action *actions = xcalloc(count + 1, sizeof(*actions));
		struct plan_outcome out;

		for (i = 0; i < count; i++)
			if (scanf("%" SCNd64 " %" SCNd64, &actions[i].arrival_ns,
				  &actions[i].service_ns) != 2)
				return 2;
		plan_simulate(&pool, actions, count, &out);
		print(&out, count);
		plan_outcome_release(&out);
		free(actions);
	}
	return 0;
}

/*
 * Runs the clockwork of `plan` on numbers from standard input, for a test that
 * compares it with a slow reference.
 *
 * Input: "TOGETHER POOLS ACTIONS", then MIN MAX CONCURRENCY SHARES START TURN COOLDOWN
 * of each pool, then POOL ARRIVAL SERVICE of each action, sorted by arrival. Several of
 * these blocks may follow each other. Output, a line a block: last time; start and
 * worker of each action; pool, begin and end of each life, sorted; separated by '|'.
 */
#include "plan_sim.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int by_life(const void *a, const void *b)
{
	const struct plan_life *x = a, *y = b;

	if (x->pool != y->pool)
		return x->pool < y->pool ? -1 : 1;
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
		printf(" %zu %" PRId64 " %" PRId64, out->lives[i].pool, out->lives[i].from_ns,
		       out->lives[i].until_ns);
	putchar('\n');
}

static bool read_pool(struct plan_pool *pool)
{
	int shares;

	if (scanf("%zu %zu %zu %d %" SCNd64 " %" SCNd64 " %" SCNd64, &pool->workers_min,
		  &pool->workers_max, &pool->concurrency, &shares, &pool->start_ns, &pool->turn_ns,
		  &pool->cooldown_ns) != 7)
		return false;
	pool->shares = shares != 0;
	return true;
}

static bool read_action(struct plan_action *action)
{
	return scanf("%zu %" SCNd64 " %" SCNd64, &action->pool, &action->arrival_ns,
		     &action->service_ns) == 3;
}

int main(void)
{
	size_t i, together, pool_count, count;

	while (scanf("%zu %zu %zu", &together, &pool_count, &count) == 3) {
		struct plan_pool *pools = xcalloc(pool_count + 1, sizeof(*pools));
		struct plan_action *actions = xcalloc(count + 1, sizeof(*actions));
		struct plan_outcome out;

		for (i = 0; i < pool_count; i++)
			if (!read_pool(&pools[i]))
				return 2;
		for (i = 0; i < count; i++)
			if (!read_action(&actions[i]))
				return 2;
		plan_simulate(pools, pool_count, together, actions, count, &out);
		print(&out, count);
		plan_outcome_release(&out);
		free(actions);
		free(pools);
	}
	return 0;
}

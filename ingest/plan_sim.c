#include "plan_sim.h"

#include "util/heap.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>

int64_t plan_add(int64_t a, int64_t b)
{
	return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* ---- the pool ------------------------------------------------------------------------- */

struct worker {
	int64_t from_ns, idle_ns; /* since when it lives; since when it has nothing to do */
	size_t busy;		  /* actions that it runs */
};

struct sim {
	const struct plan_pool *pool;
	const struct plan_action *actions;
	struct plan_outcome *out;
	struct worker *workers;
	struct heap absent;   /* numbers that no worker has; the lowest is given next */
	struct heap done;     /* places (worker * concurrency + k) by when they are free again */
	struct heap starting; /* workers by when they are there */
	struct heap open;     /* free places; all keys are 0, so the lowest comes first */
	size_t next;	      /* the first action that waits; all before it have begun */
	size_t arrived;
	size_t life_cap;
};

static size_t worker_of(const struct sim *sim, size_t place)
{
	return place / sim->pool->concurrency;
}

static void add_life(struct sim *sim, int64_t from_ns, int64_t until_ns)
{
	struct plan_outcome *out = sim->out;

	if (out->life_count == sim->life_cap) {
		sim->life_cap = sim->life_cap ? sim->life_cap * 2 : 16;
		out->lives = xreallocarray(out->lives, sim->life_cap, sizeof(*out->lives));
	}
	out->lives[out->life_count++] = (struct plan_life){from_ns, until_ns};
}

static void run_next(struct sim *sim, size_t place, int64_t now_ns)
{
	size_t action = sim->next++;
	int64_t end_ns = plan_add(now_ns, sim->actions[action].service_ns);

	sim->workers[worker_of(sim, place)].busy++;
	sim->out->start_ns[action] = now_ns;
	sim->out->worker[action] = worker_of(sim, place);
	if (end_ns > sim->out->last_ns)
		sim->out->last_ns = end_ns;
	heap_push(&sim->done, plan_add(end_ns, sim->pool->turn_ns), place);
}

/* Gives a place the first action that waits, else leaves it open. */
static void offer(struct sim *sim, size_t place, int64_t now_ns)
{
	if (sim->next < sim->arrived)
		run_next(sim, place, now_ns);
	else
		heap_push(&sim->open, 0, place);
}

static bool is_gone(const struct sim *sim, size_t number, int64_t now_ns)
{
	const struct worker *worker = &sim->workers[number];

	return !sim->pool->seen_ns && number >= sim->pool->workers_min && !worker->busy &&
	       plan_add(worker->idle_ns, sim->pool->cooldown_ns) <= now_ns;
}

/*
 * All places of a worker without work are open, and next to each other in number: after its first
 * one the others are the next that come out of the heap.
 */
static void bury(struct sim *sim, size_t number)
{
	const struct worker *worker = &sim->workers[number];
	size_t i;

	for (i = 1; i < sim->pool->concurrency; i++)
		heap_pop(&sim->open);
	add_life(sim, worker->from_ns, plan_add(worker->idle_ns, sim->pool->cooldown_ns));
	heap_push(&sim->absent, 0, number);
}

/* Nobody asks for the workers that have gone meanwhile until a place is needed: so they go here. */
static bool take_place(struct sim *sim, int64_t now_ns, size_t *out_place)
{
	while (sim->open.count) {
		*out_place = heap_pop(&sim->open).number;
		if (!is_gone(sim, worker_of(sim, *out_place), now_ns))
			return true;
		bury(sim, worker_of(sim, *out_place));
	}
	return false;
}

static void appear(struct sim *sim, size_t number, int64_t now_ns)
{
	size_t i, concurrency = sim->pool->concurrency;

	sim->workers[number].idle_ns = now_ns;
	for (i = 0; i < concurrency; i++)
		offer(sim, number * concurrency + i, now_ns);
}

static void finish(struct sim *sim, struct heap_item done)
{
	struct worker *worker = &sim->workers[worker_of(sim, done.number)];

	worker->busy--;
	if (!worker->busy)
		worker->idle_ns = done.key;
	offer(sim, done.number, done.key);
}

/* Whatever happens until `now_ns`, that moment included; who is done comes before who starts. */
static void advance(struct sim *sim, int64_t now_ns)
{
	for (;;) {
		const struct heap_item *done = sim->done.count ? sim->done.items : NULL;
		const struct heap_item *start = sim->starting.count ? sim->starting.items : NULL;

		if (done && done->key <= now_ns && (!start || done->key <= start->key)) {
			finish(sim, heap_pop(&sim->done));
		} else if (start && start->key <= now_ns) {
			struct heap_item up = heap_pop(&sim->starting);

			appear(sim, up.number, up.key);
		} else {
			return;
		}
	}
}

/* Something waits: every place that there is runs an action, and those that start may be too few.
 */
static void want_workers(struct sim *sim, int64_t now_ns)
{
	const struct plan_pool *pool = sim->pool;

	while (!pool->seen_ns && sim->absent.count &&
	       sim->starting.count * pool->concurrency < sim->arrived - sim->next) {
		size_t number = heap_pop(&sim->absent).number;

		sim->workers[number] = (struct worker){.from_ns = now_ns};
		heap_push(&sim->starting, plan_add(now_ns, pool->start_ns), number);
	}
}

static void arrive(struct sim *sim)
{
	int64_t now_ns = sim->actions[sim->arrived].arrival_ns;
	size_t place;

	advance(sim, now_ns);
	sim->arrived++;
	if (take_place(sim, now_ns, &place))
		run_next(sim, place, now_ns);
	else
		want_workers(sim, now_ns);
}

/* ---- beginning and end ------------------------------------------------------------------ */

/* Those that are always there, at the first arrival; those that were seen, when they were. */
static void populate(struct sim *sim)
{
	const struct plan_pool *pool = sim->pool;
	size_t i, there = pool->seen_ns ? pool->workers_max : pool->workers_min;

	for (i = 0; i < there; i++) {
		int64_t at_ns = pool->seen_ns ? pool->seen_ns[i] : sim->actions[0].arrival_ns;

		sim->workers[i].from_ns = at_ns;
		heap_push(&sim->starting, at_ns, i);
	}
	for (; i < pool->workers_max; i++)
		heap_push(&sim->absent, 0, i);
}

static void end_lives(struct sim *sim)
{
	size_t place;

	while (sim->open.count) {
		const struct worker *worker;
		size_t number;

		place = heap_pop(&sim->open).number;
		number = worker_of(sim, place);
		worker = &sim->workers[number];
		if (!sim->pool->seen_ns && number < sim->pool->workers_min) {
			if (place % sim->pool->concurrency == 0)
				add_life(sim, worker->from_ns, sim->out->last_ns);
		} else {
			bury(sim, number);
		}
	}
}

/* Never are there more workers than actions need, so memory follows the actions. */
static struct plan_pool bounded(const struct plan_pool *pool, size_t count)
{
	struct plan_pool out = *pool;
	size_t needed;

	if (out.concurrency > count)
		out.concurrency = count;
	needed = count / out.concurrency + 1;
	if (needed < out.workers_min)
		needed = out.workers_min;
	if (!out.seen_ns && out.workers_max > needed)
		out.workers_max = needed;
	return out;
}

void plan_simulate(const struct plan_pool *pool, const struct plan_action *actions, size_t count,
		   struct plan_outcome *out)
{
	struct plan_pool used;
	struct sim sim = {.pool = &used, .actions = actions, .out = out};

	*out = (struct plan_outcome){.last_ns = INT64_MIN};
	if (!count)
		return;
	used = bounded(pool, count);
	out->start_ns = xcalloc(count, sizeof(*out->start_ns));
	out->worker = xcalloc(count, sizeof(*out->worker));
	sim.workers = xcalloc(used.workers_max, sizeof(*sim.workers));
	populate(&sim);
	while (sim.arrived < count)
		arrive(&sim);
	advance(&sim, INT64_MAX);
	end_lives(&sim);
	free(sim.workers);
	heap_release(&sim.absent);
	heap_release(&sim.starting);
	heap_release(&sim.done);
	heap_release(&sim.open);
}

void plan_outcome_release(struct plan_outcome *out)
{
	free(out->start_ns);
	free(out->worker);
	free(out->lives);
	*out = (struct plan_outcome){.last_ns = INT64_MIN};
}

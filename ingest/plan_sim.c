#include "plan_sim.h"

#include "util/heap.h"
#include "util/mem.h"

#include <stdlib.h>

int64_t plan_add(int64_t a, int64_t b)
{
	return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* ---- a pool ---- */

struct worker {
	int64_t from_ns, idle_ns; /* since when it lives; since when it has nothing to do */
	size_t busy;		  /* actions that it runs */
};

struct sim {
	struct sims *all;
	struct plan_pool pool;
	size_t number;	    /* its own */
	const size_t *mine; /* its actions, in the order of arrival */
	size_t count;
	struct worker *workers;
	struct heap absent;   /* numbers that no worker has; the lowest is given next */
	struct heap done;     /* places (worker * concurrency + k) by when they are free again */
	struct heap starting; /* workers by when they are there */
	struct heap open;     /* free places; all keys are 0, so the lowest comes first */
	size_t next;	      /* of mine, the first that waits; all before it have begun */
	size_t arrived;
};

struct sims {
	const struct plan_action *actions;
	struct plan_outcome *out;
	struct sim *list;
	size_t count, life_cap;
	size_t living, together; /* of pools that share: workers, and how many there may be */
};

static size_t worker_of(const struct sim *sim, size_t place)
{
	return place / sim->pool.concurrency;
}

static bool stays(const struct sim *sim, size_t number)
{
	return !sim->pool.seen_ns && number < sim->pool.workers_min;
}

static void add_life(struct sim *sim, int64_t from_ns, int64_t until_ns)
{
	struct plan_outcome *out = sim->all->out;
	size_t *cap = &sim->all->life_cap;

	if (out->life_count == *cap) {
		*cap = *cap ? *cap * 2 : 16;
		out->lives = xreallocarray(out->lives, *cap, sizeof(*out->lives));
	}
	out->lives[out->life_count++] = (struct plan_life){from_ns, until_ns, sim->number};
}

static void run_next(struct sim *sim, size_t place, int64_t now_ns)
{
	struct plan_outcome *out = sim->all->out;
	size_t action = sim->mine[sim->next++];
	int64_t end_ns = plan_add(now_ns, sim->all->actions[action].service_ns);

	sim->workers[worker_of(sim, place)].busy++;
	out->start_ns[action] = now_ns;
	out->worker[action] = worker_of(sim, place);
	if (end_ns > out->last_ns)
		out->last_ns = end_ns;
	heap_push(&sim->done, plan_add(end_ns, sim->pool.turn_ns), place);
}

/* Gives a place the first action that waits, else leaves it open. */
static void offer(struct sim *sim, size_t place, int64_t now_ns)
{
	if (sim->next < sim->arrived)
		run_next(sim, place, now_ns);
	else
		heap_push(&sim->open, 0, place);
}

/* An idle worker's cooldown is over then. */
static int64_t goes_at(const struct sim *sim, size_t number)
{
	return plan_add(sim->workers[number].idle_ns, sim->pool.cooldown_ns);
}

static bool is_gone(const struct sim *sim, size_t number, int64_t now_ns)
{
	return !sim->pool.seen_ns && !stays(sim, number) && !sim->workers[number].busy &&
	       goes_at(sim, number) <= now_ns;
}

/* It went when its cooldown was over, at the latest at `latest_ns`; its places are out of `open`.
 */
static void bury(struct sim *sim, size_t number, int64_t latest_ns)
{
	int64_t until_ns = goes_at(sim, number);

	add_life(sim, sim->workers[number].from_ns, until_ns < latest_ns ? until_ns : latest_ns);
	heap_push(&sim->absent, 0, number);
	if (sim->pool.shares)
		sim->all->living--;
}

/*
 * All places of a worker without work are open, and next to each other in number: after its first
 * one the others are the next that come out of the heap.
 */
static void drop_rest(struct sim *sim)
{
	size_t i;

	for (i = 1; i < sim->pool.concurrency; i++)
		heap_pop(&sim->open);
}

/* Nobody asks for the workers that have gone meanwhile until a place is needed: so they go here. */
static bool take_place(struct sim *sim, int64_t now_ns, size_t *out_place)
{
	while (sim->open.count) {
		*out_place = heap_pop(&sim->open).number;
		if (!is_gone(sim, worker_of(sim, *out_place), now_ns))
			return true;
		drop_rest(sim);
		bury(sim, worker_of(sim, *out_place), INT64_MAX);
	}
	return false;
}

static void appear(struct sim *sim, size_t number, int64_t now_ns)
{
	size_t i, concurrency = sim->pool.concurrency;

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

/* ---- more workers ---- */

/* Every place that there is runs an action, and those that start may be too few. */
static bool wants_worker(const struct sim *sim)
{
	return !sim->pool.seen_ns && sim->absent.count &&
	       sim->starting.count * sim->pool.concurrency < sim->arrived - sim->next;
}

static void start_worker(struct sim *sim, int64_t now_ns)
{
	size_t number = heap_pop(&sim->absent).number;

	sim->workers[number] = (struct worker){.from_ns = now_ns};
	heap_push(&sim->starting, plan_add(now_ns, sim->pool.start_ns), number);
	if (sim->pool.shares)
		sim->all->living++;
}

/* The pool's idle worker that goes first, of those that need not stay; SIZE_MAX: none. */
static size_t first_to_go(const struct sim *sim)
{
	size_t i, found = SIZE_MAX;

	for (i = 0; i < sim->open.count; i++) {
		size_t number = worker_of(sim, sim->open.items[i].number);

		if (sim->workers[number].busy || stays(sim, number))
			continue;
		if (found == SIZE_MAX || goes_at(sim, number) < goes_at(sim, found) ||
		    (goes_at(sim, number) == goes_at(sim, found) && number < found))
			found = number;
	}
	return found;
}

/* Of all pools that share; those that have gone meanwhile come first. NULL: none. */
static struct sim *find_idle(struct sims *all, size_t *out_number)
{
	struct sim *found = NULL;
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct sim *sim = &all->list[i];
		size_t number = sim->pool.shares ? first_to_go(sim) : SIZE_MAX;

		if (number == SIZE_MAX ||
		    (found && goes_at(found, *out_number) <= goes_at(sim, number)))
			continue;
		found = sim;
		*out_number = number;
	}
	return found;
}

/* Whether there may be one more of those that share, if need be in place of an idle one. */
static bool make_room(struct sims *all, int64_t now_ns)
{
	struct sim *idle;
	size_t i, number;

	if (all->living < all->together)
		return true;
	idle = find_idle(all, &number);
	if (!idle)
		return false;
	for (i = 0; i < idle->pool.concurrency; i++)
		heap_remove(&idle->open, number * idle->pool.concurrency + i);
	bury(idle, number, now_ns);
	return true;
}

static int64_t waits_since(const struct sim *sim)
{
	return sim->all->actions[sim->mine[sim->next]].arrival_ns;
}

/* Of the pools that share and want a worker, the one whose first action waits longest. */
static struct sim *most_urgent(struct sims *all)
{
	struct sim *urgent = NULL;
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct sim *sim = &all->list[i];

		if (sim->pool.shares && wants_worker(sim) &&
		    (!urgent || waits_since(sim) < waits_since(urgent)))
			urgent = sim;
	}
	return urgent;
}

static void spread(struct sims *all, int64_t now_ns)
{
	struct sim *urgent;

	while ((urgent = most_urgent(all)) && make_room(all, now_ns))
		start_worker(urgent, now_ns);
}

/* ---- time ---- */

/* The pool's next event; who is done comes before who starts. False: nothing will happen. */
static bool next_event(const struct sim *sim, int64_t *out_ns, bool *out_starts)
{
	const struct heap_item *done = sim->done.count ? sim->done.items : NULL;
	const struct heap_item *start = sim->starting.count ? sim->starting.items : NULL;

	if (!done && !start)
		return false;
	*out_starts = !done || (start && start->key < done->key);
	*out_ns = *out_starts ? start->key : done->key;
	return true;
}

static struct sim *next_sim(struct sims *all, int64_t *out_ns, bool *out_starts)
{
	struct sim *first = NULL;
	size_t i;

	for (i = 0; i < all->count; i++) {
		int64_t at_ns;
		bool starts;

		if (!next_event(&all->list[i], &at_ns, &starts))
			continue;
		if (first && (at_ns > *out_ns || (at_ns == *out_ns && starts >= *out_starts)))
			continue;
		first = &all->list[i];
		*out_ns = at_ns;
		*out_starts = starts;
	}
	return first;
}

/* Whatever happens until `now_ns`, that moment included. */
static void advance(struct sims *all, int64_t now_ns)
{
	struct sim *sim;
	int64_t at_ns = 0;
	bool starts = false;

	while ((sim = next_sim(all, &at_ns, &starts)) && at_ns <= now_ns) {
		if (starts)
			appear(sim, heap_pop(&sim->starting).number, at_ns);
		else
			finish(sim, heap_pop(&sim->done));
		spread(all, at_ns);
	}
}

static void arrive(struct sims *all, size_t action)
{
	struct sim *sim = &all->list[all->actions[action].pool];
	int64_t now_ns = all->actions[action].arrival_ns;
	size_t place;

	advance(all, now_ns);
	sim->arrived++;
	if (take_place(sim, now_ns, &place))
		run_next(sim, place, now_ns);
	else if (sim->pool.shares)
		spread(all, now_ns);
	else
		while (wants_worker(sim))
			start_worker(sim, now_ns);
}

/* ---- beginning and end ---- */

/* Those that are always there, at the first arrival; those that were seen, when they were. */
static void populate(struct sim *sim)
{
	const struct plan_pool *pool = &sim->pool;
	size_t i, there = pool->seen_ns ? pool->workers_max : pool->workers_min;
	int64_t first_ns = sim->all->actions[sim->mine[0]].arrival_ns;

	for (i = 0; i < there; i++) {
		int64_t at_ns = pool->seen_ns ? pool->seen_ns[i] : first_ns;

		sim->workers[i].from_ns = at_ns;
		heap_push(&sim->starting, at_ns, i);
	}
	for (; i < pool->workers_max; i++)
		heap_push(&sim->absent, 0, i);
	if (pool->shares)
		sim->all->living += pool->workers_min;
}

static void end_lives(struct sim *sim)
{
	while (sim->open.count) {
		size_t place = heap_pop(&sim->open).number, number = worker_of(sim, place);

		if (!stays(sim, number)) {
			drop_rest(sim);
			bury(sim, number, INT64_MAX);
		} else if (place % sim->pool.concurrency == 0) {
			add_life(sim, sim->workers[number].from_ns, sim->all->out->last_ns);
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

static void begin(struct sims *all, const struct plan_pool *pools, size_t together)
{
	bool none_stays = false;
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct sim *sim = &all->list[i];

		sim->all = all;
		sim->number = i;
		if (!sim->count)
			continue;
		sim->pool = bounded(&pools[i], sim->count);
		sim->workers = xcalloc(sim->pool.workers_max, sizeof(*sim->workers));
		none_stays |= sim->pool.shares && !sim->pool.workers_min;
		populate(sim);
	}
	all->together = all->living + none_stays;
	if (all->together < together)
		all->together = together;
}

/* Gives each pool its actions; the caller frees the list. */
static size_t *deal(struct sims *all, size_t count)
{
	size_t *mine = xcalloc(count, sizeof(*mine)), i, sum = 0;

	for (i = 0; i < count; i++)
		all->list[all->actions[i].pool].count++;
	for (i = 0; i < all->count; i++) {
		all->list[i].mine = mine + sum;
		sum += all->list[i].count;
		all->list[i].count = 0;
	}
	for (i = 0; i < count; i++) {
		struct sim *sim = &all->list[all->actions[i].pool];

		mine[(size_t)(sim->mine - mine) + sim->count++] = i;
	}
	return mine;
}

static void sim_release(struct sim *sim)
{
	free(sim->workers);
	heap_release(&sim->absent);
	heap_release(&sim->starting);
	heap_release(&sim->done);
	heap_release(&sim->open);
}

void plan_simulate(const struct plan_pool *pools, size_t pool_count, size_t together,
		   const struct plan_action *actions, size_t count, struct plan_outcome *out)
{
	struct sims all = {.actions = actions, .out = out, .count = pool_count};
	size_t i, *mine;

	*out = (struct plan_outcome){.last_ns = INT64_MIN};
	if (!count)
		return;
	out->start_ns = xcalloc(count, sizeof(*out->start_ns));
	out->worker = xcalloc(count, sizeof(*out->worker));
	all.list = xcalloc(pool_count, sizeof(*all.list));
	mine = deal(&all, count);
	begin(&all, pools, together);
	for (i = 0; i < count; i++)
		arrive(&all, i);
	advance(&all, INT64_MAX);
	for (i = 0; i < pool_count; i++) {
		end_lives(&all.list[i]);
		sim_release(&all.list[i]);
	}
	free(all.list);
	free(mine);
}

void plan_outcome_release(struct plan_outcome *out)
{
	free(out->start_ns);
	free(out->worker);
	free(out->lives);
	*out = (struct plan_outcome){.last_ns = INT64_MIN};
}

#include "plan_replay.h"

#include "plan_nodes.h"
#include "plan_rule.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

void plan_figures_init(struct plan_figures *figures)
{
	*figures = (struct plan_figures){0};
}

void plan_figures_release(struct plan_figures *figures)
{
	free(figures->waits);
	plan_figures_init(figures);
}

/* What is not known of a part is not known of the sum. */
static int64_t add_known(int64_t a, int64_t b)
{
	return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : plan_add(a, b);
}

static int64_t most_known(int64_t a, int64_t b)
{
	if (a == UNKNOWN || b == UNKNOWN)
		return UNKNOWN;
	return a > b ? a : b;
}

static void add_waits(struct plan_figures *figures, const int64_t *waits, size_t count)
{
	if (figures->wait_cap - figures->wait_count < count) {
		figures->wait_cap = (figures->wait_count + count) * 2;
		figures->waits =
			xreallocarray(figures->waits, figures->wait_cap, sizeof(*figures->waits));
	}
	if (count)
		memcpy(figures->waits + figures->wait_count, waits, count * sizeof(*waits));
	figures->wait_count += count;
}

void plan_figures_add(struct plan_figures *sum, const struct plan_figures *one)
{
	sum->actions += one->actions;
	sum->makespan_ns = plan_add(sum->makespan_ns, one->makespan_ns);
	sum->worker_ns = plan_add(sum->worker_ns, one->worker_ns);
	sum->node_ns = add_known(sum->node_ns, one->node_ns);
	sum->most_workers = most_known(sum->most_workers, one->most_workers);
	sum->most_nodes = most_known(sum->most_nodes, one->most_nodes);
	sum->at_risk = add_known(sum->at_risk, one->at_risk);
	sum->risk_unknown += one->risk_unknown;
	sum->requested_core_ns = add_known(sum->requested_core_ns, one->requested_core_ns);
	add_waits(sum, one->waits, one->wait_count);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void plan_finish(struct plan_figures *figures)
{
	if (figures->wait_count)
		qsort(figures->waits, figures->wait_count, sizeof(*figures->waits), by_value);
}

int64_t plan_wait_sum(const struct plan_figures *figures)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < figures->wait_count; i++)
		sum = plan_add(sum, figures->waits[i]);
	return sum;
}

int64_t plan_wait_p90(const struct plan_figures *figures)
{
	size_t n = figures->wait_count;

	/* 9 n / 10 in two parts, so that it cannot overflow; below n for each n > 0. */
	return n ? figures->waits[n / 10 * 9 + n % 10 * 9 / 10] : 0;
}

int64_t plan_wait_max(const struct plan_figures *figures)
{
	return figures->wait_count ? figures->waits[figures->wait_count - 1] : 0;
}

/* ---- one execution ---- */

/* What all sites of a replay add to. */
struct replay {
	const struct node_size *node;
	const struct plan_row *rows;
	const size_t *site_of;
	size_t count;
	struct plan_pod *pods; /* of all sites */
	size_t pod_count, pod_cap;
	bool pods_known;
	int64_t last_ns;
	struct plan_figures figures;
};

static int64_t service_of(const struct plan_row *row, int64_t jobs)
{
	int64_t busy_ns = row->completed_ns - row->start_ns;

	if (!jobs || row->run_ns == UNKNOWN)
		return busy_ns;
	return plan_add(busy_ns, plan_run_with(row->run_ns, row->cpu_ns, jobs) - row->run_ns);
}

/* The rows' actions; the caller frees the list. */
static struct plan_action *actions_of(const struct replay *replay, const struct plan_site *sites)
{
	struct plan_action *actions = xcalloc(replay->count, sizeof(*actions));
	size_t i;

	for (i = 0; i < replay->count; i++) {
		const struct plan_row *row = &replay->rows[i];
		size_t site = replay->site_of[i];

		actions[i] = (struct plan_action){row->arrival_ns,
						  service_of(row, sites[site].jobs), site};
	}
	return actions;
}

static void judge_memory(struct replay *replay, const struct plan_site *sites)
{
	struct plan_figures *figures = &replay->figures;
	size_t i;

	for (i = 0; i < replay->count; i++) {
		const struct plan_row *row = &replay->rows[i];
		int64_t limit_bytes = sites[replay->site_of[i]].limit_bytes;
		bool known = limit_bytes != UNKNOWN && row->peak_bytes != UNKNOWN;

		if (limit_bytes == UNKNOWN)
			figures->at_risk = UNKNOWN;
		if (known && row->peak_bytes > limit_bytes)
			figures->at_risk = add_known(figures->at_risk, 1);
		else if (!known || row->peak_is_lower_bound)
			figures->risk_unknown++;
	}
}

static void add_pod(struct replay *replay, const struct plan_site *site, struct plan_life life)
{
	if (replay->pod_count == replay->pod_cap) {
		replay->pod_cap = replay->pod_cap ? replay->pod_cap * 2 : 16;
		replay->pods = xreallocarray(replay->pods, replay->pod_cap, sizeof(*replay->pods));
	}
	replay->pods[replay->pod_count++] = (struct plan_pod){
		life, site->pod_cpu_milli / site->share, site->pod_memory_bytes / site->share};
}

/* Core-nanoseconds, to the microsecond; stops at INT64_MAX. */
static int64_t requested(int64_t cpu_milli, int64_t life_ns)
{
	int64_t life_us = life_ns / 1000;

	return cpu_milli && life_us > INT64_MAX / cpu_milli ? INT64_MAX : life_us * cpu_milli;
}

static void add_life(struct replay *replay, const struct plan_site *site, struct plan_life life)
{
	struct plan_figures *figures = &replay->figures;
	int64_t life_ns = life.until_ns - life.from_ns;

	figures->worker_ns = plan_add(figures->worker_ns, life_ns / site->share);
	if (site->pod_cpu_milli == UNKNOWN || site->pod_memory_bytes == UNKNOWN) {
		replay->pods_known = false;
		figures->requested_core_ns = UNKNOWN;
	} else {
		figures->requested_core_ns =
			add_known(figures->requested_core_ns,
				  requested(site->pod_cpu_milli / site->share, life_ns));
	}
	add_pod(replay, site, life);
}

static void run(struct replay *replay, const struct plan_site *sites, size_t site_count,
		size_t together)
{
	struct plan_pool *pools = xcalloc(site_count, sizeof(*pools));
	struct plan_action *actions = actions_of(replay, sites);
	struct plan_outcome outcome;
	size_t i;

	for (i = 0; i < site_count; i++)
		pools[i] = sites[i].pool;
	plan_simulate(pools, site_count, together, actions, replay->count, &outcome);
	replay->last_ns = outcome.last_ns;
	for (i = 0; i < replay->count; i++)
		outcome.start_ns[i] -= actions[i].arrival_ns;
	add_waits(&replay->figures, outcome.start_ns, replay->count);
	for (i = 0; i < outcome.life_count; i++)
		add_life(replay, &sites[outcome.lives[i].pool], outcome.lives[i]);
	judge_memory(replay, sites);
	plan_outcome_release(&outcome);
	free(actions);
	free(pools);
}

/* How many pods live at once: as many as fill nodes that hold one each. */
static int64_t most_at_once(const struct plan_pod *pods, size_t count)
{
	static const struct node_size one = {1, 1};
	struct plan_pod *copies = xcalloc(count + 1, sizeof(*copies));
	int64_t most;
	size_t i;

	for (i = 0; i < count; i++)
		copies[i] = (struct plan_pod){pods[i].life, 1, 1};
	plan_node_time(&one, copies, count, &most);
	free(copies);
	return most;
}

static void count_nodes(struct replay *replay)
{
	struct plan_figures *figures = &replay->figures;

	figures->most_workers = most_at_once(replay->pods, replay->pod_count);
	figures->node_ns = figures->most_nodes = UNKNOWN;
	if (replay->node && replay->pods_known)
		figures->node_ns = plan_node_time(replay->node, replay->pods, replay->pod_count,
						  &figures->most_nodes);
}

void plan_replay(const struct plan_site *sites, size_t site_count, size_t together,
		 const struct plan_row *rows, const size_t *site_of, size_t count,
		 const struct node_size *node, struct plan_figures *out)
{
	struct replay replay = {
		.node = node, .rows = rows, .site_of = site_of, .count = count, .pods_known = true};

	plan_figures_init(&replay.figures);
	run(&replay, sites, site_count, together);
	replay.figures.actions = (int64_t)count;
	replay.figures.makespan_ns = replay.last_ns - rows[0].arrival_ns;
	count_nodes(&replay);
	plan_figures_add(out, &replay.figures);
	plan_figures_release(&replay.figures);
	free(replay.pods);
}

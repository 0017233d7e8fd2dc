#include "plan_sim.h"

#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void assert_starts(const struct plan_outcome *out, const int64_t *wanted, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		assert_int_equal(out->start_ns[i], wanted[i]);
}

static void assert_life(struct plan_life life, int64_t from, int64_t until)
{
	assert_int_equal(life.from_ns, from);
	assert_int_equal(life.until_ns, until);
}

/* Two workers that are always there; the third and fourth action wait for the first free one. */
static void test_fixed_workers(void **state)
{
	static const struct plan_action actions[] = {
		{100, 10, 0}, {100, 30, 0}, {101, 5, 0}, {102, 1, 0}};
	static const int64_t starts[] = {100, 100, 110, 115};
	static const size_t workers[] = {0, 1, 0, 0};
	struct plan_pool pool = {.workers_min = 2, .workers_max = 2, .concurrency = 1};
	struct plan_outcome out;
	size_t i;

	(void)state;
	plan_simulate(&pool, 1, 0, actions, COUNT(actions), &out);
	assert_starts(&out, starts, COUNT(starts));
	for (i = 0; i < COUNT(workers); i++)
		assert_int_equal(out.worker[i], workers[i]);
	assert_int_equal(out.last_ns, 130);
	assert_int_equal(out.life_count, 2);
	assert_life(out.lives[0], 100, 130);
	assert_life(out.lives[1], 100, 130);
	plan_outcome_release(&out);
}

/* From nothing: a worker an action, each there 65 later, gone 300 after its last work. */
static void test_scaling(void **state)
{
	static const struct plan_action actions[] = {
		{0, 10, 0}, {1, 10, 0}, {2, 10, 0}, {500, 7, 0}};
	static const int64_t starts[] = {65, 66, 75, 565};
	struct plan_pool pool = {
		.workers_max = 2, .concurrency = 1, .start_ns = 65, .cooldown_ns = 300};
	struct plan_outcome out;

	(void)state;
	plan_simulate(&pool, 1, 0, actions, COUNT(actions), &out);
	assert_starts(&out, starts, COUNT(starts));
	assert_int_equal(out.last_ns, 572);
	assert_int_equal(out.life_count, 3);
	assert_life(out.lives[0], 0, 85 + 300);
	assert_life(out.lives[1], 1, 76 + 300);
	assert_life(out.lives[2], 500, 572 + 300);
	plan_outcome_release(&out);
}

/* Idle for the whole cooldown is gone; one moment less is not. */
static void test_cooldown_ends_at_its_end(void **state)
{
	static const struct plan_action early[] = {{0, 10, 0}, {374, 1, 0}};
	static const struct plan_action late[] = {{0, 10, 0}, {375, 1, 0}};
	struct plan_pool pool = {
		.workers_max = 1, .concurrency = 1, .start_ns = 65, .cooldown_ns = 300};
	struct plan_outcome out;

	(void)state;
	plan_simulate(&pool, 1, 0, early, 2, &out);
	assert_int_equal(out.start_ns[1], 374);
	assert_int_equal(out.life_count, 1);
	plan_outcome_release(&out);
	plan_simulate(&pool, 1, 0, late, 2, &out);
	assert_int_equal(out.start_ns[1], 375 + 65);
	assert_int_equal(out.life_count, 2);
	plan_outcome_release(&out);
}

/* A worker is started for what waits, though another one takes it: it then idles and goes. */
static void test_a_worker_too_many(void **state)
{
	static const struct plan_action actions[] = {{0, 10, 0}, {1, 10, 0}};
	struct plan_pool pool = {.workers_min = 1,
				 .workers_max = 2,
				 .concurrency = 1,
				 .start_ns = 65,
				 .cooldown_ns = 300};
	struct plan_outcome out;

	(void)state;
	plan_simulate(&pool, 1, 0, actions, 2, &out);
	assert_int_equal(out.start_ns[1], 10);
	assert_int_equal(out.last_ns, 20);
	assert_int_equal(out.life_count, 2);
	assert_life(out.lives[0], 0, 20);
	assert_life(out.lives[1], 1, 1 + 65 + 300);
	plan_outcome_release(&out);
}

static void test_workers_as_seen(void **state)
{
	static const struct plan_action actions[] = {{0, 100, 0}, {0, 100, 0}, {0, 100, 0}};
	static const int64_t seen[] = {5, 40};
	static const int64_t starts[] = {5, 40, 107};
	struct plan_pool pool = {.workers_max = 2,
				 .concurrency = 1,
				 .start_ns = 65,
				 .turn_ns = 2,
				 .cooldown_ns = 300,
				 .seen_ns = seen};
	struct plan_outcome out;

	(void)state;
	plan_simulate(&pool, 1, 0, actions, COUNT(actions), &out);
	assert_starts(&out, starts, COUNT(starts));
	assert_int_equal(out.last_ns, 207);
	assert_int_equal(out.life_count, 2);
	assert_life(out.lives[0], 5, 209 + 300);
	assert_life(out.lives[1], 40, 142 + 300);
	plan_outcome_release(&out);
}

/* One worker of two places: the third waits, and a second worker is wanted for it alone. */
static void test_concurrency(void **state)
{
	static const struct plan_action actions[] = {
		{0, 50, 0}, {0, 60, 0}, {1, 5, 0}, {2, 5, 0}, {3, 5, 0}};
	static const int64_t starts[] = {10, 10, 11, 11, 16};
	struct plan_pool pool = {
		.workers_max = 9, .concurrency = 2, .start_ns = 10, .cooldown_ns = 100};
	struct plan_outcome out;

	(void)state;
	plan_simulate(&pool, 1, 0, actions, COUNT(actions), &out);
	assert_int_equal(out.life_count, 3);
	assert_int_equal(out.start_ns[4], 13);
	assert_starts(&out, starts, 4);
	assert_int_equal(out.last_ns, 70);
	plan_outcome_release(&out);
	pool.workers_max = 2;
	plan_simulate(&pool, 1, 0, actions, COUNT(actions), &out);
	assert_starts(&out, starts, COUNT(starts));
	assert_int_equal(out.life_count, 2);
	plan_outcome_release(&out);
}

/* Two at most: the third pool's action waits until a worker of the first has nothing to do. */
static void test_pools_that_share(void **state)
{
	static const struct plan_action actions[] = {
		{0, 100, 0}, {1, 50, 1}, {2, 10, 2}, {3, 10, 0}, {400, 5, 1}};
	static const int64_t starts[] = {65, 66, 116 + 65, 165, 465};
	struct plan_pool one = {.workers_max = 2,
				.concurrency = 1,
				.shares = true,
				.start_ns = 65,
				.cooldown_ns = 300};
	struct plan_pool pools[] = {one, one, one};
	struct plan_outcome out;

	(void)state;
	plan_simulate(pools, COUNT(pools), 2, actions, COUNT(actions), &out);
	assert_starts(&out, starts, COUNT(starts));
	assert_int_equal(out.life_count, 4);
	assert_life(out.lives[0], 1, 116);
	assert_life(out.lives[1], 0, 400);
	plan_outcome_release(&out);
}

/* Whoever always stays is counted, and does not make room: there is always one for the other. */
static void test_who_stays_leaves_room(void **state)
{
	static const struct plan_action actions[] = {{0, 10, 0}, {1, 10, 1}, {2, 10, 1}};
	static const int64_t starts[] = {0, 66, 76};
	struct plan_pool pools[] = {
		{.workers_min = 1,
		 .workers_max = 1,
		 .concurrency = 1,
		 .shares = true,
		 .start_ns = 65},
		{.workers_max = 1, .concurrency = 1, .shares = true, .start_ns = 65}};
	struct plan_outcome out;

	(void)state;
	plan_simulate(pools, COUNT(pools), 1, actions, COUNT(actions), &out);
	assert_starts(&out, starts, COUNT(starts));
	plan_outcome_release(&out);
}

static void test_times_end_at_the_largest(void **state)
{
	static const struct plan_action actions[] = {{INT64_MAX - 10, INT64_MAX, 0},
						     {INT64_MAX, 1, 0}};
	struct plan_pool pool = {
		.workers_max = 2, .concurrency = 1, .start_ns = 65, .cooldown_ns = 300};
	struct plan_outcome out;

	(void)state;
	plan_simulate(&pool, 1, 0, actions, 2, &out);
	assert_int_equal(out.last_ns, INT64_MAX);
	plan_outcome_release(&out);
	plan_simulate(&pool, 1, 0, actions, 0, &out);
	assert_int_equal(out.last_ns, INT64_MIN);
	assert_int_equal(out.life_count, 0);
	plan_outcome_release(&out);
}

/* ---- laws ---- */

#define MADE 400

static void make_actions(unsigned int *seed, struct plan_action *actions)
{
	int64_t moment = 0;
	size_t i;

	for (i = 0; i < MADE; i++) {
		moment += rand_r(seed) % 3 ? 0 : rand_r(seed) % 50;
		actions[i] = (struct plan_action){moment, rand_r(seed) % 100, 0};
	}
}

/* Nobody begins before those that came before, nor before it came. */
static void assert_in_order(const struct plan_action *actions, const struct plan_outcome *out)
{
	size_t i;

	for (i = 0; i < MADE; i++) {
		assert_true(out->start_ns[i] >= actions[i].arrival_ns);
		assert_true(i == 0 || out->start_ns[i] >= out->start_ns[i - 1]);
	}
}

/* At no moment a worker runs more actions than it has places; starts are in order. */
static void assert_places(const struct plan_pool *pool, const struct plan_action *actions,
			  const struct plan_outcome *out)
{
	size_t i, k;

	for (i = 0; i < MADE; i++) {
		size_t at_once = 0;

		for (k = 0; k <= i; k++)
			at_once += out->worker[k] == out->worker[i] &&
				   out->start_ns[k] + actions[k].service_ns > out->start_ns[i];
		assert_true(at_once <= pool->concurrency);
	}
}

static int64_t length_of_lives(const struct plan_outcome *out)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < out->life_count; i++) {
		assert_true(out->lives[i].until_ns >= out->lives[i].from_ns);
		sum += out->lives[i].until_ns - out->lives[i].from_ns;
	}
	return sum;
}

static void test_laws(void **state)
{
	struct plan_action actions[MADE];
	unsigned int seed = 1;
	int round;

	(void)state;
	for (round = 0; round < 60; round++) {
		struct plan_pool pool = {.workers_min = (size_t)rand_r(&seed) % 3,
					 .workers_max = 3 + (size_t)rand_r(&seed) % 6,
					 .concurrency = 1 + (size_t)rand_r(&seed) % 2,
					 .start_ns = rand_r(&seed) % 80,
					 .cooldown_ns = rand_r(&seed) % 200};
		struct plan_outcome out;
		int64_t work = 0;
		size_t i;

		make_actions(&seed, actions);
		for (i = 0; i < MADE; i++)
			work += actions[i].service_ns;
		plan_simulate(&pool, 1, 0, actions, MADE, &out);
		assert_in_order(actions, &out);
		assert_places(&pool, actions, &out);
		assert_true(length_of_lives(&out) * (int64_t)pool.concurrency >= work);
		plan_outcome_release(&out);
	}
}

/* First come, first served by equal workers: one more lets nobody begin later. */
static void test_more_workers_delay_nobody(void **state)
{
	struct plan_action actions[MADE];
	struct plan_outcome few, more;
	unsigned int seed = 7;
	size_t workers, i;

	(void)state;
	make_actions(&seed, actions);
	for (workers = 1; workers < 12; workers++) {
		struct plan_pool pool = {
			.workers_min = workers, .workers_max = workers, .concurrency = 1};

		plan_simulate(&pool, 1, 0, actions, MADE, &few);
		pool.workers_min = pool.workers_max = workers + 1;
		plan_simulate(&pool, 1, 0, actions, MADE, &more);
		for (i = 0; i < MADE; i++)
			assert_true(more.start_ns[i] <= few.start_ns[i]);
		assert_true(more.last_ns <= few.last_ns);
		plan_outcome_release(&few);
		plan_outcome_release(&more);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_workers),
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_cooldown_ends_at_its_end),
		cmocka_unit_test(test_a_worker_too_many),
		cmocka_unit_test(test_workers_as_seen),
		cmocka_unit_test(test_concurrency),
		cmocka_unit_test(test_pools_that_share),
		cmocka_unit_test(test_who_stays_leaves_room),
		cmocka_unit_test(test_times_end_at_the_largest),
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_more_workers_delay_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

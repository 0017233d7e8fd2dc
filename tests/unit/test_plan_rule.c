/* Rules, nodes, and one plan for one execution. */
#include "plan_nodes.h"
#include "plan_replay.h"
#include "plan_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define GIB (INT64_C(1) << 30)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct shape big = {{"big", 3}, 6000, 8 * GIB, 12 * GIB};
static const struct shape small = {{"small", 5}, 1500, 2 * GIB, 4 * GIB};

/* ---- rules ---- */

static size_t choose(int64_t peak, int64_t wide_milli)
{
	const struct shape shapes[] = {big, small};
	struct plan_need need = {peak, wide_milli};

	return plan_choose(shapes, 2, &need, 15);
}

static void test_shape_of_a_package(void **state)
{
	enum { BIG, SMALL };

	(void)state;
	assert_int_equal(choose(1, UNKNOWN), SMALL);
	assert_int_equal(choose(4 * GIB * 100 / 115, UNKNOWN), SMALL);
	assert_int_equal(choose(4 * GIB * 100 / 115 + 2, UNKNOWN), BIG);
	assert_int_equal(choose(1, 1499), SMALL);
	assert_int_equal(choose(1, 1500), BIG);
	assert_int_equal(choose(1, 5999), BIG);
	assert_int_equal(choose(1, 6000), SMALL);
	assert_int_equal(choose(4 * GIB, 6000), BIG);
	assert_int_equal(choose(UNKNOWN, UNKNOWN), BIG);
	assert_int_equal(choose(40 * GIB, UNKNOWN), BIG);
	assert_int_equal(choose(INT64_MAX, UNKNOWN), BIG);
}

/* A margin has fractions, as in the views. */
static void test_margins(void **state)
{
	const struct plan_need need = {INT64_C(1000000000), UNKNOWN};
	struct shape shapes[] = {small, big};

	(void)state;
	shapes[0].memory_limit_bytes = INT64_C(1125000000);
	assert_int_equal(plan_choose(shapes, 2, &need, 12.5), 0);
	shapes[0].memory_limit_bytes--;
	assert_int_equal(plan_choose(shapes, 2, &need, 12.5), 1);
	assert_int_equal(plan_choose(shapes, 2, &need, 12), 0);
}

/* What nobody checked: nothing overflows. */
static void test_the_largest_numbers(void **state)
{
	const struct shape vast = {{"vast", 4}, INT64_MAX, INT64_MAX, INT64_MAX};
	const struct shape shapes[] = {small, vast};
	const struct plan_need need = {INT64_MAX, INT64_MAX};
	const struct plan_jobs rule = {1, 3e8}, none = {0, 3e8};

	(void)state;
	assert_int_equal(plan_choose(shapes, 2, &need, 0), 1);
	assert_int_equal(plan_choose(shapes, 2, &need, 3e8), 1);
	assert_true(plan_jobs_of(&vast, &rule) >= INT64_MAX / 1000);
	assert_true(plan_jobs_of(&vast, &none) >= INT64_MAX / 1000);
}

/* Where none that holds it has more cores than that: the smallest. */
static void test_cores_never_outweigh_memory(void **state)
{
	const struct shape shapes[] = {{{"cpu", 3}, 9000, GIB, GIB},
				       {{"mid", 3}, 4000, GIB, 4 * GIB},
				       {{"mem", 3}, 1000, GIB, 8 * GIB}};
	const struct plan_need wide = {2 * GIB, 4000}, wider = {GIB / 2, 20000},
			       fits = {2 * GIB, 3999}, cpu = {GIB / 2, 4000};

	(void)state;
	assert_int_equal(plan_choose(shapes, 3, &wide, 0), 1);
	assert_int_equal(plan_choose(shapes, 3, &wider, 0), 0);
	assert_int_equal(plan_choose(shapes, 3, &fits, 0), 1);
	assert_int_equal(plan_choose(shapes, 3, &cpu, 0), 0);
}

static void test_jobs(void **state)
{
	const struct plan_jobs rule = {2 * GIB, 1}, unlimited = {0, 1};
	const struct shape today = {{"today", 5}, 4500, 9 * GIB, 9 * GIB};
	const struct shape wide = {{"wide", 4}, 1000, 64 * GIB, 64 * GIB};
	const struct shape tiny = {{"tiny", 4}, 1000, GIB, GIB};

	(void)state;
	assert_int_equal(plan_jobs_of(&small, &rule), 2);
	assert_int_equal(plan_jobs_of(&big, &rule), 6);
	assert_int_equal(plan_jobs_of(&today, &rule), 4);
	assert_int_equal(plan_jobs_of(&wide, &rule), 2);
	assert_int_equal(plan_jobs_of(&tiny, &rule), 1);
	assert_int_equal(plan_jobs_of(&big, &unlimited), 7);
	assert_int_equal(plan_jobs_of(&big, &(struct plan_jobs){0, 1.9}), 7);
	assert_int_equal(plan_jobs_of(&big, &(struct plan_jobs){0, 2}), 8);
}

static void test_durations(void **state)
{
	(void)state;
	assert_int_equal(plan_run_with(100, 600, 6), 100);
	assert_int_equal(plan_run_with(100, 600, 2), 300);
	assert_int_equal(plan_run_with(100, 601, 2), 301);
	assert_int_equal(plan_run_with(100, 50, 1), 100);
	assert_int_equal(plan_run_with(100, 600, 100), 100);
	assert_int_equal(plan_run_with(UNKNOWN, 600, 2), UNKNOWN);
	assert_int_equal(plan_run_with(100, UNKNOWN, 2), 100);
	assert_int_equal(plan_run_with(1, INT64_MAX, 1), INT64_MAX);
}

/* ---- nodes ---- */

static const struct node_size node = {16000, 32 * GIB};

static void test_pods_on_a_node(void **state)
{
	(void)state;
	assert_int_equal(plan_node_holds(&node, 1760, 2 * GIB + GIB / 2), 9);
	assert_int_equal(plan_node_holds(&node, 6260, 8 * GIB + GIB / 2), 2);
	assert_int_equal(plan_node_holds(&node, 4760, 9 * GIB + GIB / 2), 3);
	assert_int_equal(plan_node_holds(&node, 16001, GIB), 0);
	assert_int_equal(plan_node_holds(&node, 0, GIB), 32);
	assert_int_equal(plan_node_holds(&node, 1000, 0), 16);
}

/*
 * Three of 6 cores need two nodes, of equals the shortest life first; the small one that
 * comes then goes to the first node, though the second is emptier, and keeps it longer.
 */
static void test_first_fit(void **state)
{
	struct plan_pod pods[] = {
		{{10, 150, 0}, 1000, GIB},
		{{0, 100, 0}, 6000, GIB},
		{{0, 100, 0}, 6000, GIB},
		{{0, 40, 0}, 6000, GIB},
	};
	int64_t most;

	(void)state;
	assert_int_equal(plan_node_time(&node, pods, COUNT(pods), &most), 150 + 100);
	assert_int_equal(most, 2);
}

/* A node goes with its last worker, and one that begins at that moment takes the room. */
static void test_nodes_go_and_come(void **state)
{
	struct plan_pod pods[] = {{{0, 10, 0}, 16000, GIB},
				  {{10, 30, 0}, 16000, GIB},
				  {{100, 110, 0}, 16000, GIB},
				  {{105, 120, 0}, 1, 32 * GIB}};
	int64_t most;

	(void)state;
	assert_int_equal(plan_node_time(&node, pods, COUNT(pods), &most), 10 + 20 + 10 + 15);
	assert_int_equal(most, 2);
	assert_int_equal(plan_node_time(&node, pods, 0, &most), 0);
	assert_int_equal(most, 0);
}

/* ---- one execution ---- */

#define S INT64_C(1000000000)

/* Two actions at once on one worker of 1 core and 2 GiB that is always there. */
static void test_replay(void **state)
{
	const struct plan_row rows[] = {
		{.arrival_ns = 10 * S,
		 .start_ns = 11 * S,
		 .completed_ns = 21 * S,
		 .run_ns = 8 * S,
		 .cpu_ns = 32 * S,
		 .peak_bytes = 3 * GIB,
		 .allotment_id = UNKNOWN},
		{.arrival_ns = 10 * S,
		 .start_ns = 21 * S,
		 .completed_ns = 31 * S,
		 .run_ns = UNKNOWN,
		 .cpu_ns = 32 * S,
		 .peak_bytes = GIB,
		 .allotment_id = UNKNOWN,
		 .peak_is_lower_bound = true},
	};
	const size_t site_of[] = {0, 0};
	struct plan_site site = {.pool = {.workers_min = 1, .workers_max = 1, .concurrency = 1},
				 .pod_cpu_milli = 1500,
				 .pod_memory_bytes = GIB,
				 .limit_bytes = 2 * GIB,
				 .share = 1};
	struct plan_figures figures;

	(void)state;
	plan_figures_init(&figures);
	plan_replay(&site, 1, 0, rows, site_of, 2, &node, &figures);
	plan_finish(&figures);
	assert_int_equal(figures.actions, 2);
	assert_int_equal(figures.makespan_ns, 20 * S);
	assert_int_equal(figures.worker_ns, 20 * S);
	assert_int_equal(figures.node_ns, 20 * S);
	assert_int_equal(figures.most_workers, 1);
	assert_int_equal(figures.most_nodes, 1);
	assert_int_equal(figures.at_risk, 1);
	assert_int_equal(figures.risk_unknown, 1);
	assert_int_equal(figures.requested_core_ns, 30 * S);
	assert_int_equal(plan_wait_sum(&figures), 10 * S);
	assert_int_equal(plan_wait_p90(&figures), 10 * S);
	assert_int_equal(plan_wait_max(&figures), 10 * S);
	plan_figures_release(&figures);
	/* With two jobs the first runs 32 / 2 seconds in place of 8; of the other nothing is known.
	 */
	site.jobs = 2;
	plan_replay(&site, 1, 0, rows, site_of, 2, NULL, &figures);
	assert_int_equal(figures.makespan_ns, (18 + 10) * S);
	assert_int_equal(figures.node_ns, UNKNOWN);
	plan_figures_release(&figures);
}

/* What is not known of one site is not known of all. */
static void test_replay_of_unknown_requests(void **state)
{
	const struct plan_row rows[] = {
		{.arrival_ns = S,
		 .start_ns = S,
		 .completed_ns = 2 * S,
		 .run_ns = S,
		 .cpu_ns = S,
		 .peak_bytes = GIB,
		 .allotment_id = UNKNOWN},
		{.arrival_ns = S,
		 .start_ns = S,
		 .completed_ns = 4 * S,
		 .run_ns = S,
		 .cpu_ns = S,
		 .peak_bytes = GIB,
		 .allotment_id = UNKNOWN},
	};
	const size_t site_of[] = {0, 1};
	const struct plan_site known = {
		.pool = {.workers_max = 1, .concurrency = 1, .cooldown_ns = 5 * S},
		.pod_cpu_milli = 1000,
		.pod_memory_bytes = GIB,
		.limit_bytes = 2 * GIB,
		.share = 1};
	struct plan_site sites[] = {known, known};
	struct plan_figures figures;

	(void)state;
	sites[1].pod_cpu_milli = sites[1].pod_memory_bytes = sites[1].limit_bytes = UNKNOWN;
	plan_figures_init(&figures);
	plan_replay(sites, 2, 0, rows, site_of, 2, &node, &figures);
	assert_int_equal(figures.makespan_ns, 3 * S);
	assert_int_equal(figures.worker_ns, (1 + 5 + 3 + 5) * S);
	assert_int_equal(figures.most_workers, 2);
	assert_int_equal(figures.node_ns, UNKNOWN);
	assert_int_equal(figures.requested_core_ns, UNKNOWN);
	assert_int_equal(figures.at_risk, UNKNOWN);
	assert_int_equal(figures.risk_unknown, 1);
	plan_figures_release(&figures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape_of_a_package),
		cmocka_unit_test(test_cores_never_outweigh_memory),
		cmocka_unit_test(test_margins),
		cmocka_unit_test(test_the_largest_numbers),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_pods_on_a_node),
		cmocka_unit_test(test_first_fit),
		cmocka_unit_test(test_nodes_go_and_come),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_replay_of_unknown_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

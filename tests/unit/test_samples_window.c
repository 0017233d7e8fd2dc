/* What samples tell of a stretch of time: nothing from beside it, nothing filled in. */
#include "cluster_samples_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define S INT64_C(1000000000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Samples as {second, value}. */
static struct series_sample steady[] = {
	{0 * S, 5}, {10 * S, 7}, {20 * S, 11}, {30 * S, 12}, {40 * S, 12},
};
static struct series_sample falling[] = {
	{0 * S, 100}, {10 * S, 130}, {20 * S, 2}, {30 * S, 12}, {40 * S, 13},
};

static struct sample_list list_of(struct series_sample *items, size_t count)
{
	return (struct sample_list){items, count, count};
}

static struct interval span(int64_t from_s, int64_t to_s)
{
	return (struct interval){from_s * S, to_s * S};
}

static struct container_figures cpu_in(struct sample_list list, struct interval in, int64_t *peak)
{
	struct container_figures figures = CONTAINER_FIGURES_INIT;

	*peak = UNKNOWN;
	window_add_cpu(&figures, &list, in, peak);
	return figures;
}

static struct container_figures minute_in(struct sample_list list, struct interval in)
{
	struct container_figures figures = CONTAINER_FIGURES_INIT;

	minute_add_cpu(&figures, &list, in);
	return figures;
}

static void test_both_ends_belong_to_it(void **state)
{
	struct sample_list list = list_of(steady, COUNT(steady));

	(void)state;
	assert_int_equal(samples_in(&list, span(10, 30)), 3);
	assert_int_equal(samples_in(&list, (struct interval){10 * S + 1, 30 * S - 1}), 1);
	assert_int_equal(samples_in(&list, span(11, 19)), 0);
	assert_int_equal(samples_in(&list, span(41, 99)), 0);
	assert_int_equal(samples_in(&list, (struct interval){INT64_MIN, INT64_MAX}), 5);
	assert_int_equal(samples_at(&list, 41 * S), 5);
	list.count = 0;
	assert_int_equal(samples_in(&list, span(0, 99)), 0);
}

static void test_memory(void **state)
{
	struct sample_list set = list_of(falling, COUNT(falling)), anon = list_of(steady, 3);
	struct container_figures figures = CONTAINER_FIGURES_INIT;

	(void)state;
	window_add_memory(&figures, &set, &anon, span(11, 19));
	assert_int_equal(figures.memory_samples, 0);
	assert_true(figures.working_set_peak_bytes == UNKNOWN &&
		    figures.anon_peak_bytes == UNKNOWN);
	window_add_memory(&figures, &set, &anon, span(15, 45));
	assert_int_equal(figures.memory_samples, 3);
	assert_int_equal(figures.working_set_peak_bytes, 13);
	assert_int_equal(figures.anon_peak_bytes, 11);
	/* Another life of the container: the larger peak stays, samples add up. */
	window_add_memory(&figures, &anon, &set, span(0, 10));
	assert_int_equal(figures.memory_samples, 5);
	assert_int_equal(figures.working_set_peak_bytes, 13);
	assert_int_equal(figures.anon_peak_bytes, 130);
}

static void test_cpu(void **state)
{
	struct sample_list list = list_of(steady, COUNT(steady));
	struct container_figures figures;
	int64_t peak;

	(void)state;
	/* 5 s at the edges are in no pair: what happened there is not known. */
	figures = cpu_in(list, span(5, 35), &peak);
	assert_int_equal(figures.cpu_samples, 3);
	assert_int_equal(figures.cpu_ns, 5 * S);
	assert_int_equal(figures.cpu_window_ns, 20 * S);
	assert_int_equal(peak, 400);
	figures = cpu_in(list, span(30, 40), &peak);
	assert_int_equal(figures.cpu_ns, 0);
	assert_int_equal(peak, 0);
	figures = cpu_in(list, span(5, 15), &peak);
	assert_int_equal(figures.cpu_samples, 1);
	assert_true(figures.cpu_ns == UNKNOWN && figures.cpu_window_ns == UNKNOWN);
	assert_true(peak == UNKNOWN);
	figures = cpu_in(list, span(50, 60), &peak);
	assert_int_equal(figures.cpu_samples, 0);
}

static void test_a_counter_that_falls(void **state)
{
	int64_t peak;
	struct container_figures figures =
		cpu_in(list_of(falling, COUNT(falling)), span(0, 40), &peak);

	(void)state;
	assert_int_equal(figures.cpu_samples, 5);
	assert_int_equal(figures.cpu_ns, (30 + 10 + 1) * S);
	assert_int_equal(figures.cpu_window_ns, 30 * S);
	assert_int_equal(peak, 3000);
}

static void test_huge_counters(void **state)
{
	struct series_sample items[] = {{0, 0},	      {1000000, 9e8}, {2000000, 0}, {3000000, 9e8},
					{4000000, 0}, {5000000, 9e9}, {6000000, 0}, {7000000, 9e9}};
	int64_t peak;
	struct container_figures figures =
		cpu_in(list_of(items, COUNT(items)), (struct interval){0, 7000000}, &peak);

	(void)state;
	assert_int_equal(figures.cpu_ns, INT64_MAX);
	assert_int_equal(figures.cpu_window_ns, 4000000);
}

/* A rise counts in the minute in which it ends, so that minutes add up to the whole. */
static void test_minutes(void **state)
{
	struct sample_list list = list_of(steady, COUNT(steady));
	struct container_figures a = minute_in(list, (struct interval){0, 20 * S - 1});
	struct container_figures b = minute_in(list, (struct interval){20 * S, 40 * S});

	(void)state;
	assert_int_equal(a.cpu_samples, 1);
	assert_int_equal(a.cpu_ns, 2 * S);
	assert_int_equal(b.cpu_samples, 3);
	assert_int_equal(b.cpu_ns, 5 * S);
	assert_int_equal(b.cpu_window_ns, 30 * S);
	assert_int_equal(minute_in(list, span(31, 39)).cpu_samples, 0);
}

static void test_a_gap_in_the_samples(void **state)
{
	struct series_sample items[] = {{0, 0}, {300 * S, 60}, {601 * S, 1000}};
	struct container_figures figures = minute_in(list_of(items, COUNT(items)), span(0, 700));

	(void)state;
	assert_int_equal(figures.cpu_samples, 1);
	assert_int_equal(figures.cpu_ns, 60 * S);
}

static void test_interval(void **state)
{
	struct series_sample items[] = {{0, 0}, {15 * S, 0}, {29 * S, 0}, {45 * S, 0}, {90 * S, 0}};
	struct sample_list list = list_of(items, COUNT(items));
	struct sample_gaps gaps = {NULL, 0, 0};

	(void)state;
	assert_true(gaps_median_ms(&gaps) == UNKNOWN);
	gaps_add(&gaps, &list, span(0, 14));
	assert_int_equal(gaps.count, 0);
	gaps_add(&gaps, &list, span(0, 90));
	assert_int_equal(gaps.count, 4);
	assert_int_equal(gaps_median_ms(&gaps), 16000);
	gaps_release(&gaps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ends_belong_to_it),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_a_counter_that_falls),
		cmocka_unit_test(test_huge_counters),
		cmocka_unit_test(test_minutes),
		cmocka_unit_test(test_a_gap_in_the_samples),
		cmocka_unit_test(test_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

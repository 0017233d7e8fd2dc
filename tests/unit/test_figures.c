/* The report's arithmetic against numbers worked out by hand. */
#include "figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define S INT64_C(1000000000)
#define MIB (INT64_C(1) << 20)

static void test_buckets_split_at_their_lower_bound(void **state)
{
	static const int64_t walls[] = {0,	    5 * S - 1, 5 * S,	    20 * S - 1, 20 * S,
					60 * S - 1, 60 * S,    300 * S - 1, 300 * S,	9000 * S};
	struct figures figures;
	size_t i;

	(void)state;
	figures_init(&figures);
	for (i = 0; i < sizeof(walls) / sizeof(*walls); i++)
		figures_add(&figures, walls[i], S, UNKNOWN, false);
	figures_finish(&figures);
	for (i = 0; i < FIGURES_BUCKETS; i++)
		assert_int_equal(figures.buckets[i].actions, 2);
	assert_string_equal(figures.buckets[0].name, "0-5 s");
	assert_string_equal(figures.buckets[4].name, "300+ s");
	figures_release(&figures);
}

static void test_sums_are_of_known_values(void **state)
{
	struct figures figures;

	(void)state;
	figures_init(&figures);
	figures_add(&figures, 2 * S, 4 * S, 30 * MIB, false);
	figures_add(&figures, 3 * S, 1 * S, UNKNOWN, true);
	figures_add(&figures, 30 * S, 60 * S, 500 * MIB, false);
	figures_finish(&figures);
	assert_int_equal(figures.actions, 3);
	assert_int_equal(figures.on_signal, 1);
	assert_true(figures.wall_s == 35 && figures.cpu_s == 65);
	assert_true(figures_average(figures.wall_s, figures.cpu_s) == 65.0 / 35);
	assert_int_equal(figures.max_rss_bytes, 500 * MIB);
	assert_int_equal(figures.min_rss_bytes, 30 * MIB);
	assert_int_equal(figures.buckets[0].max_rss_bytes, 30 * MIB);
	assert_true(figures.buckets[0].wall_s == 5 && figures.buckets[0].cpu_s == 5);
	assert_true(figures.buckets[1].max_rss_bytes == UNKNOWN);
	figures_release(&figures);
	assert_int_equal(figures.actions, 0);
}

static void test_cores_of_less_than_a_millisecond(void **state)
{
	(void)state;
	assert_true(figures_cores(0, 2000000) == 2.0);
	assert_true(figures_cores(999999, 1000000) == 1.0);
	assert_true(figures_cores(2 * S, 3 * S) == 1.5);
	assert_true(figures_average(0, 1) == 0);
}

/* sorted[min(n - 1, floor(0.9 n))] of the cores 1 … n, added in reverse. */
static void check_p90(int n, double want)
{
	struct figures figures;
	int i;

	figures_init(&figures);
	for (i = n; i >= 1; i--)
		figures_add(&figures, S, i * S, UNKNOWN, false);
	figures_finish(&figures);
	assert_true(figures_p90(&figures.buckets[0]) == want);
	figures_release(&figures);
}

static void test_p90_is_the_scripts(void **state)
{
	(void)state;
	check_p90(1, 1);
	check_p90(2, 2);
	check_p90(9, 9);
	check_p90(10, 10);
	check_p90(11, 10);
	check_p90(20, 19);
	check_p90(100, 91);
	check_p90(137, 124);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_split_at_their_lower_bound),
		cmocka_unit_test(test_sums_are_of_known_values),
		cmocka_unit_test(test_cores_of_less_than_a_millisecond),
		cmocka_unit_test(test_p90_is_the_scripts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Stretches of time: joining what is near, taking away what is there. */
#include "util/intervals.h"

#include "util/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void assert_list(struct intervals *list, const char *wanted)
{
	struct buf text = BUF_INIT;
	size_t i;

	for (i = 0; i < list->count; i++)
		buf_addf(&text, "%s%" PRId64 "-%" PRId64, i ? " " : "", list->items[i].from,
			 list->items[i].to);
	assert_string_equal(text.len ? text.data : "", wanted);
	buf_release(&text);
}

static struct intervals made(void)
{
	struct intervals list = INTERVALS_INIT;

	intervals_add(&list, 50, 60);
	intervals_add(&list, 10, 20);
	intervals_add(&list, 9, 8);
	intervals_add(&list, 25, 30);
	intervals_add(&list, 12, 15);
	return list;
}

static void test_join(void **state)
{
	struct intervals list = INTERVALS_INIT;

	(void)state;
	intervals_join(&list, 5);
	assert_list(&list, "");
	list = made();
	intervals_join(&list, 0);
	assert_list(&list, "10-20 25-30 50-60");
	intervals_join(&list, 4);
	assert_list(&list, "10-20 25-30 50-60");
	intervals_join(&list, 5);
	assert_list(&list, "10-30 50-60");
	intervals_add(&list, 30, 50);
	intervals_join(&list, 0);
	assert_list(&list, "10-60");
	intervals_release(&list);
}

static void test_ends_of_the_line(void **state)
{
	struct intervals list = INTERVALS_INIT;

	(void)state;
	intervals_add(&list, INT64_MAX - 1, INT64_MAX);
	intervals_add(&list, INT64_MIN, INT64_MIN + 1);
	intervals_join(&list, INT64_MAX);
	assert_int_equal(list.count, 2);
	intervals_subtract(&list, (struct interval){INT64_MIN, INT64_MAX});
	assert_int_equal(list.count, 0);
	intervals_release(&list);
}

static void measure(struct intervals list, int64_t covered, size_t most)
{
	int64_t got_covered;
	size_t got_most;

	intervals_measure(&list, &got_covered, &got_most);
	assert_int_equal(got_covered, covered);
	assert_int_equal(got_most, most);
	intervals_release(&list);
}

static void test_measure(void **state)
{
	struct intervals list = INTERVALS_INIT;

	(void)state;
	measure(list, 0, 0);
	measure(made(), 25, 2);
	intervals_add(&list, 5, 5);
	measure(list, 0, 0);
	list = made();
	intervals_add(&list, 20, 25);
	intervals_add(&list, 60, 70);
	intervals_add(&list, 60, 70);
	intervals_add(&list, 15, 18);
	intervals_add(&list, 40, 40);
	measure(list, 40, 2);
	list = (struct intervals)INTERVALS_INIT;
	intervals_add(&list, 0, INT64_MAX);
	intervals_add(&list, INT64_MAX - 1, INT64_MAX);
	intervals_add(&list, INT64_MAX, INT64_MAX);
	measure(list, INT64_MAX, 2);
}

static void subtract(int64_t from, int64_t to, const char *wanted)
{
	struct intervals list = made();

	intervals_add(&list, 40, 40);
	intervals_join(&list, 0);
	intervals_subtract(&list, (struct interval){from, to});
	assert_list(&list, wanted);
	intervals_release(&list);
}

static void test_subtract(void **state)
{
	(void)state;
	subtract(0, 10, "10-20 25-30 40-40 50-60");
	subtract(61, 70, "10-20 25-30 40-40 50-60");
	subtract(20, 25, "10-20 25-30 40-40 50-60");
	subtract(0, 12, "12-20 25-30 40-40 50-60");
	subtract(12, 15, "10-12 15-20 25-30 40-40 50-60");
	subtract(12, 27, "10-12 27-30 40-40 50-60");
	subtract(10, 20, "25-30 40-40 50-60");
	subtract(40, 40, "10-20 25-30 50-60");
	subtract(55, 55, "10-20 25-30 40-40 50-55 55-60");
	subtract(11, 59, "10-11 59-60");
	subtract(0, 100, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_ends_of_the_line),
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_subtract),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

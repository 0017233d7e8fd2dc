/* The pure parts of a page: escapes, headings, axes, cells, columns over time, scatter plots. */
#include "html_axis.h"
#include "html_bins.h"
#include "html_scatter.h"
#include "html_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- text ---- */

static void check_text(struct str text, const char *wanted)
{
	struct buf html = BUF_INIT;

	html_add_text(&html, text);
	assert_string_equal(html.data, wanted);
	buf_release(&html);
}

static void test_text_is_no_markup(void **state)
{
	(void)state;
	check_text(STR("<script>\"'&</script>"), "&lt;script&gt;&quot;&#39;&amp;&lt;/script&gt;");
	check_text(STR("a\xe2\x80\xaegnp"), "a\\u202egnp");
	check_text(STR("a\0b\x1b[31m\x7f\n"), "a\\x00b\\x1b[31m\\x7f\\n");
	check_text(STR("\xd8\x9c\xff\xc3\xbc"), "\\u061c\\xff\xc3\xbc");
	check_text(STR("&lt;"), "&amp;lt;");
}

static void check_short(const char *text, size_t max, const char *wanted)
{
	struct buf html = BUF_INIT;

	html_add_short(&html, str_of(text), max);
	assert_string_equal(html.data, wanted);
	buf_release(&html);
}

static void test_short_text_is_cut_between_characters(void **state)
{
	(void)state;
	check_short("abcd", 4, "abcd");
	check_short("abcde", 4, "abc…");
	check_short("äöüß", 4, "äöüß");
	check_short("äöüßx", 4, "äöü…");
	check_short("<<<<<", 3, "&lt;&lt;…");
}

static void check_heading(const char *column, const char *wanted)
{
	struct buf html = BUF_INIT;

	html_add_heading(&html, column);
	assert_string_equal(html.data, wanted);
	buf_release(&html);
}

static void test_headings(void **state)
{
	(void)state;
	check_heading("peak_p95_gib", "peak p95, GiB");
	check_heading("wall_s", "wall, s");
	check_heading("fit_wall_pct", "fit wall, %");
	check_heading("requested_gib_h", "requested, GiB h");
	check_heading("used_core_h", "used, core h");
	check_heading("executed_utc", "executed, UTC");
	check_heading("max_rss_gib", "max RSS, GiB");
	check_heading("pct", "%");
	check_heading("results", "results");
	check_heading("_s", " s");
}

static void test_numbers_with_units(void **state)
{
	struct buf html = BUF_INIT;

	(void)state;
	html_add_count(&html, 999);
	html_add_count(&html, 1001);
	html_add_count(&html, 12000345);
	assert_string_equal(html.data, "9991,00112,000,345");
	buf_clear(&html);
	html_add_seconds(&html, 0.01);
	html_add_seconds(&html, 1.5);
	html_add_seconds(&html, 1000);
	assert_string_equal(html.data, "10 ms1.5 s1000 s");
	buf_clear(&html);
	html_add_bytes(&html, 512 * 1048576.0);
	html_add_bytes(&html, 1536 * 1048576.0);
	assert_string_equal(html.data, "512 MiB1.5 GiB");
	buf_release(&html);
}

/* ---- axes ---- */

static void check_axis(struct axis axis, double from, double to, int ticks)
{
	double value = 0;
	int count = 0;

	while (axis_tick(&axis, count, &value))
		count++;
	assert_true(axis.from >= from * (1 - 1e-9) && axis.from <= from * (1 + 1e-9));
	assert_true(axis.to >= to * (1 - 1e-9) && axis.to <= to * (1 + 1e-9));
	assert_int_equal(count, ticks);
}

static void test_axes_end_at_round_numbers(void **state)
{
	(void)state;
	check_axis(axis_linear(4.4, 6), 0, 5, 6);
	check_axis(axis_linear(5, 5), 0, 5, 6);
	check_axis(axis_linear(247, 4), 0, 300, 4);
	check_axis(axis_linear(0, 5), 0, 1, 6);
	check_axis(axis_linear(0.003, 3), 0, 0.003, 4);
	check_axis(axis_log(0.001, 1000, 10, 8), 0.001, 1000, 7);
	check_axis(axis_log(0.0011, 999, 10, 8), 0.001, 1000, 7);
	check_axis(axis_log(5, 5, 10, 8), 1, 10, 2);
	check_axis(axis_log(1, 1, 10, 8), 1, 10, 2);
	/* More powers than ticks: every other one, and a whole number of steps. */
	check_axis(axis_log(1, 1024, 2, 5), 1, 1024, 6);
	check_axis(axis_log(1, 2048, 2, 6), 1, 4096, 7);
}

static void test_places_on_an_axis(void **state)
{
	struct axis axis = axis_log(1, 100, 10, 4);

	(void)state;
	axis.start = 200;
	axis.end = 0;
	assert_true(axis_place(&axis, 1) == 200);
	assert_true(axis_place(&axis, 10) == 100);
	assert_true(axis_place(&axis, 100) == 0);
	assert_true(axis_place(&axis, 0) == 200);
	assert_true(axis_place(&axis, 1e9) == 0);
	axis = axis_linear(10, 5);
	axis.end = 50;
	assert_true(axis_place(&axis, 2.5) == 12.5);
	assert_true(axis_place(&axis, -1) == 0);
}

/* ---- cells and columns ---- */

static void test_points_are_counted_by_cell(void **state)
{
	struct bins bins;

	(void)state;
	bins_init(&bins, 4, 2);
	bins_add(&bins, 0, 0);
	bins_add(&bins, 0.24, 0.49);
	bins_add(&bins, 0.25, 0.5);
	bins_add(&bins, 1, 1);
	bins_add(&bins, 7, 7);
	bins_add(&bins, -1, -1);
	assert_int_equal(bins_count(&bins, 0, 0), 3);
	assert_int_equal(bins_count(&bins, 1, 1), 1);
	assert_int_equal(bins_count(&bins, 3, 1), 2);
	assert_int_equal(bins.used, 3);
	assert_int_equal(bins.largest, 3);
	bins_release(&bins);
}

static void test_levels_are_logarithmic(void **state)
{
	(void)state;
	assert_int_equal(bins_level(1, 1, 5), 4);
	assert_int_equal(bins_level(1, 100000, 5), 0);
	assert_int_equal(bins_level(11, 100000, 5), 1);
	assert_int_equal(bins_level(1001, 100000, 5), 3);
	assert_int_equal(bins_level(100000, 100000, 5), 4);
}

static void test_steps_as_columns(void **state)
{
	struct series series;

	(void)state;
	series_init(&series, 0, 40, 4);
	series_add(&series, -10, 5, 2);	 /* its first half of the first column */
	series_add(&series, 5, 15, 6);	 /* over a border */
	series_add(&series, 30, 100, 1); /* beyond the end */
	series_add(&series, 50, 60, 9);
	series_add(&series, 20, 20, 7);
	assert_true(series_average(&series, 0) == (5 * 2 + 5 * 6) / 10.0);
	assert_true(series_average(&series, 1) == 3 && series.columns[1].largest == 6);
	assert_true(series_average(&series, 2) == 0 && series.columns[2].largest == 0);
	assert_true(series_average(&series, 3) == 1 && series.columns[3].largest == 1);
	series_release(&series);
	series_init(&series, 3, 3, 2);
	series_add(&series, 3, 3, 1);
	assert_true(series_average(&series, 0) == 0);
	series_release(&series);
}

/* ---- scatter plots ---- */

static struct scatter scatter_of(const double *points, size_t count)
{
	struct scatter scatter = {.x = axis_log(1, 100, 10, 4),
				  .y = axis_linear(10, 5),
				  .points = points,
				  .count = count};

	scatter.x.end = 100;
	scatter.y.start = 100;
	return scatter;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part)) != NULL) {
		text += strlen(part);
		count++;
	}
	return count;
}

static void test_few_points_are_dots_many_are_cells(void **state)
{
	double *points = calloc(2 * (SCATTER_POINTS_MAX + 1), sizeof(*points));
	struct scatter scatter;
	struct buf html = BUF_INIT;
	size_t i;

	(void)state;
	assert_non_null(points);
	for (i = 0; i <= SCATTER_POINTS_MAX; i++)
		points[2 * i] = i % 2 ? 1 : 90;
	scatter = scatter_of(points, SCATTER_POINTS_MAX);
	assert_int_equal(scatter_add(&html, &scatter), 0);
	assert_int_equal(count_of(html.data, "h0"), SCATTER_POINTS_MAX);
	buf_clear(&html);
	scatter = scatter_of(points, SCATTER_POINTS_MAX + 1);
	assert_int_equal(scatter_add(&html, &scatter), 2);
	assert_int_equal(count_of(html.data, "h5v-5h-5z"), 2);
	buf_release(&html);
	free(points);
}

static void test_names_do_not_cover_each_other(void **state)
{
	static const double points[] = {1, 1};
	static const struct scatter_mark marks[] = {
		{2, 5, "<first>", "a \"name\""}, {2, 5.1, "second", ""}, {2, 9, "third", ""}};
	struct scatter scatter = scatter_of(points, 1);
	struct buf html = BUF_INIT;

	(void)state;
	scatter.marks = marks;
	scatter.mark_count = 3;
	scatter_add(&html, &scatter);
	assert_int_equal(count_of(html.data, "<circle"), 3);
	assert_int_equal(count_of(html.data, "&lt;first&gt;"), 1);
	assert_int_equal(count_of(html.data, "second"), 0);
	assert_int_equal(count_of(html.data, "third"), 1);
	assert_int_equal(count_of(html.data, "a &quot;name&quot;"), 1);
	buf_release(&html);
}

/* A name between two rings would read as either's: to the left, or not at all. */
static void test_names_keep_off_other_marks(void **state)
{
	static const double points[] = {1, 1};
	static const struct scatter_mark marks[] = {{20, 5, "one", ""}, {40, 5, "two", ""}};
	struct scatter scatter = scatter_of(points, 1);
	struct buf html = BUF_INIT;

	(void)state;
	scatter.marks = marks;
	scatter.mark_count = 2;
	scatter_add(&html, &scatter);
	assert_int_equal(count_of(html.data, "<text class=\"lab end\""), 1);
	assert_int_equal(count_of(html.data, ">one<"), 1);
	assert_int_equal(count_of(html.data, ">two<"), 0);
	buf_release(&html);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_no_markup),
		cmocka_unit_test(test_short_text_is_cut_between_characters),
		cmocka_unit_test(test_headings),
		cmocka_unit_test(test_numbers_with_units),
		cmocka_unit_test(test_axes_end_at_round_numbers),
		cmocka_unit_test(test_places_on_an_axis),
		cmocka_unit_test(test_points_are_counted_by_cell),
		cmocka_unit_test(test_levels_are_logarithmic),
		cmocka_unit_test(test_steps_as_columns),
		cmocka_unit_test(test_few_points_are_dots_many_are_cells),
		cmocka_unit_test(test_names_do_not_cover_each_other),
		cmocka_unit_test(test_names_keep_off_other_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

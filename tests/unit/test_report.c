/* The report over a database made by made_report.c. */
#include "made_report.h"
#include "report.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int result, const struct err *err)
{
	if (result < 0)
		fail_msg("%s", err->text);
}

/* ---- the page ---- */

typedef int choose_fn(struct report_scope *scope, struct err *err);

static int choose_project(struct report_scope *scope, struct err *err)
{
	return report_scope_project(store, "demo", scope, err);
}

static int choose_run(struct report_scope *scope, struct err *err)
{
	static const char *const path = LOG_A;

	return report_scope_paths(store, &path, 1, true, scope, err);
}

static int choose_all(struct report_scope *scope, struct err *err)
{
	return report_scope_all(store, scope, err);
}

/* What the report prints; the caller frees it. */
static char *report_of(choose_fn *choose, const struct report_options *options)
{
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	check(choose(&scope, &err), &err);
	check(report_print(store, &scope, options, out, &err), &err);
	fclose(out);
	report_scope_release(&scope);
	return text;
}

static void test_page_of_a_project(void **state)
{
	struct report_options options = REPORT_OPTIONS_INIT;
	char *text = report_of(choose_project, &options);

	(void)state;
	check_has(text, "demo, 2 runs, 1 cell\n"
			"5 of 8 actions have a stored result | wall 0.12 h | cpu 0.23 h | "
			"average 1.91 cores while running\n"
			"without one: 1 failed, 1 evicted, 1 uploaded_by_client "
			"(view missing_results)\n"
			"\n"
			"  wall time  actions  % of wall  avg cores  p90 cores  max RSS GiB\n"
			"  0-5 s            3        1.6       0.79       1.00         0.06\n"
			"  20-60 s          1        6.9       1.00       1.00         0.25\n"
			"  300-inf s        1       91.5       2.00       2.00         1.00\n"
			"\n"
			"actions that ended on a signal: 1\n"
			"longest 10: (5 of 5 shown)\n"
			"  id                     category     wall s  cores  RSS GiB  signal\n"
			"  host-gcc               br2_package   400.0   2.00     1.00  -\n"
			"  host-cmake             br2_package    30.0   1.00     0.25  -\n"
			"  tool                   br2_slice       4.0   1.00        -  -\n"
			"  zlib                   br2_package     2.0   0.50     0.06  -\n"
			"  root//package/p:check                  1.0   0.50     0.03  KILL\n"
			"\n");
	free(text);
}

static void test_notes_say_what_the_figures_hold(void **state)
{
	struct report_options options = REPORT_OPTIONS_INIT;
	char *text = report_of(choose_project, &options);

	(void)state;
	check_has(text, "largest single process of an action, never a sum");
	check_has(text, "(32.0 MiB is the least here)");
	check_has(text, "executed by other runs: 1 of the results (cache hits");
	check_has(text, "tests and listings: 1 of the digests");
	check_has(text, "uploaded by the client: 1 of the digests; Buck2 wrote them");
	check_has(text, "dev and viewcheck runs: 1 of the digests are theirs alone");
	check_has(text, "not read in full: 1 log (2 records skipped)");
	check_has(text, "gone from the cache: 1 result.");
	assert_null(strstr(text, "in flight"));
	free(text);
}

static void test_options_narrow_the_page(void **state)
{
	struct report_options options = {.top = 1, .min_wall_s = 30, .no_tests = true};
	char *text = report_of(choose_project, &options);

	(void)state;
	check_has(text, "4 of 7 actions have a stored result, 2 of them ran 30 s or longer | "
			"wall 0.12 h | cpu 0.23 h | average 1.93 cores while running\n");
	check_has(text, "longest 1: (1 of 2 shown)\n");
	check_has(text, "host-gcc");
	assert_null(strstr(text, "host-cmake"));
	assert_null(strstr(text, "0-5 s"));
	assert_null(strstr(text, "tests and listings"));
	free(text);
	options.top = 0;
	text = report_of(choose_project, &options);
	assert_null(strstr(text, "longest"));
	free(text);
}

static void test_page_of_the_whole_file(void **state)
{
	struct report_options options = REPORT_OPTIONS_INIT;
	char *text = report_of(choose_all, &options);

	(void)state;
	check_has(text, "the whole file: demo, demo2, 3 runs, 1 cell\n6 of 10 actions have");
	check_has(text, "not asked for yet: 1 result. br2-ingest asks\n");
	free(text);
}

/* Of one run; of several the page would need one each. */
static void test_the_critical_path_of_a_run(void **state)
{
	struct report_options options = REPORT_OPTIONS_INIT;
	char *text = report_of(choose_run, &options);

	(void)state;
	check_has(text, "\ncritical path: 404.0 s; gcc 401.0 s (99 %, heavy), zlib 2.5 s (1 %)"
			" (view critical_path)\n");
	free(text);
	text = report_of(choose_project, &options);
	assert_null(strstr(text, "critical path"));
	free(text);
}

static void test_rows_have_the_scripts_keys_first(void **state)
{
	struct report_options options = {.rows = true, .format = OUTPUT_JSON};
	char *text = report_of(choose_project, &options);

	(void)state;
	check_has(text, "[{\"digest\": "
			"\"0101010101010101010101010101010101010101010101010101010101010101:141\", "
			"\"category\": \"br2_package\", \"id\": \"host-gcc\", \"worker\": "
			"\"{\\\"pool\\\":\\\"shared\\\",\\\"slot\\\":"
			"\\\"worker-shared-5b6dd8dff9-2bv88\\\"}\", "
			"\"wall_s\": 400, \"cpu_s\": 800, \"cores\": 2, \"max_rss_gib\": 1, "
			"\"major_faults\": 3, \"termination_signal\": null, \"label\": "
			"\"root//package/p:gcc\"");
	check_has(text, "\"pod\": \"worker-shared-5b6dd8dff9-2bv88\"");
	check_has(text, "\"executed_utc\": \"2026-11-30T00:00:02.500Z\"");
	free(text);
	options.min_wall_s = 401;
	text = report_of(choose_project, &options);
	assert_string_equal(text, "[]\n");
	free(text);
}

static void test_rows_as_csv_and_lines(void **state)
{
	struct report_options options = {.rows = true, .format = OUTPUT_CSV, .min_wall_s = 100};
	char *text = report_of(choose_all, &options);

	(void)state;
	check_has(text, "digest,category,id,worker,wall_s,cpu_s,cores,max_rss_gib,major_faults,"
			"termination_signal,label,");
	check_has(text, ":141\",br2_package,host-gcc,\"{\"\"pool\"\":\"\"shared\"\"");
	check_has(text, ",400,800,2,1,3,,root//package/p:gcc,");
	free(text);
	options.min_wall_s = 500;
	text = report_of(choose_all, &options);
	assert_memory_equal(text, "digest,category,", 16);
	assert_string_equal(strchr(text, '\r'), "\r\n");
	free(text);
	options = (struct report_options){.rows = true, .format = OUTPUT_JSONL};
	text = report_of(choose_all, &options);
	assert_memory_equal(text, "{\"digest\": ", 11);
	assert_non_null(strstr(text, "}\n{\"digest\": "));
	free(text);
}

/* ---- the scope ---- */

static void check_paths(const char *path, const char *title)
{
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct err err = ERR_INIT;

	check(report_scope_paths(store, &path, 1, true, &scope, &err), &err);
	assert_string_equal(scope.title.data, title);
	report_scope_release(&scope);
}

static void test_paths_select_what_lies_below(void **state)
{
	(void)state;
	check_paths(LOG_A, "demo, 1 run, 1 cell");
	check_paths("/src/demo/buck-out/v2/log", "demo, 1 run");
	check_paths("/src/demo/buck-out", "demo, 2 runs, 1 cell");
	check_paths("/src/demo", "demo, 2 runs, 1 cell"); /* not demo2, whose name begins so */
	check_paths("/src/demo2/", "demo2, 1 run");
	check_paths("/src", "demo, demo2, 3 runs, 1 cell");
	check_paths("/", "demo, demo2, 3 runs, 1 cell");
}

static void test_a_path_without_logs_is_told(void **state)
{
	const char *const paths[] = {LOG_A, "/src/dem"};
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(report_scope_paths(store, paths, 2, true, &scope, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	check_has(err.text, "/src/dem");
	report_scope_release(&scope);
	check(report_scope_paths(store, paths, 2, false, &scope, &err), &err);
	assert_int_equal(scope.run_count, 1);
	report_scope_release(&scope);
}

static int choose_nothing(struct report_scope *scope, struct err *err)
{
	return report_scope_project(store, "nobody\x1b", scope, err);
}

static void test_a_project_without_runs_says_what_to_do(void **state)
{
	struct report_options options = REPORT_OPTIONS_INIT;
	char *text = report_of(choose_nothing, &options);

	(void)state;
	check_has(text, "nobody\\x1b, 0 runs\n");
	check_has(text, "report --all");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_of_a_project),
		cmocka_unit_test(test_notes_say_what_the_figures_hold),
		cmocka_unit_test(test_options_narrow_the_page),
		cmocka_unit_test(test_page_of_the_whole_file),
		cmocka_unit_test(test_the_critical_path_of_a_run),
		cmocka_unit_test(test_rows_have_the_scripts_keys_first),
		cmocka_unit_test(test_rows_as_csv_and_lines),
		cmocka_unit_test(test_paths_select_what_lies_below),
		cmocka_unit_test(test_a_path_without_logs_is_told),
		cmocka_unit_test(test_a_project_without_runs_says_what_to_do),
	};

	return cmocka_run_group_tests(tests, made_report_setup, made_report_teardown);
}

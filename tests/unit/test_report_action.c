/* One action in full, over a database made by made_report.c. */
#include "made_report.h"
#include "report_action.h"

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

/* ---- one action ---- */

static int find(const char *text, char **out_digest, char **out_candidates)
{
	struct buf digest = BUF_INIT, candidates = BUF_INIT;
	struct err err = ERR_INIT;
	int rc = report_action_find(store, text, &digest, &candidates, &err);

	*out_digest = buf_detach(&digest);
	*out_candidates = buf_detach(&candidates);
	return rc;
}

static void check_found(const char *text, char first)
{
	char *digest, *candidates;

	if (find(text, &digest, &candidates) != 1)
		fail_msg("not found by %s", text);
	assert_int_equal(strlen(digest), 68);
	assert_int_equal(digest[1], first);
	assert_string_equal(candidates, "");
	free(digest);
	free(candidates);
}

#define HASH_4 "0404040404040404040404040404040404040404040404040404040404040404"

static void test_an_action_is_found_by_what_people_paste(void **state)
{
	(void)state;
	check_found(HASH_4 ":141", '4');
	check_found(HASH_4 "-141", '4');
	check_found(HASH_4 "/141", '4');
	check_found(HASH_4, '4');
	check_found("04040", '4');
	check_found("A1A1", '1');
	check_found("http://h:1/browser/demo/blobs/sha256/action/" HASH_4 "-141/", '4');
	check_found("demo/blobs/sha256/historical_execute_response/"
		    "abababababababababababababababababababababababababababababababab-710/",
		    '4');
}

static void check_not_found(const char *text, int want)
{
	char *digest, *candidates;

	assert_int_equal(find(text, &digest, &candidates), want);
	assert_string_equal(candidates, "");
	free(digest);
	free(candidates);
}

static void test_what_is_no_stored_action(void **state)
{
	(void)state;
	check_not_found("ffff", 0);
	check_not_found(HASH_4 ":142", 0);
	check_not_found("http://h/blobs/sha256/historical_execute_response/" HASH_4 "-1/", 0);
	check_not_found("040", -1);
	check_not_found("no digest", -1);
	check_not_found("", -1);
}

static void test_an_ambiguous_beginning_lists_candidates(void **state)
{
	char *digest, *candidates;

	(void)state;
	assert_int_equal(find("0202", &digest, &candidates), 0);
	assert_string_equal(candidates,
			    "0202020202020202020202020202020202020202020202020202020202020202:141"
			    "  root//package/p:zlib\n"
			    "0202020202020202020202020202020202020202020202020202020202020203:141"
			    "  root//package/p:twin\n");
	free(digest);
	free(candidates);
	check_found("0202020202020202020202020202020202020202020202020202020202020203", '2');
}

static char *page_of(const char *digest, bool json)
{
	struct buf buf = BUF_INIT;
	struct err err = ERR_INIT;

	check(json ? report_action_json(store, digest, &buf, &err)
		   : report_action_text(store, digest, &buf, &err),
	      &err);
	return buf_detach(&buf);
}

static void test_page_of_an_action_with_a_result(void **state)
{
	char *text = page_of("0101010101010101010101010101010101010101010101010101010101010101:141",
			     false);

	(void)state;
	check_has(text, "  label                      root//package/p:gcc\n");
	check_has(text, "  identifier                 host-gcc\n");
	check_has(text, "\nasked for:\n  instance                   demo\n");
	check_has(text, "  answer                     found\n");
	check_has(text, "\nreferred to by:\n");
	check_has(text, TRACE_A "  demo     2026-11-30 00:00:00.000  build");
	check_has(text, "\nstored result:\n  source                     action_cache\n");
	check_has(text, "  wall_s                     400\n  cpu_s                      800\n");
	check_has(text, "  pod                        worker-shared-5b6dd8dff9-2bv88\n");
	check_has(text, "  executed_by                " TRACE_A "\n");
	check_has(text, "  queued_utc                 2026-11-30 00:00:00.000\n");
	check_has(text, "  queued_s                   0.5\n");
	check_has(text, "  major_faults               3\n");
	assert_null(strstr(text, "missing_because"));
	free(text);
}

static void test_page_of_a_failed_action(void **state)
{
	char *text = page_of(HASH_4 ":141", false);

	(void)state;
	check_has(text, "  missing_because            failed\n");
	check_has(text, "failure");
	check_has(text, "\n    cc: \\x1b[31mbad\n    line two\n");
	assert_null(strstr(text, "stored result"));
	free(text);
}

static void test_object_of_an_action(void **state)
{
	char *text = page_of("0101010101010101010101010101010101010101010101010101010101010101:141",
			     true);

	(void)state;
	check_has(text, "{\"action\": [{\"digest\": \"0101");
	check_has(text, "\"attempts\": [{\"run\": \"" TRACE_A "\", \"project\": \"demo\", "
			"\"started_utc\": \"2026-11-30T00:00:00.000Z\"");
	check_has(text,
		  "\"in_flight\": [], \"texts\": [], \"kills\": [], \"results\": [{\"source\": "
		  "\"action_cache\", \"run\": null");
	assert_int_equal(text[strlen(text) - 1], '}');
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_action_is_found_by_what_people_paste),
		cmocka_unit_test(test_what_is_no_stored_action),
		cmocka_unit_test(test_an_ambiguous_beginning_lists_candidates),
		cmocka_unit_test(test_page_of_an_action_with_a_result),
		cmocka_unit_test(test_page_of_a_failed_action),
		cmocka_unit_test(test_object_of_an_action),
	};

	return cmocka_run_group_tests(tests, made_report_setup, made_report_teardown);
}

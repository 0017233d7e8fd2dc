/* The user's symptom table, row by row: counts in, likely cause and next command out. */
#include "symptom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *lines_of(const struct symptom_facts *facts)
{
	struct buf buf = BUF_INIT;

	symptom_add(facts, &buf);
	return buf_detach(&buf);
}

/* One line that holds all the words. */
static void check_line(const struct symptom_facts *facts, const char *const *words)
{
	char *text = lines_of(facts);

	assert_non_null(strchr(text, '\n'));
	assert_string_equal(strchr(text, '\n'), "\n");
	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("no '%s' in: %s", *words, text);
	free(text);
}

#define CHECK_LINE(facts, ...) check_line(facts, (const char *const[]){__VA_ARGS__, NULL})

static void test_nothing_to_say(void **state)
{
	struct symptom_facts facts = {.digests = 127, .with_usage = 127, .runs = 2};
	struct symptom_facts none = {0};
	char *text;

	(void)state;
	text = lines_of(&facts);
	assert_string_equal(text, "");
	free(text);
	text = lines_of(&none);
	assert_string_equal(text, "");
	free(text);
}

static void test_unreachable_names_the_port_forward(void **state)
{
	struct symptom_facts facts = {.digests = 127,
				      .runs = 1,
				      .missing[REASON_UNREACHABLE] = 127,
				      .endpoint = "localhost:8980"};

	(void)state;
	CHECK_LINE(&facts, "localhost:8980 cannot be reached: 127 results wanted",
		   "kubectl -n buildbarn port-forward svc/frontend 8980:8980 &", "then br2-ingest");
	facts.endpoint = NULL;
	CHECK_LINE(&facts, "the cache's frontend cannot be reached");
}

static void test_nothing_stored_suspects_the_instance_name(void **state)
{
	struct symptom_facts facts = {.digests = 127,
				      .runs = 1,
				      .missing[REASON_NEVER_STORED] = 127,
				      .instances = "demo, main/demo"};

	(void)state;
	CHECK_LINE(&facts, "no stored result for any action", "wrong instance name",
		   "tried: demo, main/demo", "--instance NAME", ".buckconfig");
}

static void test_a_few_missing_may_be_ignored(void **state)
{
	struct symptom_facts facts = {
		.digests = 127, .with_usage = 126, .runs = 1, .missing[REASON_EVICTED] = 1};

	(void)state;
	CHECK_LINE(&facts, "gone from the cache: 1 result.", "Ignore it, or build that cell again");
	facts.missing[REASON_EVICTED] = 0;
	facts.missing[REASON_FAILED] = 1;
	CHECK_LINE(&facts, "failed: 1 action,", "no numbers of their own", "views failures");
}

static void test_everything_gone_of_an_old_log(void **state)
{
	struct symptom_facts facts = {.digests = 300,
				      .with_usage = 173,
				      .runs = 4,
				      .gone_runs = 1,
				      .missing[REASON_EVICTED] = 127};

	(void)state;
	CHECK_LINE(&facts, "every result is gone of 1 of 4 runs", "cache is newer than their logs",
		   "soon after each build");
	facts.with_usage = 0;
	facts.runs = facts.gone_runs = 1;
	CHECK_LINE(&facts, "every result is gone of 1 of 1 run:");
}

static void test_a_log_that_does_not_read(void **state)
{
	struct symptom_facts facts = {.bad_logs = 1, .bad_records = 3};

	(void)state;
	CHECK_LINE(&facts, "not read in full: 1 log (3 records skipped)", "another Buck2",
		   "br2-ingest sql");
}

static void test_access_and_uploads_refused(void **state)
{
	struct symptom_facts refused = {
		.digests = 5, .missing[REASON_REFUSED] = 5, .endpoint = "cache:443"};
	struct symptom_facts uploads = {.digests = 62, .missing[REASON_REFUSED_UPLOAD] = 62};
	struct symptom_facts bare = {.digests = 5, .with_usage = 4, .missing[REASON_NO_USAGE] = 1};
	struct symptom_facts pending = {.digests = 5, .missing[REASON_NOT_ASKED] = 5};

	(void)state;
	CHECK_LINE(&refused, "cache:443 refuses: 5 results wanted", "--token-file");
	CHECK_LINE(&uploads, "never ran remotely: 62 actions", "digest_algorithms");
	CHECK_LINE(&bare, "without usage: 1 result", "POSIXResourceUsage");
	CHECK_LINE(&pending, "not asked for yet: 5 results", "br2-ingest asks");
}

static void test_several_symptoms_several_lines(void **state)
{
	struct symptom_facts facts = {.digests = 10,
				      .with_usage = 7,
				      .missing[REASON_EVICTED] = 1,
				      .missing[REASON_FAILED] = 1,
				      .missing[REASON_UNREACHABLE] = 1};
	char *text = lines_of(&facts);
	size_t lines = 0;
	const char *c;

	(void)state;
	for (c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 3);
	free(text);
}

static void test_reasons_have_names(void **state)
{
	int reason;

	(void)state;
	for (reason = 0; reason < REASON_COUNT; reason++)
		assert_int_equal(reason_parse(str_of(reason_name((enum reason)reason))), reason);
	assert_int_equal(reason_parse(STR("nonsense")), REASON_COUNT);
	assert_int_equal(reason_parse(STR_NULL), REASON_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_to_say),
		cmocka_unit_test(test_unreachable_names_the_port_forward),
		cmocka_unit_test(test_nothing_stored_suspects_the_instance_name),
		cmocka_unit_test(test_a_few_missing_may_be_ignored),
		cmocka_unit_test(test_everything_gone_of_an_old_log),
		cmocka_unit_test(test_a_log_that_does_not_read),
		cmocka_unit_test(test_access_and_uploads_refused),
		cmocka_unit_test(test_several_symptoms_several_lines),
		cmocka_unit_test(test_reasons_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

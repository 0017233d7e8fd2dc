#include "discover_name.h"

#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define T1 "83f0a1b2-0000-4000-8000-000000000001"
#define FIRST_NS (INT64_C(1796000400) * 1000000000) /* 2026-11-30 01:00:00 UTC */

static void check_name(const char *name, bool is_log, int64_t start_ns, const char *trace_id)
{
	struct log_name parsed;

	log_name_parse(name, &parsed);
	if (parsed.is_log != is_log || parsed.start_ns != start_ns)
		fail_msg("%s", name);
	assert_string_equal(parsed.trace_id, trace_id);
}

static void test_names(void **state)
{
	(void)state;
	check_name("20261130-010000_build_" T1 "_events.pb.zst", true, FIRST_NS, T1);
	check_name("20261130-010000_docs starlark_" T1 "_events.pb.zst", true, FIRST_NS, T1);
	check_name("20261130-010000_flush_pgo_profile_" T1 "_events.pb", true, FIRST_NS, T1);
	check_name("dl-" T1 ".pb.zst", true, UNKNOWN, T1);
	check_name("dl-x.pb.zst", true, UNKNOWN, "");
	check_name("x_events.pb", true, UNKNOWN, "");
	check_name("20261330-010000_build_" T1 "_events.pb", true, UNKNOWN, T1);
	check_name("20261130-010000_build_83f0_events.pb", true, FIRST_NS, "");
	check_name("20261130-010000x_events.pb", true, UNKNOWN, "");
}

static void test_every_encoding_s_suffix(void **state)
{
	static const char *const suffixes[] = {
		".json-lines", ".json-lines.gz", ".json-lines.zst", ".pb",
		".pb.gz",      ".pb.zst",	 ".proto",	    ".proto.gz",
	};
	char name[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "20261130-010000_build_" T1 "_events%s", suffixes[i]);
		check_name(name, true, FIRST_NS, T1);
		snprintf(name, sizeof(name), "dl-" T1 "%s", suffixes[i]);
		check_name(name, true, UNKNOWN, T1);
	}
}

static void test_other_names(void **state)
{
	(void)state;
	check_name("", false, UNKNOWN, "");
	check_name(".pb", false, UNKNOWN, "");
	check_name(T1, false, UNKNOWN, "");
	check_name("20261130-010000_build_" T1 ".pb.zst", false, UNKNOWN, "");
	check_name("20261130-010000_build_" T1 "_events", false, UNKNOWN, "");
	check_name("20261130-010000_build_" T1 "_events.pb.zst.tmp", false, UNKNOWN, "");
	check_name("20261130-010000_build_" T1 "_events.json", false, UNKNOWN, "");
	check_name("command_report.json", false, UNKNOWN, "");
	check_name("expected.json", false, UNKNOWN, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_every_encoding_s_suffix),
		cmocka_unit_test(test_other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

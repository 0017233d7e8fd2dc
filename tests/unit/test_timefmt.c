#include "util/timefmt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define S INT64_C(1000000000)
/* 2026-11-30 02:20:56 UTC, as `date -u -d … +%s` has it */
#define MOMENT (INT64_C(1796005256) * S)

static void check_parse(const char *text, int64_t expected)
{
	struct err err = ERR_INIT;
	int64_t ns = -7;

	if (time_parse(text, MOMENT, &ns, &err) < 0)
		fail_msg("%s", err.text);
	if (ns != expected)
		fail_msg("'%s' gives %lld", text, (long long)ns);
}

static void check_refused(const char *text, const char *words)
{
	struct err err = ERR_INIT;
	int64_t ns = -7;

	if (time_parse(text, MOMENT, &ns, &err) == 0)
		fail_msg("'%s' was taken for %lld", text, (long long)ns);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, words));
	assert_true(ns == -7);
}

static void test_format(void **state)
{
	char text[TIME_TEXT_MAX];

	(void)state;
	time_format(MOMENT + 123999999, text);
	assert_string_equal(text, "2026-11-30 02:20:56.123");
	time_format_rfc3339(MOMENT + 123999999, text);
	assert_string_equal(text, "2026-11-30T02:20:56.123Z");
	time_format(0, text);
	assert_string_equal(text, "1970-01-01 00:00:00.000");
	time_format(-1, text);
	assert_string_equal(text, "1969-12-31 23:59:59.999");
	time_format(INT64_MAX, text);
	assert_string_equal(text, "2262-04-11 23:47:16.854");
	time_format_rfc3339(INT64_MIN, text);
	assert_string_equal(text, "1677-09-21T00:12:43.145Z");
}

static void test_ages(void **state)
{
	(void)state;
	check_parse("2d", MOMENT - 172800 * S);
	check_parse("36h", MOMENT - 129600 * S);
	check_parse("90m", MOMENT - 5400 * S);
	check_parse("5s", MOMENT - 5 * S);
	check_parse("1w", MOMENT - 604800 * S);
	check_parse("0d", MOMENT);
	check_parse("007d", MOMENT - 604800 * S);
}

static void test_moments(void **state)
{
	(void)state;
	check_parse("2026-11-30T02:20:56Z", MOMENT);
	check_parse("2026-11-30t02:20:56z", MOMENT);
	check_parse("2026-11-30 02:20:56", MOMENT);
	check_parse("2026-11-30T03:20:56+01:00", MOMENT);
	check_parse("2026-11-29T21:50:56-04:30", MOMENT);
	check_parse("2026-11-30T02:20:56.5Z", MOMENT + S / 2);
	check_parse("2026-11-30T02:20:56.123456789+00:00", MOMENT + 123456789);
	check_parse("2026-11-30T02:20:56.1234567899", MOMENT + 123456789);
	check_parse("2026-11-30", MOMENT - 8456 * S);
	check_parse("1970-01-01T00:00:00Z", 0);
	check_parse("1969-12-31T23:59:59.5Z", -S / 2);
	check_parse("2024-02-29", INT64_C(1709164800) * S);
	check_parse("2016-12-31T23:59:60Z", INT64_C(1483228800) * S);
}

static void test_a_view_s_time_comes_back(void **state)
{
	char text[TIME_TEXT_MAX];

	(void)state;
	time_format(MOMENT + 7000000, text);
	check_parse(text, MOMENT + 7000000);
	time_format_rfc3339(MOMENT + 7000000, text);
	check_parse(text, MOMENT + 7000000);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"d",
		"2",
		"2x",
		"2dd",
		"-2d",
		"2 d",
		"2.5d",
		"yesterday",
		"2026-13-01",
		"2026-00-01",
		"2026-02-30",
		"2025-02-29",
		"2026-11-00",
		"2026-11-3",
		"26-11-30",
		"2026/11/30",
		"2026-11-30T",
		"2026-11-30T24:00:00Z",
		"2026-11-30T02:60:00Z",
		"2026-11-30T02:20:61Z",
		"2026-11-30T02:20Z",
		"2026-11-30T02:20:56.Z",
		"2026-11-30T02:20:56Zx",
		"2026-11-30T02:20:56+1:00",
		"2026-11-30T02:20:56+0100",
		"2026-11-30T02:20:56+24:00",
		"2026-11-30 ",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_refused(texts[i], "is no time");
}

static void test_out_of_range(void **state)
{
	(void)state;
	check_refused("0000-01-01", "out of range");
	check_refused("9999-12-31", "out of range");
	check_refused("99999999999999999999d", "out of range");
	check_refused("9223372036854775807s", "out of range");
	check_refused("200000d", "out of range");
}

static void test_log_names(void **state)
{
	static const char *const bad[] = {"",
					  "20261130",
					  "20261130-0220",
					  "20261130_022056",
					  "20261330-022056",
					  "20260231-022056",
					  "20261130-022056x",
					  "20261130-242056",
					  "2026-11-30-0220"};
	int64_t ns = 0;
	size_t i;

	(void)state;
	assert_int_equal(time_parse_log_name(STR("20261130-022056"), &ns), 0);
	assert_true(ns == MOMENT);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(time_parse_log_name(str_of(bad[i]), &ns), -1);
	assert_int_equal(time_parse_log_name(STR_NULL, &ns), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),	  cmocka_unit_test(test_ages),
		cmocka_unit_test(test_moments),	  cmocka_unit_test(test_a_view_s_time_comes_back),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_log_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

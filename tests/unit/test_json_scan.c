/* JSON is walked where it lies; what does not hold together is refused, not guessed. */
#include "util/json_scan.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct json_scan over(const char *text)
{
	return (struct json_scan){text, text + strlen(text)};
}

static void test_members(void **state)
{
	struct json_scan scan = over(" { \"a\" : 1 , \"b\\\"}\":[2,{\"c\":\"]\"}],\"\":null}\n");
	bool first = true;
	struct str name;

	(void)state;
	assert_int_equal(json_scan_member(&scan, &first, &name), 1);
	assert_true(str_is(name, "a"));
	assert_true(json_scan_skip(&scan));
	assert_int_equal(json_scan_member(&scan, &first, &name), 1);
	assert_true(str_is(name, "b\\\"}"));
	assert_false(json_scan_ended(&scan));
	assert_true(json_scan_skip(&scan));
	assert_int_equal(json_scan_member(&scan, &first, &name), 1);
	assert_true(str_is(name, ""));
	assert_int_equal(json_scan_kind(&scan), JSON_KIND_NULL);
	assert_true(json_scan_skip(&scan));
	assert_int_equal(json_scan_member(&scan, &first, &name), 0);
	assert_true(json_scan_ended(&scan));
}

/* Members and elements that are none. */
static void test_malformed(void **state)
{
	static const char *const cases[] = {
		"",	 "[",	      "{",	    "{\"a\"",	   "{\"a\":",	 "{\"a\":1",
		"{a:1}", "{\"a\" 1}", "{\"a\":1,}", "{\"a\":1 2}", "{\"a\":\"}", "{\"a\":\"\\",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_scan scan = over(cases[i]);
		bool first = true;
		struct str name;
		int rc;

		while ((rc = json_scan_member(&scan, &first, &name)) > 0)
			if (!json_scan_skip(&scan)) {
				rc = -1;
				break;
			}
		assert_true(rc < 0);
	}
}

static void test_elements(void **state)
{
	struct json_scan scan = over("[ ]"), comma = over("[1,]"), missing = over("[1 2]");
	bool first = true;

	(void)state;
	assert_int_equal(json_scan_element(&scan, &first), 0);
	first = true;
	assert_int_equal(json_scan_element(&comma, &first), 1);
	assert_true(json_scan_skip(&comma));
	assert_int_equal(json_scan_element(&comma, &first), 1);
	assert_int_equal(json_scan_kind(&comma), JSON_KIND_NONE);
	assert_false(json_scan_skip(&comma));
	first = true;
	assert_int_equal(json_scan_element(&missing, &first), 1);
	assert_true(json_scan_skip(&missing));
	assert_int_equal(json_scan_element(&missing, &first), -1);
}

static void test_depth(void **state)
{
	char deep[1200];
	struct json_scan scan = {deep, deep + sizeof(deep)};

	(void)state;
	memset(deep, '[', 500);
	memset(deep + 500, ']', 500);
	assert_true(json_scan_skip(&scan));
	assert_ptr_equal(scan.at, deep + 1000);
	memset(deep, '[', 600);
	memset(deep + 600, ']', 600);
	scan.at = deep;
	assert_false(json_scan_skip(&scan));
}

static void expect_number(const char *text, int kind, int64_t value)
{
	struct json_scan scan = over(text);
	struct json_number got;

	assert_true(json_scan_number(&scan, &got));
	assert_int_equal(got.kind, kind);
	assert_true(got.value == value);
	assert_true(scan.at == scan.end || *scan.at == ',');
}

static void expect_no_number(const char *text)
{
	struct json_scan scan = over(text);
	struct json_number got;

	assert_false(json_scan_number(&scan, &got));
}

static void test_numbers(void **state)
{
	(void)state;
	expect_number("0,", JSON_NUMBER_SIGNED, 0);
	expect_number(" -12,", JSON_NUMBER_SIGNED, -12);
	expect_number("9223372036854775807", JSON_NUMBER_SIGNED, INT64_MAX);
	expect_number("-9223372036854775808", JSON_NUMBER_SIGNED, INT64_MIN);
	expect_number("9223372036854775808", JSON_NUMBER_UNSIGNED, INT64_MIN);
	expect_number("18446744073709551615,", JSON_NUMBER_UNSIGNED, -1);
	expect_number("18446744073709551616,", JSON_NUMBER_OTHER, 0);
	expect_number("-9223372036854775809,", JSON_NUMBER_OTHER, 0);
	expect_number("99999999999999999999999,", JSON_NUMBER_OTHER, 0);
	expect_number("1.5,", JSON_NUMBER_OTHER, 0);
	expect_number("-1.5e-3,", JSON_NUMBER_OTHER, 0);
	expect_number("1E+300", JSON_NUMBER_OTHER, 0);
	expect_no_number("-");
	expect_no_number("");
	expect_no_number("\"1\"");
	expect_no_number(".5");
}

/* A quote and a backslash at every place in eight bytes and more. */
static void test_strings(void **state)
{
	size_t len, at;

	(void)state;
	for (len = 0; len < 40; len++)
		for (at = 0; at < len; at++) {
			char *text = xmalloc(len + 3);
			struct json_scan scan = {text, text + len + 3};
			struct str raw;

			memset(text, 'x', len + 3);
			text[0] = '"';
			text[1 + at] = '\\';
			text[len + 2] = '"';
			if (at + 1 < len)
				text[2 + at] = '"';
			assert_true(json_scan_string(&scan, &raw));
			assert_int_equal(raw.len, len + 1);
			assert_true(json_is_escaped(raw));
			scan = (struct json_scan){text, text + len + 2};
			assert_false(json_scan_string(&scan, &raw));
			free(text);
		}
}

static void expect_text(const char *raw, const char *want, size_t len)
{
	char *out = xmalloc(strlen(raw) + 1);
	ptrdiff_t got = json_unescape((struct str){raw, strlen(raw)}, out);

	assert_int_equal(got, want ? (ptrdiff_t)len : -1);
	if (want)
		assert_memory_equal(out, want, len);
	free(out);
}

static void test_escapes(void **state)
{
	(void)state;
	expect_text("plain", "plain", 5);
	expect_text("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 8);
	expect_text("a\\u0000b", "a\0b", 3);
	expect_text("\\u00e9\\u20AC", "\xc3\xa9\xe2\x82\xac", 5);
	expect_text("\\ud83d\\ude00!", "\xf0\x9f\x98\x80!", 5);
	expect_text("\\ud83d", NULL, 0);
	expect_text("\\ud83dx\\ude00", NULL, 0);
	expect_text("\\ude00", NULL, 0);
	expect_text("\\u12", NULL, 0);
	expect_text("\\u12g4", NULL, 0);
	expect_text("\\x", NULL, 0);
	expect_text("\\", NULL, 0);
}

static void test_words(void **state)
{
	struct json_scan yes = over("true]"), no = over(" false"), bad = over("truf"),
			 none = over("]");
	bool value = false;

	(void)state;
	assert_true(json_scan_bool(&yes, &value));
	assert_true(value);
	assert_true(json_scan_bool(&no, &value));
	assert_false(value);
	assert_false(json_scan_bool(&bad, &value));
	assert_false(json_scan_skip(&none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),	 cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_elements), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_numbers),	 cmocka_unit_test(test_strings),
		cmocka_unit_test(test_escapes),	 cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "util/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define KIB (INT64_C(1) << 10)
#define GIB (INT64_C(1) << 30)

static void test_millicores(void **state)
{
	static const struct {
		const char *text;
		int64_t millicores;
	} cases[] = {
		{"0", 0},	  {"2", 2000},	   {"4500m", 4500},  {"0.5", 500},
		{".5", 500},	  {"5.", 5000},	   {"+1", 1000},     {"1.0001", 1001},
		{"100u", 1},	  {"100n", 1},	   {"0n", 0},	     {"1500u", 2},
		{"1e3", 1000000}, {"1E-3", 1},	   {"1e-4", 1},	     {"2k", 2000000},
		{"1Ki", 1024000}, {"0.1", 100},	   {"0.001", 1},     {"00012", 12000},
		{"0.0000", 0},	  {"-0", 0},	   {"1e+2", 100000}, {"250m", 250},
		{"0.29", 290},	  {"1.005", 1005}, {"0.30000", 300}, {"33.333m", 34},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = ERR_INIT;
		int64_t got = -1;

		if (quantity_millicores(str_of(cases[i].text), &got, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (got != cases[i].millicores)
			fail_msg("%s: %lld", cases[i].text, (long long)got);
	}
}

static void test_bytes(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} cases[] = {
		{"9Gi", 9 * GIB},
		{"512Mi", 512 * KIB * KIB},
		{"1e9", 1000000000},
		{"12e6", 12000000},
		{"1E", INT64_C(1000000000000000000)},
		{"1E0", 1},
		{"1Ei", INT64_C(1) << 60},
		{"7Ei", INT64_C(7) << 60},
		{"1.5Gi", GIB + GIB / 2},
		{"0.1Ki", 103},
		{"100m", 1},
		{"1000m", 1},
		{"1001m", 2},
		{"128974848", 128974848},
		{"129e6", 129000000},
		{"129M", 129000000},
		{"128974848000m", 128974848},
		{"123Mi", 123 * KIB * KIB},
		{"9223372036854775807", INT64_MAX},
		{"9223372036854775806.5", INT64_MAX},
		{"9.223372036854775807E", INT64_MAX},
		{"1n", 1},
		{"0.0000000000000000001", 1},
		{"1.0000000000000000000000001", 2},
		{"2.0000000000000000000000000", 2},
		{"0e9999", 0},
		{"1e-9999", 1},
		{"1Ti", KIB * GIB},
		{"1Pi", KIB * KIB * GIB},
		{"3P", INT64_C(3000000000000000)},
		{"4T", INT64_C(4000000000000)},
		{"5G", INT64_C(5000000000)},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = ERR_INIT;
		int64_t got = -1;

		if (quantity_bytes(str_of(cases[i].text), &got, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (got != cases[i].bytes)
			fail_msg("%s: %lld", cases[i].text, (long long)got);
	}
}

/* What people write behind a size is taken; what is no size is not. */
static void test_size(void **state)
{
	struct err err = ERR_INIT;
	int64_t got = -1;

	(void)state;
	assert_int_equal(quantity_size(STR("9GiB"), &got, &err), 0);
	assert_int_equal(got, 9 * GIB);
	assert_int_equal(quantity_size(STR("9Gi"), &got, &err), 0);
	assert_int_equal(got, 9 * GIB);
	assert_int_equal(quantity_size(STR("512B"), &got, &err), 0);
	assert_int_equal(got, 512);
	assert_int_equal(quantity_size(STR("B"), &got, &err), -1);
	assert_int_equal(quantity_size(STR("9GiBB"), &got, &err), -1);
	assert_int_equal(quantity_size(STR_NULL, &got, &err), -1);
}

static void test_junk(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"", "'' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"Gi", "'Gi' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{".", "'.' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1 Gi", "'1 Gi' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{" 1", "' 1' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1gi", "'1gi' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1GB", "'1GB' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1K", "'1K' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1mi", "'1mi' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1e", "'1e' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1e+", "'1e+' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1e3Mi", "'1e3Mi' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1e1.5", "'1e1.5' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"1.2.3", "'1.2.3' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"+-1", "'+-1' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"0x10", "'0x10' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"inf", "'inf' is no Kubernetes quantity (such as 4500m or 9Gi)"},
		{"-1", "'-1' is below zero"},
		{"-0.1n", "'-0.1n' is below zero"},
		{"9223372036854775808", "'9223372036854775808' is too large to be true"},
		{"9223372036854775807.1", "'9223372036854775807.1' is too large to be true"},
		{"8Ei", "'8Ei' is too large to be true"},
		{"18446744073709551617", "'18446744073709551617' is too large to be true"},
		{"10E", "'10E' is too large to be true"},
		{"1e99", "'1e99' is too large to be true"},
		{"1e4294967297", "'1e4294967297' is too large to be true"},
		{"99999999999999999999999999999999999999999999999",
		 "'9999999999999999999999999999999999999999' is too large to be true"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = ERR_INIT;
		int64_t got = -7;

		assert_int_equal(quantity_bytes(str_of(cases[i].text), &got, &err), -1);
		assert_int_equal(err.kind, ERR_FORMAT);
		assert_string_equal(err.text, cases[i].error);
		assert_int_equal(got, -7);
	}
}

/* Neither a NUL ends a text, nor does a missing one lengthen it. */
static void test_length_counts(void **state)
{
	struct err err = ERR_INIT;
	int64_t got = 0;

	(void)state;
	assert_int_equal(quantity_bytes((struct str){"1Gi", 1}, &got, &err), 0);
	assert_int_equal(got, 1);
	assert_int_equal(quantity_bytes((struct str){"1\0", 2}, &got, &err), -1);
	assert_int_equal(quantity_bytes(STR_NULL, &got, &err), -1);
	assert_string_equal(err.text, "'' is no Kubernetes quantity");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_millicores),    cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_size),	      cmocka_unit_test(test_junk),
		cmocka_unit_test(test_length_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

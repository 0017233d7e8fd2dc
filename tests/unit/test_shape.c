#include "shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static void test_shapes(void **state)
{
	static const struct {
		const char *text, *name;
		int64_t cpu, request, limit;
	} cases[] = {
		{"small=1.5,2GiB,4GiB", "small", 1500, 2 * GIB, 4 * GIB},
		{"small=1500m,2Gi,4Gi", "small", 1500, 2 * GIB, 4 * GIB},
		{"big=6,8GiB", "big", 6000, 8 * GIB, 8 * GIB},
		{"a-b_c.9=1m,1,1", "a-b_c.9", 1, 1, 1},
		{"x=1,512MiB,0.5GiB", "x", 1000, 512 * MIB, 512 * MIB},
		{"x=1,4GB,4G", "x", 1000, 4000000000, 4000000000},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = ERR_INIT;
		struct shape shape;

		if (shape_parse(str_of(cases[i].text), &shape, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_true(str_is(shape.name, cases[i].name));
		assert_int_equal(shape.cpu_milli, cases[i].cpu);
		assert_int_equal(shape.memory_request_bytes, cases[i].request);
		assert_int_equal(shape.memory_limit_bytes, cases[i].limit);
	}
}

/* Each fault is named, and the text shows how to write it. */
static void test_faulty_shapes(void **state)
{
	static const struct {
		const char *text, *what;
	} cases[] = {
		{"", "no name"},
		{"small", "no name"},
		{"1.5,2GiB,4GiB", "no name"},
		{"=1,2Gi", "no name"},
		{"sm all=1,2Gi", "no name"},
		{"sm\033all=1,2Gi", "no name"},
		{"small=", "no number of cores"},
		{"small=2", "no number of cores"},
		{"small=x,2Gi", "no number of cores"},
		{"small=0,2Gi", "no number of cores"},
		{"small=-1,2Gi", "no number of cores"},
		{"small=1e15,2Gi", "no number of cores"},
		{"small=1,", "no memory"},
		{"small=1,B", "no memory"},
		{"small=1,0", "no memory"},
		{"small=1,2 GiB", "no memory"},
		{"small=1,2Ei", "no memory"},
		{"small=1,2Gi,", "no limit"},
		{"small=1,2Gi,4Gi,5Gi", "no limit"},
		{"small=1,2Gi,1Gi", "below what is requested"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = ERR_INIT;
		struct shape shape;

		if (shape_parse(str_of(cases[i].text), &shape, &err) == 0)
			fail_msg("'%s' was taken", cases[i].text);
		assert_int_equal(err.kind, ERR_USAGE);
		if (!strstr(err.text, cases[i].what))
			fail_msg("'%s': %s", cases[i].text, err.text);
		assert_non_null(strstr(err.text, "small=1.5,2GiB,4GiB"));
	}
}

static void test_long_names(void **state)
{
	char text[SHAPE_NAME_MAX + 16];
	struct err err = ERR_INIT;
	struct shape shape;

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text + SHAPE_NAME_MAX, "=1,2Gi", sizeof("=1,2Gi"));
	assert_int_equal(shape_parse(str_of(text), &shape, &err), 0);
	memcpy(text + SHAPE_NAME_MAX, "a=1,2Gi", sizeof("a=1,2Gi"));
	assert_int_equal(shape_parse(str_of(text), &shape, &err), -1);
}

static void test_nodes(void **state)
{
	struct err err = ERR_INIT;
	struct node_size node;

	(void)state;
	assert_int_equal(shape_parse_node(STR("16,32GiB"), &node, &err), 0);
	assert_int_equal(node.cpu_milli, 16000);
	assert_int_equal(node.memory_bytes, 32 * GIB);
	assert_int_equal(shape_parse_node(STR("15890m,29Gi"), &node, &err), 0);
	assert_int_equal(node.cpu_milli, 15890);
	assert_int_equal(shape_parse_node(STR_NULL, &node, &err), -1);
	assert_int_equal(shape_parse_node(STR("16"), &node, &err), -1);
	assert_int_equal(shape_parse_node(STR("16,"), &node, &err), -1);
	assert_int_equal(shape_parse_node(STR("16,32GiB,1"), &node, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "16,32GiB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_faulty_shapes),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

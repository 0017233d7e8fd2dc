#include "util/json_elements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *const items[] = {"items", NULL};
static const char *const result[] = {"data", "result", NULL};

/* Elements, each followed by a '|'. */
static int collect(void *context, struct str element, struct err *err)
{
	struct buf *out = context;

	if (str_is(element, "\"stop\""))
		return err_set(err, ERR_DB, "stopped");
	buf_add(out, element.data, element.len);
	buf_addch(out, '|');
	return 0;
}

/* Fed in pieces of `step` bytes. */
static void check_step(const char *const *path, const char *text, const char *elements,
		       const char *rest, size_t step)
{
	struct json_elements e;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	size_t at, len = strlen(text);

	json_elements_init(&e, path, 1000, collect, &out);
	for (at = 0; at < len; at += step)
		assert_int_equal(
			json_elements_feed(&e, text + at, len - at < step ? len - at : step, &err),
			0);
	assert_string_equal(out.data, elements);
	assert_true(str_is(json_elements_rest(&e), rest));
	json_elements_release(&e);
	buf_release(&out);
}

static void check(const char *const *path, const char *text, const char *elements, const char *rest)
{
	check_step(path, text, elements, rest, 1);
	check_step(path, text, elements, rest, 7);
	check_step(path, text, elements, rest, 1000);
}

static void test_elements(void **state)
{
	(void)state;
	check(items, "{\"items\":[1,{\"a\":[2,3]},\"x,]}\\\"\"]}", "1|{\"a\":[2,3]}|\"x,]}\\\"\"|",
	      "{\"items\":[]}");
	check(items, "{\"kind\":\"List\",\"items\":[ 1 , 2 ],\"z\":[3]}", " 1 | 2 |",
	      "{\"kind\":\"List\",\"items\":[],\"z\":[3]}");
	check(items, "{\"items\":[]}", "", "{\"items\":[]}");
	check(items, "{\"items\" : [ \n ] }", "", "{\"items\" : [] }");
	check(result, "{\"status\":\"x\",\"data\":{\"t\":\"m\",\"result\":[{},{}]}}", "{}|{}|",
	      "{\"status\":\"x\",\"data\":{\"t\":\"m\",\"result\":[]}}");
}

/* The same words elsewhere lead nowhere. */
static void test_other_places(void **state)
{
	static const char *const texts[] = {
		"{\"a\":{\"items\":[1]}}", "{\"items\":{\"items\":[1]}}",
		"[{\"items\":[1]}]",	   "{\"a\":\"items\",\"b\":[1]}",
		"{\"x\":[\"items\",[1]]}", "{\"\\u0069tems\":[1]}",
		"{\"items\":null}",	   "{\"itemss\":[1],\"item\":[2]}",
	};
	static const char *const deep[] = {
		"{\"result\":[1]}",
		"{\"data\":[{\"result\":[1]}]}",
		"{\"x\":{\"data\":{\"result\":[1]}}}",
		"{\"data\":{\"x\":{\"result\":[1]}}}",
		"{\"data\":{\"x\":1},\"result\":[1]}",
		"{\"data\":{},\"x\":{\"result\":[1]}}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(items, texts[i], "", texts[i]);
	for (i = 0; i < sizeof(deep) / sizeof(deep[0]); i++)
		check(result, deep[i], "", deep[i]);
}

static void test_path_after_others(void **state)
{
	(void)state;
	check(result, "{\"d\":{\"data\":{\"result\":[1]}},\"data\":{\"a\":{},\"result\":[2]}}",
	      "2|", "{\"d\":{\"data\":{\"result\":[1]}},\"data\":{\"a\":{},\"result\":[]}}");
}

/* What is no JSON stays none, in a piece or in the rest. */
static void test_not_json(void **state)
{
	(void)state;
	check(items, "{\"items\":[1,]}", "1||", "{\"items\":[]}");
	check(items, "{\"items\":[,]}", "||", "{\"items\":[]}");
	check(items, "{\"items\":[1 2]}", "1 2|", "{\"items\":[]}");
	check(items, "{\"items\":[1", "", "{\"items\":[");
	check(items, "{\"items\":[{\"a\":1]}]}", "{\"a\":1]|", "{\"items\":[}]}");
	check(items, "<html>[1]</html>", "", "<html>[1]</html>");
	check(items, "]]}}", "", "]]}}");
	check(items, "", "", "");
}

static void test_bounds(void **state)
{
	static const char element[] = "{\"items\":[1,\"12345678901\"]}";
	static const char rest[] = "{\"0123456789\":1}";
	struct json_elements e;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	json_elements_init(&e, items, 12, collect, &out);
	assert_int_equal(json_elements_feed(&e, element, strlen(element), &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(err.text, "a part of the JSON is larger than 12 bytes");
	assert_string_equal(out.data, "1|");
	json_elements_release(&e);
	json_elements_init(&e, items, 12, collect, &out);
	assert_int_equal(json_elements_feed(&e, rest, strlen(rest), &err), -1);
	json_elements_release(&e);
	buf_release(&out);
}

static void test_function_stops(void **state)
{
	static const char text[] = "{\"items\":[1,\"stop\",2]}";
	struct json_elements e;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	json_elements_init(&e, items, 100, collect, &out);
	assert_int_equal(json_elements_feed(&e, text, strlen(text), &err), -1);
	assert_int_equal(err.kind, ERR_DB);
	assert_string_equal(out.data, "1|");
	json_elements_release(&e);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_other_places),
		cmocka_unit_test(test_path_after_others),
		cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_function_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

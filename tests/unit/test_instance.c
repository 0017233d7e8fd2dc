#include "instance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* `expected`: "source name" each, NULL-terminated. */
static void check(const struct instance_sources *sources, const char *const *expected)
{
	struct instance_list list = INSTANCE_LIST_INIT;
	char text[128];
	size_t i;

	instance_candidates(sources, &list);
	for (i = 0; i < list.count; i++) {
		assert_non_null(expected[i]);
		snprintf(text, sizeof(text), "%s %s", list.items[i].source, list.items[i].name);
		assert_string_equal(text, expected[i]);
	}
	assert_null(expected[list.count]);
	instance_list_release(&list);
	assert_int_equal(list.count, 0);
}

#define SOURCES(...) (&(const struct instance_sources){__VA_ARGS__})
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_order(void **state)
{
	(void)state;
	check(SOURCES(.links = NAMES("x/in", "in"), .link_count = 2, .buckconfig = "conf",
		      .project_json = "proj", .log = "proj-remote-native"),
	      NAMES("link x/in", "link in", ".buckconfig conf", "project.json proj",
		    "log proj-remote-native", "default "));
}

static void test_a_flag_is_final(void **state)
{
	(void)state;
	check(SOURCES(.flag = "mine", .pool = "p", .links = NAMES("in"), .link_count = 1,
		      .buckconfig = "conf", .project_json = "proj", .log = "log"),
	      NAMES("flag mine"));
	check(SOURCES(.flag = "", .buckconfig = "conf"), NAMES("flag "));
}

static void test_nothing_known(void **state)
{
	(void)state;
	check(SOURCES(.flag = NULL), NAMES("default "));
	check(SOURCES(.pool = ""), NAMES("default "));
}

static void test_each_name_once(void **state)
{
	(void)state;
	check(SOURCES(.links = NAMES("same", "", "same"), .link_count = 3, .buckconfig = "same",
		      .project_json = "same", .log = "other"),
	      NAMES("link same", "link ", "log other"));
	check(SOURCES(.buckconfig = "", .project_json = "proj"),
	      NAMES(".buckconfig ", "project.json proj"));
}

static void test_invalid_names_are_dropped(void **state)
{
	(void)state;
	check(SOURCES(.links = NAMES("/in", "a//b"), .link_count = 2, .buckconfig = "a/blobs/b",
		      .project_json = "proj/", .log = "a\xff"),
	      NAMES("default "));
	check(SOURCES(.pool = "p/", .buckconfig = "conf"), NAMES(".buckconfig conf", "default "));
}

static void test_pool(void **state)
{
	(void)state;
	check(SOURCES(.pool = "p", .buckconfig = "conf", .project_json = "proj"),
	      NAMES(".buckconfig p/conf", ".buckconfig conf", "project.json p/proj",
		    "project.json proj", "default p", "default "));
	/* A name that has the prefix already does not get it twice. */
	check(SOURCES(.pool = "p", .links = NAMES("p/in", "in", "pin"), .link_count = 3),
	      NAMES("link p/in", "link in", "link p/pin", "link pin", "default p", "default "));
	check(SOURCES(.pool = "p/q", .buckconfig = "p/q/r", .log = "p/q"),
	      NAMES(".buckconfig p/q/r", "log p/q", "default "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_a_flag_is_final),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_each_name_once),
		cmocka_unit_test(test_invalid_names_are_dropped),
		cmocka_unit_test(test_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

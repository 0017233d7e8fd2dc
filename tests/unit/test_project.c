#include "project.h"

#include "scratch.h"
#include "util/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* `from`, `home` and `expected` are below dir; NULL `expected`: no root. */
static void check_root(const char *dir, const char *from, const char *home, const char *expected)
{
	char *start = xasprintf("%s/%s", dir, from);
	char *home_path = home ? xasprintf("%s/%s", dir, home) : NULL;
	char *want = expected ? xasprintf("%s%s%s", dir, *expected ? "/" : "", expected) : NULL;
	char *root = project_find_root(start, home_path);

	if (want)
		assert_string_equal(root, want);
	else
		assert_null(root);
	free(start);
	free(home_path);
	free(want);
	free(root);
}

static void test_the_furthest_buckconfig_is_the_root(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckroot", ""); /* whatever stands above */
	scratch_write(dir, "p/.buckconfig", "");
	scratch_write(dir, "p/cell/.buckconfig", "");
	scratch_mkdir(dir, "p/cell/deep/er");
	check_root(dir, "p/cell/deep/er", NULL, "p");
	check_root(dir, "p/cell", NULL, "p");
	check_root(dir, "p", NULL, "p");
	check_root(dir, "p/no/such/folder", NULL, "p");
	scratch_remove(dir);
}

static void test_a_buckroot_ends_the_walk(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckconfig", "");
	scratch_write(dir, "p/.buckconfig", "");
	scratch_write(dir, "p/.buckroot", "");
	scratch_write(dir, "p/in/.buckconfig", "");
	check_root(dir, "p/in", NULL, "p");
	check_root(dir, "", NULL, "");
	/* A .buckroot alone is no root: what was found below it counts. */
	scratch_write(dir, "q/.buckroot", "");
	scratch_write(dir, "q/in/.buckconfig", "");
	check_root(dir, "q/in/x", NULL, "q/in");
	check_root(dir, "q", NULL, NULL);
	scratch_remove(dir);
}

static void test_no_root(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckroot", "");
	check_root(dir, "a/b", NULL, NULL);
	scratch_remove(dir);
}

static void test_the_home_is_no_root(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckconfig", "");
	scratch_write(dir, ".buckroot", "");
	scratch_write(dir, "me/p/.buckconfig", "");
	/* Without a .buckconfig the home is a folder as any other. */
	check_root(dir, "me/p", "me", "");
	scratch_write(dir, "me/.buckconfig", "");
	check_root(dir, "me/p", "me", "me/p");
	check_root(dir, "me", "me", NULL);
	check_root(dir, "me/p", NULL, "");
	scratch_remove(dir);
}

static void check_name(const char *dir, const char *root, const char *expected)
{
	char *path = xasprintf("%s/%s", dir, root);
	struct err err = ERR_INIT;
	char *name = project_name(path, &err);

	assert_string_equal(name, expected);
	free(name);
	free(path);
}

static void test_name(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_mkdir(dir, "qemu");
	check_name(dir, "qemu", "qemu");
	check_name(dir, "qemu/", "qemu");
	scratch_write(dir, "qemu/project.json",
		      "{ \"name\": \"qemu-x86_64\", \"heavy\": [\"glibc\"] }");
	check_name(dir, "qemu", "qemu-x86_64");
	scratch_remove(dir);
}

static void test_name_of_an_odd_project_json(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"name\": 7}", "{\"name\": \"\"}", "{\"heavy\": []}", "null"};
	char *dir = scratch_new();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		scratch_write(dir, "qemu/project.json", texts[i]);
		check_name(dir, "qemu", "qemu");
	}
	scratch_remove(dir);
}

static void test_name_that_cannot_be_read(void **state)
{
	char *dir = scratch_new();
	struct err err = ERR_INIT;

	(void)state;
	scratch_write(dir, "project.json/entry", "{}");
	assert_null(project_name(dir, &err));
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "project.json: not a regular file"));
	scratch_remove(dir);
}

static void test_name_of_the_top(void **state)
{
	struct err err = ERR_INIT;
	char *name = project_name("/", &err);

	(void)state;
	assert_string_equal(name, "/");
	free(name);
}

static void test_recorded_samples(void **state)
{
	char *root = project_find_root(TEST_DATA "/logs/cells/buck-out/v2/log", NULL);
	struct err err = ERR_INIT;
	char *name;

	(void)state;
	assert_string_equal(root, TEST_DATA "/logs/cells");
	name = project_name(root, &err);
	assert_string_equal(name, "qemu-mini");
	free(name);
	free(root);
	root = project_find_root(TEST_DATA "/logs/cut", NULL);
	name = project_name(root, &err);
	assert_string_equal(name, "cut");
	free(name);
	free(root);
}

/* ---- heavy ---- */

static void test_heavy(void **state)
{
	char *dir = scratch_new();
	struct heavy_list list;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(project_heavy(dir, &list, &err), 0);
	assert_string_equal(err.text, "");
	scratch_write(dir, "project.json",
		      "{ \"heavy\": [\"glibc\", \"host-gcc\", \"glibc\"], \"name\": \"qemu\" }");
	assert_int_equal(project_heavy(dir, &list, &err), 1);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.packages[0], "glibc");
	assert_string_equal(list.packages[1], "host-gcc");
	assert_string_equal(list.project, "qemu");
	assert_true(list.mtime_ns > INT64_C(1500000000000000000));
	assert_string_equal(path_base(list.path), "project.json");
	heavy_list_release(&list);
	scratch_remove(dir);
}

/* No list is one without entries: what is heavy in it is known. */
static void test_heavy_of_none(void **state)
{
	static const char *const texts[] = {"{}", "{\"name\": 7}", "{\"heavy\": []}"};
	char *dir = scratch_new();
	struct err err = ERR_INIT;
	struct heavy_list list;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		scratch_write(dir, "project.json", texts[i]);
		assert_int_equal(project_heavy(dir, &list, &err), 1);
		assert_int_equal(list.count, 0);
		assert_string_equal(list.project, path_base(dir));
		heavy_list_release(&list);
	}
	scratch_remove(dir);
}

static void test_heavy_that_is_none(void **state)
{
	static const char *const texts[][2] = {
		{"", "project.json:1:0: "},
		{"{\n\"heavy\": [\"a\",,]}", "project.json:2:"},
		{"[]", "no JSON object"},
		{"{\"heavy\": \"glibc\"}", "no list"},
		{"{\"heavy\": {\"glibc\": 1}}", "no list"},
		{"{\"heavy\": null}", "no list"},
		{"{\"heavy\": [\"a\", 7]}", "entry 2"},
		{"{\"heavy\": [\"\"]}", "entry 1"},
	};
	char *dir = scratch_new();
	struct heavy_list list;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct err err = ERR_INIT;

		scratch_write(dir, "project.json", texts[i][0]);
		assert_int_equal(project_heavy(dir, &list, &err), -1);
		assert_int_equal(err.kind, ERR_FORMAT);
		if (!strstr(err.text, texts[i][1]))
			fail_msg("%s: %s", texts[i][0], err.text);
		assert_null(list.packages);
	}
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_furthest_buckconfig_is_the_root),
		cmocka_unit_test(test_a_buckroot_ends_the_walk),
		cmocka_unit_test(test_no_root),
		cmocka_unit_test(test_the_home_is_no_root),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_name_of_an_odd_project_json),
		cmocka_unit_test(test_name_that_cannot_be_read),
		cmocka_unit_test(test_name_of_the_top),
		cmocka_unit_test(test_recorded_samples),
		cmocka_unit_test(test_heavy),
		cmocka_unit_test(test_heavy_of_none),
		cmocka_unit_test(test_heavy_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* util/path and util/file */
#include "util/file.h"
#include "util/path.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void check_absolute(const char *path, const char *expected)
{
	char *got = path_absolute(path);

	assert_string_equal(got, expected);
	free(got);
}

static void test_absolute_paths(void **state)
{
	char *dir = scratch_new(), *in, *link;

	(void)state;
	scratch_mkdir(dir, "a");
	scratch_mkdir(dir, "a/b");
	in = path_join(dir, "a");
	link = path_join(dir, "link");
	assert_int_equal(symlink("a/b", link), 0);
	assert_int_equal(chdir(dir), 0);
	check_absolute("a", in);
	check_absolute("./a/", in);
	check_absolute(".//a/.", in);
	check_absolute(".", dir);
	check_absolute(in, in);
	check_absolute("/", "/");
	check_absolute("//.//", "/");
	/* A link stays one, but what ".." leaves is where it leads. */
	check_absolute("link", link);
	check_absolute("link/..", in);
	assert_null(path_absolute("no/../such"));
	assert_int_equal(chdir("/"), 0);
	free(in);
	free(link);
	scratch_remove(dir);
}

static void check_parts(const char *path, const char *dir, const char *base)
{
	char *got = path_dir(path), *joined = path_join(got, path_base(path));

	assert_string_equal(got, dir);
	assert_string_equal(path_base(path), base);
	assert_string_equal(joined, path);
	free(got);
	free(joined);
}

static void test_parts_of_paths(void **state)
{
	(void)state;
	check_parts("/a/b", "/a", "b");
	check_parts("/a", "/", "a");
	check_parts("/", "/", "");
}

static void test_what_is_there(void **state)
{
	char *dir = scratch_new(), *file, *link;

	(void)state;
	scratch_write(dir, "f", "");
	file = path_join(dir, "f");
	link = path_join(dir, "link");
	assert_int_equal(symlink(dir, link), 0);
	assert_true(path_has(dir, "f"));
	assert_false(path_has(dir, "g"));
	assert_true(path_is_dir(dir));
	assert_true(path_is_dir(link));
	assert_false(path_is_dir(file));
	assert_false(path_is_dir("/no/such"));
	free(file);
	free(link);
	scratch_remove(dir);
}

static void test_reading_files(void **state)
{
	char *dir = scratch_new(), *path = path_join(dir, "f");
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	scratch_write(dir, "f", "12345");
	buf_addstr(&text, "0");
	assert_int_equal(file_read(path, 5, &text, &err), 0);
	assert_string_equal(text.data, "012345");
	assert_int_equal(file_read(path, 4, &text, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_non_null(strstr(err.text, "/f: larger than 4 bytes"));
	assert_int_equal(file_read("no/such", 4, &text, &err), -1);
	assert_string_equal(err.text, "no/such: No such file or directory");
	buf_release(&text);
	free(path);
	scratch_remove(dir);
}

/* A folder, a device, a pipe that nobody writes to: none is read, none is waited for. */
static void test_only_regular_files_are_read(void **state)
{
	char *dir = scratch_new(), *pipe = path_join(dir, "pipe");
	const char *const paths[] = {dir, "/dev/zero", pipe};
	struct buf text = BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(mkfifo(pipe, 0600), 0);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(file_read(paths[i], 1 << 20, &text, &err), -1);
		assert_int_equal(err.kind, ERR_IO);
		assert_non_null(strstr(err.text, ": not a regular file"));
	}
	assert_int_equal(text.len, 0);
	buf_release(&text);
	free(pipe);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absolute_paths),
		cmocka_unit_test(test_parts_of_paths),
		cmocka_unit_test(test_what_is_there),
		cmocka_unit_test(test_reading_files),
		cmocka_unit_test(test_only_regular_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

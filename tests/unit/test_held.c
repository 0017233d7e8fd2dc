#include "held.h"

#include "model.h"
#include "scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NAME(n) "20261130-01000" n "_build_83f0a1b2-0000-4000-8000-00000000000" n "_events.pb.zst"
#define LOG_DIR "p/buck-out/v2/log/"

static const struct discover_options all = {.since_ns = UNKNOWN, .last = UNKNOWN};

static void look(struct held *held, const char *dir, int64_t now_ns)
{
	struct log_list list;
	struct err err = ERR_INIT;

	assert_int_equal(discover(&all, &dir, 1, &list, &err), 0);
	held_look(held);
	held_see(held, &list);
	held_looked(held, now_ns);
	log_list_release(&list);
}

static size_t due(const struct held *held)
{
	const struct held_log *newest;
	size_t count = held_due(held, &newest);

	assert_int_equal(newest != NULL, count > 0);
	return count;
}

/* How many logs a pass takes in now. */
static size_t pass(struct held *held)
{
	struct log_list list;
	size_t count;

	held_list(held, &list);
	count = list.count;
	log_list_release(&list);
	held_taken(held);
	return count;
}

static void write_log(const char *dir, const char *name)
{
	char *path = scratch_path(dir, name);
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs("some bytes", file);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static void remove_log(const char *dir, const char *name)
{
	char *path = scratch_path(dir, name);

	assert_int_equal(unlink(path), 0);
	free(path);
}

static void test_new_grown_and_taken(void **state)
{
	struct held held = HELD_INIT(10);
	char *dir = scratch_new();

	(void)state;
	write_log(dir, LOG_DIR NAME("1"));
	write_log(dir, LOG_DIR NAME("2"));
	look(&held, dir, 0);
	assert_int_equal(due(&held), 2);
	assert_int_equal(held.open, 2);
	assert_int_equal(pass(&held), 2);
	look(&held, dir, 0);
	assert_int_equal(due(&held), 0);
	write_log(dir, LOG_DIR NAME("2"));
	look(&held, dir, 0);
	assert_int_equal(due(&held), 1);
	held_release(&held);
	scratch_remove(dir);
}

/* What comes while a pass runs is not taken in by it. */
static void test_grown_during_a_pass(void **state)
{
	struct held held = HELD_INIT(10);
	struct log_list list;
	char *dir = scratch_new();

	(void)state;
	write_log(dir, LOG_DIR NAME("1"));
	look(&held, dir, 0);
	held_list(&held, &list);
	log_list_release(&list);
	write_log(dir, LOG_DIR NAME("1"));
	write_log(dir, LOG_DIR NAME("2"));
	look(&held, dir, 0);
	held_taken(&held);
	assert_int_equal(due(&held), 2);
	held_release(&held);
	scratch_remove(dir);
}

static void test_removed_is_held_until_it_is_silent(void **state)
{
	struct held held = HELD_INIT(10);
	struct log_list list;
	char *dir = scratch_new(), bytes[16];
	int fd;

	(void)state;
	write_log(dir, "p/.buckconfig");
	write_log(dir, LOG_DIR NAME("1"));
	look(&held, dir, 0);
	assert_false(held_has_gone(&held));
	remove_log(dir, LOG_DIR NAME("1"));
	write_log(dir, LOG_DIR NAME("1")); /* of the same name, and another */
	look(&held, dir, INT64_MAX / 2);
	assert_true(held_has_gone(&held));
	assert_int_equal(held.count, 2);
	held_list(&held, &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.files[0].path, list.files[1].path);
	assert_string_equal(list.files[0].project, "p");
	assert_string_equal(list.files[0].isolation_dir, "v2");
	fd = open(list.files[0].held, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 10);
	close(fd);
	log_list_release(&list);
	held_taken(&held);
	look(&held, dir, 0); /* in the future of no one: not silent yet */
	assert_int_equal(held.count, 2);
	look(&held, dir, INT64_MAX / 2);
	assert_int_equal(held.count, 1);
	assert_int_equal(held.open, 0);
	held_release(&held);
	scratch_remove(dir);
}

static void test_descriptors_are_bounded(void **state)
{
	struct held held = HELD_INIT(2);
	char *dir = scratch_new();

	(void)state;
	write_log(dir, LOG_DIR NAME("1"));
	write_log(dir, LOG_DIR NAME("2"));
	write_log(dir, LOG_DIR NAME("3"));
	look(&held, dir, 0);
	assert_int_equal(held.open, 2); /* the newest two by name */
	remove_log(dir, LOG_DIR NAME("1"));
	look(&held, dir, 0);
	assert_int_equal(held.count, 2);
	pass(&held);
	write_log(dir, LOG_DIR NAME("4")); /* a taken one makes room */
	look(&held, dir, 0);
	assert_int_equal(held.open, 2);
	assert_int_equal(held.count, 3);
	remove_log(dir, LOG_DIR NAME("4"));
	look(&held, dir, 0);
	assert_int_equal(due(&held), 1);
	held_release(&held);
	scratch_remove(dir);
}

/* Two names of one file are two logs, each taken in once. */
static void test_hard_links(void **state)
{
	struct held held = HELD_INIT(10);
	char *dir = scratch_new();
	char *one = scratch_path(dir, LOG_DIR NAME("1"));
	char *two = scratch_path(dir, LOG_DIR NAME("2"));

	(void)state;
	write_log(dir, LOG_DIR NAME("1"));
	assert_int_equal(link(one, two), 0);
	look(&held, dir, 0);
	assert_int_equal(pass(&held), 2);
	look(&held, dir, 0);
	assert_int_equal(due(&held), 0);
	held_release(&held);
	free(one);
	free(two);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_grown_and_taken),
		cmocka_unit_test(test_grown_during_a_pass),
		cmocka_unit_test(test_removed_is_held_until_it_is_silent),
		cmocka_unit_test(test_descriptors_are_bounded),
		cmocka_unit_test(test_hard_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

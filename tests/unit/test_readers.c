/* Logs side by side come out as if they had been read one after the other. */
#include "readers.h"
#include "util/buf.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LOGS TEST_DATA "/logs/"
#define DEMO LOGS "demo-x86_64/buck-out/"
#define CELLS LOGS "cells/buck-out/"

/* Large and small ones, and three that are none. */
static const char *const paths[] = {
	DEMO "v2/log/20261130-015932_build_b5fe85a1-cda7-4935-baf7-8caab7fecd4b_events.pb.zst",
	CELLS "v2/log/20261130-022218_build_a7d52edb-888f-413f-9286-e825f90aab2c_events.pb.zst",
	TEST_DATA "/no-such-log.pb.zst",
	DEMO "native-remote-cache/log/"
	     "20261130-015748_build_7a7970ab-ddb2-4e22-aef8-1f68a7d85f21_events.pb.zst",
	LOGS "README.md",
	DEMO "wrapped-remote-cache/log/"
	     "20261130-020051_build_4bd6a204-3c3f-49c8-9dba-4e94d7b8e563_events.pb.zst",
	TEST_DATA,
	CELLS "v2/log/20261130-022219_build_283396f5-2d5f-46d4-97e9-1e6a20f93681_events.pb.zst",
};

#define PATH_COUNT (sizeof(paths) / sizeof(paths[0]))
/* More logs than can be begun at once. */
#define MANY 70

/* The linker puts this in front of pthread_create(). */
static atomic_uint threads_left = UINT32_MAX;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *argument)
{
	if (!threads_left)
		return EAGAIN;
	threads_left--;
	return __real_pthread_create(thread, attr, run, argument);
}

static void place(void *context, size_t index, struct runlog_place *out)
{
	(void)context;
	memset(out, 0, sizeof(*out));
	out->path = paths[index % PATH_COUNT];
	out->cache = "";
}

/* What tells one row from another, and their order. */
static void print_rows(struct buf *out, const struct rows *rows)
{
	const struct log_row *row;

	for (row = rows->first; row; row = row->next) {
		buf_addf(out, "%d", (int)row->kind);
		if (row->kind == ROW_ACTION) {
			const struct action_name *name = &row->action.action.name;

			buf_addf(out, " %" PRIu64 " ", row->action.seq);
			buf_add(out, name->buck_package.data, name->buck_package.len);
			buf_add(out, name->target.data, name->target.len);
		}
		buf_addch(out, '\n');
	}
}

static void print_outcome(struct buf *out, const struct reading_outcome *outcome)
{
	buf_addf(out, "end %d %s, %" PRIu64 " records, %" PRIu64 " actions, ending %d\n",
		 (int)outcome->end, outcome->fault.text, outcome->records.records,
		 outcome->rows.actions, (int)outcome->ending);
}

static void take_all(struct readers *readers, size_t count, struct buf *out)
{
	const struct reading_outcome *outcome;
	struct reading_progress progress;

	while (count) {
		struct rows rows;
		bool more = readers_next(readers, &rows, &progress, &outcome);

		print_rows(out, &rows);
		rows_release(&rows);
		if (more)
			continue;
		print_outcome(out, outcome);
		count--;
	}
}

static void read_all(size_t count, bool keep_rows, struct buf *out)
{
	struct readers_options options = {count, keep_rows, place, NULL};
	struct readers *readers = readers_new(&options);

	buf_init(out);
	take_all(readers, count, out);
	readers_free(readers);
}

/* One after the other, each alone. */
static void read_plainly(size_t count, bool keep_rows, struct buf *out)
{
	size_t i;

	buf_init(out);
	for (i = 0; i < count; i++) {
		struct runlog_place where;
		struct reading *reading;
		bool more = true;

		place(NULL, i, &where);
		reading = reading_new(&where, keep_rows);
		if (i % 2 == 0)
			reading_go_ahead(reading);
		while (more) {
			struct rows rows;

			more = reading_next(reading, &rows);
			print_rows(out, &rows);
			rows_release(&rows);
		}
		print_outcome(out, reading_outcome(reading));
		reading_free(reading);
	}
}

static void expect_same(size_t count, bool keep_rows)
{
	struct buf got, wanted;

	read_plainly(count, keep_rows, &wanted);
	read_all(count, keep_rows, &got);
	assert_string_equal(got.data, wanted.data);
	buf_release(&got);
	buf_release(&wanted);
}

static void test_side_by_side(void **state)
{
	(void)state;
	expect_same(1, true);
	expect_same(PATH_COUNT, true);
	expect_same(PATH_COUNT, false);
	expect_same(MANY, true);
}

static void test_outcomes(void **state)
{
	struct buf out;

	(void)state;
	read_all(PATH_COUNT, false, &out);
	assert_non_null(strstr(out.data, "end 0 , 31332 records, 1560 actions, ending 1\n"));
	assert_non_null(strstr(out.data, "end 1 "));
	assert_non_null(strstr(out.data, "README.md: not a Buck2 event log"));
	assert_non_null(strstr(out.data, "data: not a regular file"));
	buf_release(&out);
}

static void test_few_threads(void **state)
{
	(void)state;
	threads_left = 0;
	expect_same(PATH_COUNT, true);
	threads_left = 1;
	expect_same(PATH_COUNT, true);
	threads_left = UINT32_MAX;
}

static unsigned int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned int count = 0;

	assert_non_null(tasks);
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

/* The kernel takes an ended thread off the list a moment after it was joined. */
static void expect_no_more_threads(unsigned int than)
{
	unsigned int turn;

	for (turn = 0; turn < 5000 && count_threads() > than; turn++)
		usleep(1000);
	assert_true(count_threads() <= than);
}

/* Before the first rows, and with readers that wait for room. */
static void test_freed_early(void **state)
{
	struct readers_options options = {MANY, true, place, NULL};
	unsigned int before = count_threads(), taken;

	(void)state;
	for (taken = 0; taken < 4; taken++) {
		struct readers *readers = readers_new(&options);
		struct buf out = BUF_INIT;

		usleep(taken * 20000);
		take_all(readers, taken, &out);
		readers_free(readers);
		expect_no_more_threads(before);
		buf_release(&out);
	}
	readers_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_few_threads),
		cmocka_unit_test(test_freed_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a thread makes ahead is what unpack.h gives, told at the same place; and it ends when told.
 */
#include "log_bytes.h"
#include "util/mem.h"
#include "util/unpack_ahead.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Many blocks: more than go round. */
#define LARGE ((size_t)3 << 20)

struct outcome {
	struct buf data;
	int rc; /* unpack_ahead_next()'s last word */
	enum unpack_packing packing;
	enum unpack_ending ending;
	char fault[256];
};

static bool in_thread = true;
static size_t go_at = SIZE_MAX; /* number of the block in front of which the thread is wanted */

static struct unpack_ahead *open_ahead(int fd)
{
	struct unpack_ahead *ahead;
	struct err err = ERR_INIT;

	assert_int_equal(unpack_ahead_open(&ahead, fd, "made", in_thread, &err), 0);
	assert_int_equal(unpack_ahead_ending(ahead), UNPACK_OPEN);
	return ahead;
}

/* The linker puts this in front of pthread_create(). */
static bool no_threads;
static unsigned int threads_made;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *argument)
{
	threads_made += !no_threads;
	return no_threads ? EAGAIN : __real_pthread_create(thread, attr, run, argument);
}

/* Holds the block before while it takes the next, as a reader does, and writes in front of it. */
static void take_all(struct unpack_ahead *ahead, struct outcome *out)
{
	struct unpack_block *block, *held = NULL;
	struct err err = ERR_INIT;
	size_t number = 0;

	buf_init(&out->data);
	while ((out->rc = unpack_ahead_next(ahead, &block, &err)) > 0) {
		if (number++ == go_at)
			unpack_ahead_go(ahead);
		assert_true(block->len > 0);
		assert_in_range(block->before, 0, UNPACK_ROOM);
		assert_true(block->before == 0 || (held && held->data + held->len == block->data));
		memset(block->data - UNPACK_ROOM, 0xee, UNPACK_ROOM - block->before);
		if (held) {
			buf_add(&out->data, held->data, held->len);
			unpack_ahead_give_back(ahead);
		}
		held = block;
	}
	if (held)
		buf_add(&out->data, held->data, held->len);
	assert_int_equal(err.kind, out->rc < 0 ? ERR_IO : ERR_NONE);
	assert_int_equal(unpack_ahead_next(ahead, &block, &err), out->rc);
	assert_int_equal(unpack_ahead_bytes_out(ahead), out->data.len);
	out->packing = unpack_ahead_packing(ahead);
	out->ending = unpack_ahead_ending(ahead);
	snprintf(out->fault, sizeof(out->fault), "%s", unpack_ahead_fault(ahead));
}

/* The same by unpack.h alone. */
static void take_plainly(int fd, struct outcome *out)
{
	struct unpack *unpack;
	struct err err = ERR_INIT;
	struct unpack_block block;

	buf_init(&out->data);
	assert_int_equal(unpack_open(&unpack, fd, "made", &err), 0);
	do {
		out->rc = unpack_next(unpack, 1000, &block, &err);
		buf_add(&out->data, block.data, block.len);
	} while (out->rc > 0);
	out->packing = unpack_packing(unpack);
	out->ending = unpack_ending(unpack);
	snprintf(out->fault, sizeof(out->fault), "%s", unpack_fault(unpack));
	unpack_free(unpack);
}

static void expect_same(const struct buf *file, enum unpack_ending ending)
{
	struct unpack_ahead *ahead = open_ahead(bytes_open(file->data, file->len));
	struct outcome got, wanted;

	take_all(ahead, &got);
	take_plainly(bytes_open(file->data, file->len), &wanted);
	assert_int_equal(wanted.ending, ending);
	assert_int_equal(got.rc, wanted.rc);
	assert_int_equal(got.packing, wanted.packing);
	assert_int_equal(got.ending, wanted.ending);
	assert_string_equal(got.fault, wanted.fault);
	assert_int_equal(got.data.len, wanted.data.len);
	if (wanted.data.len)
		assert_memory_equal(got.data.data, wanted.data.data, wanted.data.len);
	assert_true(unpack_ahead_bytes_in(ahead) <= file->len);
	unpack_ahead_free(ahead);
	buf_release(&got.data);
	buf_release(&wanted.data);
}

/* Bytes that do not pack to nothing, the same each time. */
static void make_bytes(struct buf *out, size_t len)
{
	uint32_t state = 1;
	size_t i;

	buf_reserve(out, len);
	for (i = 0; i < len; i++) {
		state = state * 1664525 + 1013904223;
		out->data[out->len + i] = (char)('a' + (state >> 28));
	}
	buf_grew(out, len);
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 131071, 131072, 131073, LARGE};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf plain = BUF_INIT, zstd = BUF_INIT, gzip = BUF_INIT;

		make_bytes(&plain, sizes[i]);
		bytes_zstd(&zstd, plain.data, plain.len, 5000);
		bytes_gzip(&gzip, plain.data, plain.len);
		expect_same(&plain, UNPACK_WHOLE);
		expect_same(&zstd, UNPACK_WHOLE);
		expect_same(&gzip, UNPACK_WHOLE);
		buf_release(&plain);
		buf_release(&zstd);
		buf_release(&gzip);
	}
}

static void test_cut_and_damaged(void **state)
{
	struct buf plain = BUF_INIT, zstd = BUF_INIT;

	(void)state;
	make_bytes(&plain, LARGE);
	bytes_zstd(&zstd, plain.data, plain.len, 5000);
	zstd.len -= 7;
	expect_same(&zstd, UNPACK_CUT);
	memset(zstd.data + zstd.len / 2, 0xff, 9000); /* some block's header is among them */
	expect_same(&zstd, UNPACK_BROKEN);
	buf_release(&plain);
	buf_release(&zstd);
}

/* The pipe's other end is kept open: what lies in it is all that can be read without waiting. */
static void test_failed_read(void **state)
{
	struct outcome outcome;
	struct unpack_ahead *ahead;
	char text[1000];
	int ends[2];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], text, sizeof(text)), sizeof(text));
	ahead = open_ahead(ends[0]);
	take_all(ahead, &outcome);
	assert_int_equal(outcome.rc, -1);
	assert_int_equal(outcome.data.len, sizeof(text));
	unpack_ahead_free(ahead);
	close(ends[1]);
	buf_release(&outcome.data);
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

/* Freed before the first block, with the thread far behind, and with all blocks full. */
static void test_freed_early(void **state)
{
	unsigned int before = count_threads(), taken, turn;
	struct buf plain = BUF_INIT;

	(void)state;
	make_bytes(&plain, LARGE);
	for (taken = 0; taken < 8; taken++)
		for (turn = 0; turn < 3; turn++) {
			struct unpack_ahead *ahead = open_ahead(bytes_open(plain.data, plain.len));
			struct unpack_block *block;
			struct err err = ERR_INIT;
			unsigned int i;

			for (i = 0; i < taken; i++) {
				assert_int_equal(unpack_ahead_next(ahead, &block, &err), 1);
				unpack_ahead_give_back(ahead);
			}
			usleep(turn * 1000);
			unpack_ahead_free(ahead);
			expect_no_more_threads(before);
		}
	unpack_ahead_free(NULL);
	buf_release(&plain);
}

/* One block: no thread; a larger file: one. */
static void test_threads(void **state)
{
	struct buf plain = BUF_INIT;
	struct unpack_ahead *ahead;
	struct unpack_block *block;
	struct err err = ERR_INIT;

	(void)state;
	make_bytes(&plain, LARGE);
	threads_made = 0;
	ahead = open_ahead(bytes_open(plain.data, 1000));
	assert_int_equal(unpack_ahead_next(ahead, &block, &err), 1);
	unpack_ahead_free(ahead);
	assert_int_equal(threads_made, 0);
	ahead = open_ahead(bytes_open(plain.data, plain.len));
	assert_int_equal(unpack_ahead_next(ahead, &block, &err), 1);
	unpack_ahead_free(ahead);
	assert_int_equal(threads_made, 1);
	buf_release(&plain);
}

/* Where none is wanted, none is made, and everything is read all the same. */
static void test_no_thread_wanted(void **state)
{
	struct buf plain = BUF_INIT;

	(void)state;
	make_bytes(&plain, LARGE);
	threads_made = 0;
	in_thread = false;
	expect_same(&plain, UNPACK_WHOLE);
	in_thread = true;
	assert_int_equal(threads_made, 0);
	buf_release(&plain);
}

/* A core becomes free on the way, or one is free already. */
static void test_thread_wanted_later(void **state)
{
	struct buf plain = BUF_INIT;

	(void)state;
	make_bytes(&plain, LARGE);
	for (go_at = 0; go_at < 20; go_at++) {
		threads_made = 0;
		in_thread = go_at % 7 == 6;
		expect_same(&plain, UNPACK_WHOLE);
		assert_int_equal(threads_made, 1);
	}
	in_thread = true;
	go_at = SIZE_MAX;
	buf_release(&plain);
}

/* Where no thread can be had, everything is read all the same. */
static void test_no_threads(void **state)
{
	struct buf plain = BUF_INIT;

	(void)state;
	make_bytes(&plain, LARGE);
	no_threads = true;
	expect_same(&plain, UNPACK_WHOLE);
	no_threads = false;
	buf_release(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_threads), /* first: glibc keeps the stacks of ended threads
						    */
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_cut_and_damaged),
		cmocka_unit_test(test_failed_read),
		cmocka_unit_test(test_freed_early),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_threads),
		cmocka_unit_test(test_no_thread_wanted),
		cmocka_unit_test(test_thread_wanted_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

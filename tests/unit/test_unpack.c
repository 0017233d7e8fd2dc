/* Bytes come out as they went in, whatever the packing; a cut is no error; damage is said. */
#include "log_bytes.h"
#include "util/mem.h"
#include "util/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct outcome {
	struct buf data;
	enum unpack_packing packing;
	enum unpack_ending ending;
	char fault[256];
};

/* Reads everything, `step` bytes at most a call. */
static void read_all(const struct buf *file, size_t step, struct outcome *out)
{
	struct unpack *unpack;
	struct err err = ERR_INIT;
	char *part = xmalloc(step);
	size_t len;
	int rc;

	buf_init(&out->data);
	assert_int_equal(unpack_open(&unpack, bytes_open(file->data, file->len), "made", &err), 0);
	while ((rc = unpack_read(unpack, part, step, &len, &err)) > 0) {
		assert_in_range(len, 1, step);
		buf_add(&out->data, part, len);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(unpack_bytes_out(unpack), out->data.len);
	assert_true(unpack_bytes_in(unpack) <= file->len);
	out->packing = unpack_packing(unpack);
	out->ending = unpack_ending(unpack);
	snprintf(out->fault, sizeof(out->fault), "%s", unpack_fault(unpack));
	assert_int_equal(unpack_read(unpack, part, step, &len, &err), 0);
	unpack_free(unpack);
	free(part);
}

static void expect(const struct buf *file, const char *text, enum unpack_packing packing,
		   enum unpack_ending ending)
{
	static const size_t steps[] = {1, 7, 100000};
	size_t i;

	for (i = 0; i < 3; i++) {
		struct outcome outcome;

		read_all(file, steps[i], &outcome);
		assert_int_equal(outcome.data.len, strlen(text));
		assert_memory_equal(outcome.data.data, text, strlen(text));
		assert_int_equal(outcome.packing, packing);
		assert_int_equal(outcome.ending, ending);
		assert_int_equal(outcome.fault[0] != '\0', ending == UNPACK_BROKEN);
		buf_release(&outcome.data);
	}
}

static void test_plain(void **state)
{
	struct buf file = BUF_INIT;

	(void)state;
	expect(&file, "", UNPACK_PLAIN, UNPACK_WHOLE);
	buf_addstr(&file, "(");
	expect(&file, "(", UNPACK_PLAIN, UNPACK_WHOLE); /* the first byte of zstd's magic */
	buf_addstr(&file, "just some bytes, more of them than are looked at first");
	expect(&file, file.data, UNPACK_PLAIN, UNPACK_WHOLE);
	buf_release(&file);
}

static void test_several_gzip_members(void **state)
{
	struct buf file = BUF_INIT;

	(void)state;
	bytes_gzip(&file, "one ", 4);
	bytes_gzip(&file, "", 0);
	bytes_gzip(&file, "two", 3);
	expect(&file, "one two", UNPACK_GZIP, UNPACK_WHOLE);
	buf_release(&file);
}

static void test_several_zstd_frames(void **state)
{
	struct buf file = BUF_INIT;

	(void)state;
	buf_add(&file, "\x5a\x2a\x4d\x18\x03\x00\x00\x00xyz", 11); /* skippable */
	bytes_zstd(&file, "one ", 4, 1);
	buf_add(&file, "\x50\x2a\x4d\x18\x00\x00\x00\x00", 8);
	bytes_zstd(&file, "", 0, 0);
	bytes_zstd(&file, "two", 3, 0);
	expect(&file, "one two", UNPACK_ZSTD, UNPACK_WHOLE);
	buf_release(&file);
}

#define LONG_LEN ((size_t)3 << 20)

/* More than 1 MiB packed: the first half repeats nothing, the other looks back far for a copy of
 * it. */
static void make_long(struct buf *text)
{
	uint64_t state = 1;
	size_t i;

	buf_reserve(text, LONG_LEN);
	for (i = 0; i < LONG_LEN / 2; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		buf_addch(text, (char)(state >> 56));
	}
	buf_add(text, text->data, text->len); /* does not move any more */
}

static void test_long_zstd(void **state)
{
	struct buf text = BUF_INIT, file = BUF_INIT;
	struct outcome outcome;

	(void)state;
	make_long(&text);
	bytes_zstd(&file, text.data, text.len, 100000);
	assert_in_range(file.len, 1 << 20, LONG_LEN * 2 / 3);
	read_all(&file, 30000, &outcome);
	assert_int_equal(outcome.ending, UNPACK_WHOLE);
	assert_int_equal(outcome.data.len, text.len);
	assert_memory_equal(outcome.data.data, text.data, text.len);
	buf_release(&outcome.data);
	buf_release(&file);
	buf_release(&text);
}

static void test_gzip_behind_zstd(void **state)
{
	struct buf file = BUF_INIT;

	(void)state;
	bytes_zstd(&file, "one ", 4, 0);
	bytes_gzip(&file, "two", 3);
	expect(&file, "one two", UNPACK_ZSTD, UNPACK_WHOLE);
	buf_release(&file);
}

/* Every cut gives a prefix; only a cut between two frames is a whole file. */
static void cut_everywhere(const struct buf *file, size_t first_end, const char *text)
{
	size_t at, best = 0;

	for (at = 4; at < file->len; at++) {
		struct buf part = {file->data, at, file->cap};
		struct outcome outcome;

		read_all(&part, 64, &outcome);
		assert_true(outcome.data.len <= strlen(text));
		assert_memory_equal(outcome.data.data, text, outcome.data.len);
		assert_true(outcome.data.len >= best);
		best = outcome.data.len;
		assert_int_equal(outcome.ending, at == first_end ? UNPACK_WHOLE : UNPACK_CUT);
		buf_release(&outcome.data);
	}
	assert_true(best > 0);
}

static void test_cut_zstd(void **state)
{
	struct buf file = BUF_INIT;
	size_t first_end;

	(void)state;
	bytes_zstd(&file, "a flushed part, another flushed part. ", 38, 16);
	first_end = file.len;
	bytes_zstd(&file, "and a second frame", 18, 0);
	cut_everywhere(&file, first_end,
		       "a flushed part, another flushed part. and a second frame");
	buf_release(&file);
}

static void test_cut_gzip(void **state)
{
	struct buf file = BUF_INIT;
	size_t first_end;

	(void)state;
	bytes_gzip(&file, "a first member, ", 16);
	first_end = file.len;
	bytes_gzip(&file, "and a second one", 16);
	cut_everywhere(&file, first_end, "a first member, and a second one");
	buf_release(&file);
}

/* Blocks before the damaged one are given. */
static void test_broken_zstd(void **state)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct buf file = BUF_INIT;
	size_t second;

	(void)state;
	bytes_zstd(&file, text, 36, 16);
	/* magic, descriptor, window; a block's header has its type in bits 1 and 2, then its size
	 */
	assert_int_equal(file.data[6] & 7, 0);
	second = 6 + 3 + ((unsigned char)file.data[6] >> 3);
	file.data[second] = (char)(file.data[second] | 6); /* type 3 is reserved */
	expect(&file, "0123456789abcdef", UNPACK_ZSTD, UNPACK_BROKEN);
	buf_release(&file);
}

static void test_broken_gzip(void **state)
{
	struct buf file = BUF_INIT;
	struct outcome outcome;

	(void)state;
	bytes_gzip(&file, "one", 3);
	file.data[file.len - 6] ^= 1; /* the checksum */
	read_all(&file, 64, &outcome);
	assert_int_equal(outcome.ending, UNPACK_BROKEN);
	assert_string_equal(outcome.data.data, "one");
	buf_release(&outcome.data);
	buf_release(&file);
}

static void test_trailing_junk(void **state)
{
	struct buf file = BUF_INIT;

	(void)state;
	bytes_zstd(&file, "one", 3, 0);
	buf_addstr(&file, "junk");
	expect(&file, "one", UNPACK_ZSTD, UNPACK_BROKEN);
	buf_release(&file);
}

/* What `zstd --ultra -22 --long=31` writes: a window descriptor of 2^31 bytes. */
static void test_window_too_large(void **state)
{
	struct buf file = BUF_INIT;
	struct outcome outcome;

	(void)state;
	buf_add(&file, "\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00x", 10);
	read_all(&file, 64, &outcome);
	assert_int_equal(outcome.ending, UNPACK_BROKEN);
	assert_non_null(strstr(outcome.fault, "2048 MiB"));
	assert_non_null(strstr(outcome.fault, "128 MiB"));
	buf_release(&outcome.data);

	/* a single segment of 2^31 bytes and a bit says it by its content's size */
	buf_clear(&file);
	buf_add(&file, "\x28\xb5\x2f\xfd\xa0\x01\x00\x00\x80\x09\x00\x00x", 13);
	read_all(&file, 64, &outcome);
	assert_int_equal(outcome.ending, UNPACK_BROKEN);
	assert_non_null(strstr(outcome.fault, "2049 MiB"));
	buf_release(&outcome.data);
	buf_release(&file);
}

static void test_unreadable(void **state)
{
	struct unpack *unpack;
	struct err err = ERR_INIT;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(unpack_open(&unpack, ends[1], "the name", &err), -1);
	assert_int_equal(err.kind, ERR_IO);
	assert_non_null(strstr(err.text, "the name"));
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_several_gzip_members),
		cmocka_unit_test(test_several_zstd_frames),
		cmocka_unit_test(test_long_zstd),
		cmocka_unit_test(test_gzip_behind_zstd),
		cmocka_unit_test(test_cut_zstd),
		cmocka_unit_test(test_cut_gzip),
		cmocka_unit_test(test_broken_zstd),
		cmocka_unit_test(test_broken_gzip),
		cmocka_unit_test(test_trailing_junk),
		cmocka_unit_test(test_window_too_large),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* What was given last, and has to stand. */
struct standing {
	struct unpack_block blocks[64];
	size_t count, first; /* in `out`, of the oldest */
};

static void check_standing(struct standing *standing, const struct buf *data)
{
	size_t i, at = standing->first;

	for (i = 0; i < standing->count; i++) {
		const struct unpack_block *block = &standing->blocks[i];

		assert_memory_equal(block->data, data->data + at, block->len);
		at += block->len;
	}
}

/* Drops of the oldest what need not stand while `more` bytes come. */
static void let_go(struct standing *standing, const struct buf *data, size_t more)
{
	size_t i, gone = 0;

	while (gone < standing->count &&
	       (standing->count - gone == 64 || data->len + more - standing->first > UNPACK_STANDS))
		standing->first += standing->blocks[gone++].len;
	for (i = gone; i < standing->count; i++)
		standing->blocks[i - gone] = standing->blocks[i];
	standing->count -= gone;
}

/* What stands in front of a block, and what is its reader's there. */
static void check_front(const struct unpack_block *block, const struct buf *data)
{
	assert_in_range(block->before, 0, UNPACK_ROOM);
	assert_true(block->before <= data->len);
	assert_memory_equal(block->data - block->before, data->data + data->len - block->before,
			    block->before);
	memset(block->data - UNPACK_ROOM, 0xee, UNPACK_ROOM - block->before);
}

/* Reads everything, `step` bytes or some more a call. */
static void read_all(const struct buf *file, size_t step, struct outcome *out)
{
	struct standing standing = {.count = 0, .first = 0};
	struct unpack *unpack;
	struct unpack_block block;
	struct err err = ERR_INIT;
	int rc;

	buf_init(&out->data);
	assert_int_equal(unpack_open(&unpack, bytes_open(file->data, file->len), "made", &err), 0);
	do {
		let_go(&standing, &out->data, step + ((size_t)128 << 10));
		rc = unpack_next(unpack, step, &block, &err);
		assert_in_range(block.len, rc > 0, step + ((size_t)128 << 10));
		check_standing(&standing, &out->data);
		check_front(&block, &out->data);
		standing.blocks[standing.count++] = block;
		buf_add(&out->data, block.data, block.len);
	} while (rc > 0);
	assert_int_equal(rc, 0);
	assert_int_equal(unpack_bytes_out(unpack), out->data.len);
	assert_true(unpack_bytes_in(unpack) <= file->len);
	out->packing = unpack_packing(unpack);
	out->ending = unpack_ending(unpack);
	snprintf(out->fault, sizeof(out->fault), "%s", unpack_fault(unpack));
	assert_int_equal(unpack_next(unpack, step, &block, &err), 0);
	assert_int_equal(block.len, 0);
	unpack_free(unpack);
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

static uint64_t random_below(uint64_t *state, uint64_t bound)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % bound;
}

/* The same comes out, read `step` bytes at a time. */
static void expect_whole(const struct buf *file, size_t step, const struct buf *text)
{
	struct outcome outcome;

	read_all(file, step, &outcome);
	assert_string_equal(outcome.fault, "");
	assert_int_equal(outcome.ending, UNPACK_WHOLE);
	assert_int_equal(outcome.data.len, text->len);
	assert_memory_equal(outcome.data.data, text->data, text->len);
	buf_release(&outcome.data);
}

#define LONG_LEN ((size_t)3 << 20)

/* More than 1 MiB packed: the first half repeats nothing, the other looks back far for a copy of
 * it. */
static void make_long(struct buf *text)
{
	uint64_t state = 1;
	size_t i;

	buf_reserve(text, LONG_LEN);
	for (i = 0; i < LONG_LEN / 2; i++)
		buf_addch(text, (char)random_below(&state, 256));
	buf_add(text, text->data, text->len); /* does not move any more */
}

static void test_long_zstd(void **state)
{
	struct buf text = BUF_INIT, file = BUF_INIT;

	(void)state;
	make_long(&text);
	bytes_zstd(&file, text.data, text.len, 100000);
	assert_in_range(file.len, 1 << 20, LONG_LEN * 2 / 3);
	expect_whole(&file, 30000, &text);
	buf_release(&file);
	buf_release(&text);
}

/* Words of which each was somewhere in the last `window` bytes before, or is new. */
static void add_copies(struct buf *text, uint64_t *state, size_t len, size_t window)
{
	size_t begin = text->len, i;

	buf_reserve(text, len);
	while (text->len < begin + len) {
		size_t word = 4 + random_below(state, 200), there = text->len - begin;
		size_t back = 1 + random_below(state, window);

		if (back > there || random_below(state, 4) == 0)
			for (i = 0; i < word / 4; i++)
				buf_addch(text, (char)random_below(state, 256));
		else
			for (i = 0; i < word; i++)
				buf_addch(text, text->data[text->len - back]);
	}
}

/* The ring goes round several times within each window, and grows between two. */
static void test_windows(void **state)
{
	static const struct {
		int window_log;
		size_t len;
	} frames[] = {{10, 100},      {17, 5 << 20}, {10, 200000},
		      {22, 14 << 20}, {20, 4 << 20}, {24, 1 << 20}};
	static const size_t steps[] = {1000, 32 << 10, 300 << 10};
	struct buf text = BUF_INIT, file = BUF_INIT;
	uint64_t seed = 1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		size_t begin = text.len;

		add_copies(&text, &seed, frames[i].len, (size_t)1 << frames[i].window_log);
		bytes_zstd_window(&file, text.data + begin, text.len - begin, frames[i].window_log);
	}
	assert_in_range(file.len, 1 << 20, text.len / 2);
	for (i = 0; i < 3; i++)
		expect_whole(&file, steps[i], &text);
	buf_release(&file);
	buf_release(&text);
}

/* Longer than what is read at once, and cut. */
static void test_long_skippable(void **state)
{
	static const char header[] = "\x50\x2a\x4d\x18\x40\x0d\x03"; /* 200,000, and a 0 */
	struct buf file = BUF_INIT, part;
	struct outcome outcome;
	int i;

	(void)state;
	buf_add(&file, header, 8);
	for (i = 0; i < 200000; i++)
		buf_addch(&file, 'x');
	bytes_zstd(&file, "one", 3, 0);
	expect(&file, "one", UNPACK_ZSTD, UNPACK_WHOLE);
	part = (struct buf){file.data, 150000, file.cap};
	read_all(&part, 64, &outcome);
	assert_int_equal(outcome.ending, UNPACK_CUT);
	buf_release(&outcome.data);
	buf_release(&file);
}

static void test_needs_a_dictionary(void **state)
{
	struct buf file = BUF_INIT;

	(void)state;
	/* descriptor: a dictionary's id of one byte; window of 1 KiB; the id; a last block of 1 */
	buf_add(&file, "\x28\xb5\x2f\xfd\x01\x00\x07\x09\x00\x00x", 11);
	expect(&file, "", UNPACK_ZSTD, UNPACK_BROKEN);
	buf_release(&file);
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

/* A block that is stored and not compressed gives what is left of it. */
static void test_cut_in_a_stored_block(void **state)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct buf file = BUF_INIT, part;
	size_t second;

	(void)state;
	bytes_zstd(&file, text, 36, 16);
	/* magic, descriptor, window; a block's header, whose type is 0 */
	assert_int_equal(file.data[6] & 7, 0);
	second = 6 + 3 + 16;
	part = (struct buf){file.data, second - 1, file.cap};
	expect(&part, "0123456789abcde", UNPACK_ZSTD, UNPACK_CUT);
	part.len = second + 3;
	expect(&part, "0123456789abcdef", UNPACK_ZSTD, UNPACK_CUT);
	part.len = second + 3 + 4;
	expect(&part, "0123456789abcdefghij", UNPACK_ZSTD, UNPACK_CUT);
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

	/* one of all that 64 bits hold */
	buf_clear(&file);
	buf_add(&file, "\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x09\x00\x00x", 17);
	read_all(&file, 64, &outcome);
	assert_int_equal(outcome.ending, UNPACK_BROKEN);
	assert_non_null(strstr(outcome.fault, " 17592186044416 MiB"));
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
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_long_skippable),
		cmocka_unit_test(test_needs_a_dictionary),
		cmocka_unit_test(test_gzip_behind_zstd),
		cmocka_unit_test(test_cut_zstd),
		cmocka_unit_test(test_cut_in_a_stored_block),
		cmocka_unit_test(test_cut_gzip),
		cmocka_unit_test(test_broken_zstd),
		cmocka_unit_test(test_broken_gzip),
		cmocka_unit_test(test_trailing_junk),
		cmocka_unit_test(test_window_too_large),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

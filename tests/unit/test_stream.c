/* Records come out one by one, whatever their size and wherever the bytes are split. */
#include "log_bytes.h"
#include "stream.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

/* Bytes come out the same whoever unpacks them: main() runs all tests both ways. */
static bool ahead;

static struct stream *open_stream(const struct buf *file)
{
	struct stream *stream;
	struct err err = ERR_INIT;

	assert_int_equal(
		stream_open(&stream, bytes_open(file->data, file->len), "made", ahead, &err), 0);
	return stream;
}

/* A record of `len` bytes that begins as a CommandProgress and says its number. */
static void add_record(struct buf *file, size_t len, unsigned char mark)
{
	bytes_varint(file, len);
	memset(buf_reserve(file, len), mark, len);
	file->data[file->len] = 0x0a;
	buf_grew(file, len);
}

/* What add_record() wrote, or the beginning of it. */
static void expect_bytes(const uint8_t *data, size_t len, unsigned char mark)
{
	assert_int_equal(data[0], 0x0a);
	assert_int_equal(data[1], mark);
	assert_memory_equal(data + 1, data + 2, len - 2);
}

static void expect_record(struct stream *stream, size_t len, unsigned char mark, bool take_body)
{
	struct stream_record record;
	struct err err = ERR_INIT;
	const uint8_t *data;
	size_t data_len;
	bool too_large;

	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(record.size, len);
	assert_int_equal(record.head_len, len < STREAM_HEAD_MAX ? len : STREAM_HEAD_MAX);
	expect_bytes(record.head, record.head_len, mark);
	if (!take_body)
		return;
	assert_int_equal(stream_body(stream, &data, &data_len, &too_large, &err), 1);
	assert_int_equal(data_len, len);
	expect_bytes(data, len, mark);
	assert_false(too_large);
}

static void expect_end(struct stream *stream, enum stream_ending ending)
{
	struct stream_record record;
	struct err err = ERR_INIT;

	assert_int_equal(stream_next(stream, &record, &err), 0);
	assert_int_equal(stream_end(stream), ending);
	assert_int_equal(stream_next(stream, &record, &err), 0);
	assert_int_equal(stream_fault(stream)[0] != '\0', ending == STREAM_BROKEN);
	stream_free(stream);
}

static const size_t sizes[] = {2,      127,    128,	4096, 4097,	5,     262143,
			       262144, 262145, 3 * MIB, 9,    16 * MIB, 16383, 100};

#define SIZE_COUNT (sizeof(sizes) / sizeof(sizes[0]))

/* Every third body is asked for, and on another pass every one, and none. */
static void test_sizes(void **state)
{
	struct buf file = BUF_INIT;
	unsigned int every;
	size_t i;

	(void)state;
	for (i = 0; i < SIZE_COUNT; i++)
		add_record(&file, sizes[i], (unsigned char)('A' + i));
	for (every = 0; every < 4; every++) {
		struct stream *stream = open_stream(&file);

		assert_int_equal(stream_format(stream), STREAM_PROTOBUF);
		for (i = 0; i < SIZE_COUNT; i++)
			expect_record(stream, sizes[i], (unsigned char)('A' + i),
				      every && i % every == 0);
		expect_end(stream, STREAM_WHOLE);
	}
	buf_release(&file);
}

#define MANY 8000

static size_t size_of(size_t i)
{
	return 2 + i * i * 7919 % (i % 50 ? 300 : 40000);
}

static void expect_many(const struct buf *file)
{
	struct stream *stream = open_stream(file);
	size_t i;

	for (i = 0; i < MANY; i++)
		expect_record(stream, size_of(i), (unsigned char)i, i % 3 == 0);
	expect_end(stream, STREAM_WHOLE);
}

/* Some lie across the end of the memory where unpacked bytes stand. */
static void test_many_blocks(void **state)
{
	static const size_t flushes[] = {0, 700, 90000};
	struct buf file = BUF_INIT, packed = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < MANY; i++)
		add_record(&file, size_of(i), (unsigned char)i);
	assert_in_range(file.len, 4 * MIB, 8 * MIB);
	expect_many(&file);
	bytes_gzip(&packed, file.data, file.len);
	expect_many(&packed);
	for (i = 0; i < 3; i++) {
		buf_clear(&packed);
		bytes_zstd(&packed, file.data, file.len, flushes[i]);
		expect_many(&packed);
	}
	buf_release(&file);
	buf_release(&packed);
}

/* Wants records that end with 'y'; counts those it was asked of. */
static uint32_t ends_with_y(void *context, const uint8_t *record, size_t len)
{
	size_t *asked = context;

	(*asked)++;
	return record[len - 1] == 'y';
}

/* Three records in a hundred are wanted; a few lie across the ends of blocks, and are shown. */
static void test_filter(void **state)
{
	const size_t count = 20000;
	struct buf file = BUF_INIT;
	struct stream_record record;
	struct err err = ERR_INIT;
	struct stream *stream;
	size_t asked = 0, chosen = 0, others = 0, i;

	(void)state;
	for (i = 1; i <= count; i++)
		add_record(&file, 2 + i % 300, i % 100 < 3 ? 'y' : 'n');
	stream = open_stream(&file);
	stream_set_filter(stream, ends_with_y, &asked);
	while (stream_next(stream, &record, &err) > 0) {
		assert_int_equal(record.size, 2 + record.number % 300);
		assert_int_equal(record.head[record.size - 1], record.number % 100 < 3 ? 'y' : 'n');
		assert_true(!record.word || record.number % 100 < 3);
		chosen += record.word != 0;
		others += !record.word;
	}
	assert_int_equal(stream_end(stream), STREAM_WHOLE);
	assert_int_equal(asked, chosen + stream_passed(stream));
	assert_int_equal(others, count - asked);
	assert_in_range(others, 1, 200);
	assert_in_range(chosen, count * 3 / 100 - others, count * 3 / 100);
	stream_free(stream);
	buf_release(&file);
}

static void test_too_large_body(void **state)
{
	struct buf file = BUF_INIT;
	struct stream_record record;
	struct stream *stream;
	struct err err = ERR_INIT;
	const uint8_t *data;
	size_t len;
	bool too_large = false;

	(void)state;
	add_record(&file, STREAM_RECORD_MAX + 1, 'A');
	add_record(&file, 50, 'B');
	stream = open_stream(&file);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(stream_body(stream, &data, &len, &too_large, &err), 0);
	assert_true(too_large);
	expect_record(stream, 50, 'B', true);
	expect_end(stream, STREAM_WHOLE);
	buf_release(&file);
}

/* Any cut: the whole records before it, then the end. */
static void test_cut(void **state)
{
	struct buf file = BUF_INIT;
	size_t at;

	(void)state;
	add_record(&file, 40, 'A');
	add_record(&file, 200, 'B');
	for (at = 0; at < file.len; at++) {
		struct buf part = {file.data, at, file.cap};
		struct stream *stream = open_stream(&part);

		if (at >= 41)
			expect_record(stream, 40, 'A', at % 2);
		expect_end(stream, at == 0 || at == 41 ? STREAM_WHOLE : STREAM_CUT);
	}
	buf_release(&file);
}

/* Larger than the window, so shown before its end is known to be missing. */
static void test_cut_in_a_large_record(void **state)
{
	struct buf file = BUF_INIT;
	struct stream_record record;
	struct stream *stream;
	struct err err = ERR_INIT;
	const uint8_t *data;
	size_t len;
	bool too_large;

	(void)state;
	add_record(&file, MIB, 'A');
	file.len -= 1;
	stream = open_stream(&file);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(stream_body(stream, &data, &len, &too_large, &err), 0);
	assert_false(too_large);
	expect_end(stream, STREAM_CUT);
	stream = open_stream(&file);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	expect_end(stream, STREAM_CUT);
	buf_release(&file);
}

static void test_hostile_lengths(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum stream_ending ending;
	} cases[] = {
		{"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9, STREAM_BROKEN},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, STREAM_BROKEN},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, STREAM_BROKEN},
		{"\x80\x80\x80\x80\x04\x0a", 6, STREAM_CUT}, /* 1 GiB */
		{"\xff\xff", 2, STREAM_CUT},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf file = BUF_INIT;
		struct stream *stream;

		add_record(&file, 10, 'A');
		buf_add(&file, cases[i].bytes, cases[i].len);
		stream = open_stream(&file);
		expect_record(stream, 10, 'A', false);
		expect_end(stream, cases[i].ending);
		buf_release(&file);
	}
}

/* A hole after a crash: any number of zeroes is one record, an empty one. */
static void test_zeroes(void **state)
{
	struct buf file = BUF_INIT;
	struct stream_record record;
	struct stream *stream;
	struct err err = ERR_INIT;

	(void)state;
	add_record(&file, 10, 'A');
	memset(buf_reserve(&file, MIB), 0, MIB);
	buf_grew(&file, MIB);
	add_record(&file, 10, 'B');
	buf_add(&file, "\0", 1);
	stream = open_stream(&file);
	expect_record(stream, 10, 'A', true);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(record.size, 0);
	expect_record(stream, 10, 'B', true);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(record.size, 0);
	expect_end(stream, STREAM_WHOLE);
	buf_release(&file);
}

/* ---- lines ---- */

static void add_line(struct buf *file, size_t len, char mark)
{
	size_t start = file->len;

	memset(buf_reserve(file, len + 1), mark, len);
	buf_grew(file, len + 1);
	memcpy(file->data + start, "{\"", 2);
	file->data[start + len] = '\n';
}

static void expect_line(struct stream *stream, size_t len, char mark, bool take_body)
{
	struct stream_record record;
	struct err err = ERR_INIT;
	const uint8_t *data;
	size_t data_len;
	bool too_large;

	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_true(record.size == len || (record.size == UINT64_MAX && len > 200000));
	assert_int_equal(record.head_len, len < STREAM_HEAD_MAX ? len : STREAM_HEAD_MAX);
	assert_int_equal(record.head[record.head_len - 1], mark);
	if (!take_body)
		return;
	assert_int_equal(stream_body(stream, &data, &data_len, &too_large, &err), 1);
	assert_int_equal(data_len, len);
	assert_int_equal(data[0], '{');
	assert_int_equal(data[len - 1], mark);
}

static void test_lines(void **state)
{
	struct buf file = BUF_INIT;
	unsigned int every;
	size_t i;

	(void)state;
	for (i = 0; i < SIZE_COUNT; i++) {
		add_line(&file, sizes[i] + 2, (char)('A' + i));
		if (i % 2)
			buf_addstr(&file, "\n\n"); /* empty lines are no records */
	}
	for (every = 0; every < 4; every++) {
		struct stream *stream = open_stream(&file);

		assert_int_equal(stream_format(stream), STREAM_JSON);
		for (i = 0; i < SIZE_COUNT; i++)
			expect_line(stream, sizes[i] + 2, (char)('A' + i),
				    every && i % every == 0 && sizes[i] + 2 <= STREAM_RECORD_MAX);
		expect_end(stream, STREAM_WHOLE);
	}
	buf_release(&file);
}

static void test_too_large_line(void **state)
{
	struct buf file = BUF_INIT;
	struct stream_record record;
	struct stream *stream;
	struct err err = ERR_INIT;
	const uint8_t *data;
	size_t len;
	bool too_large = false;

	(void)state;
	add_line(&file, 20 * MIB, 'A');
	add_line(&file, 50, 'B');
	stream = open_stream(&file);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(record.size, UINT64_MAX);
	assert_int_equal(stream_body(stream, &data, &len, &too_large, &err), 0);
	assert_true(too_large);
	expect_line(stream, 50, 'B', true);
	expect_end(stream, STREAM_WHOLE);
	buf_release(&file);
}

/* A hole after a crash: zeroes in a line of their own, and at the end. */
static void test_zeroes_in_lines(void **state)
{
	struct buf file = BUF_INIT;
	struct stream_record record;
	struct stream *stream;
	struct err err = ERR_INIT;

	(void)state;
	add_line(&file, 30, 'A');
	buf_add(&file, "\0\0\0\0\n", 5);
	add_line(&file, 30, 'B');
	buf_add(&file, "\0\0\0\0", 4);
	stream = open_stream(&file);
	expect_line(stream, 30, 'A', true);
	assert_int_equal(stream_next(stream, &record, &err), 1);
	assert_int_equal(record.size, 4);
	expect_line(stream, 30, 'B', true);
	expect_end(stream, STREAM_CUT);
	buf_release(&file);
}

/* ---- telling formats ---- */

/* 0x7b is `{` and the length of a header of 123 bytes. */
static void test_a_header_of_123_bytes(void **state)
{
	struct buf file = BUF_INIT;
	struct stream *stream;

	(void)state;
	add_record(&file, 0x7b, 'A');
	stream = open_stream(&file);
	assert_int_equal(stream_format(stream), STREAM_PROTOBUF);
	expect_record(stream, 0x7b, 'A', true);
	expect_end(stream, STREAM_WHOLE);

	/* the same with start_time first, whose tag is `"` */
	file.data[1] = '"';
	file.data[2] = 0x06;
	stream = open_stream(&file);
	assert_int_equal(stream_format(stream), STREAM_PROTOBUF);
	stream_free(stream);
	buf_release(&file);
}

static void test_not_a_log(void **state)
{
	static const char *const others[] = {"hello, world, this is text",
					     "# a script\nof some kind\n", "[1, 2, 3]\n",
					     "PK\003\004 an archive of some kind"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct stream *stream;
		struct err err = ERR_INIT;
		int fd = bytes_open(others[i], strlen(others[i]));

		assert_int_equal(stream_open(&stream, fd, "some/file", true, &err), -1);
		assert_int_equal(err.kind, ERR_FORMAT);
		assert_non_null(strstr(err.text, "some/file"));
	}
}

static void test_packings(void **state)
{
	struct buf plain = BUF_INIT, file = BUF_INIT;
	struct stream *stream;

	(void)state;
	add_record(&plain, 100, 'A');
	bytes_gzip(&file, plain.data, plain.len);
	stream = open_stream(&file);
	assert_int_equal(stream_packing(stream), STREAM_GZIP);
	expect_record(stream, 100, 'A', true);
	assert_int_equal(stream_bytes_read(stream), file.len);
	assert_int_equal(stream_bytes_decoded(stream), plain.len);
	expect_end(stream, STREAM_WHOLE);

	/* a record may lie across two frames */
	buf_clear(&file);
	bytes_zstd(&file, plain.data, 33, 0);
	bytes_zstd(&file, plain.data + 33, plain.len - 33, 0);
	stream = open_stream(&file);
	assert_int_equal(stream_packing(stream), STREAM_ZSTD);
	expect_record(stream, 100, 'A', true);
	expect_end(stream, STREAM_WHOLE);

	/* the frame open behind what was flushed: a build that still runs */
	buf_clear(&file);
	add_record(&plain, 100, 'B');
	bytes_zstd(&file, plain.data, plain.len, plain.len / 2);
	file.len -= 4;
	stream = open_stream(&file);
	expect_record(stream, 100, 'A', true);
	expect_end(stream, STREAM_CUT);

	stream = open_stream(&plain);
	assert_int_equal(stream_packing(stream), STREAM_PLAIN);
	stream_free(stream);
	buf_release(&plain);
	buf_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_many_blocks),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_too_large_body),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_in_a_large_record),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_zeroes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_too_large_line),
		cmocka_unit_test(test_zeroes_in_lines),
		cmocka_unit_test(test_a_header_of_123_bytes),
		cmocka_unit_test(test_not_a_log),
		cmocka_unit_test(test_packings),
	};

	int failed = cmocka_run_group_tests_name("by the reader itself", tests, NULL, NULL);

	ahead = true;
	return failed + cmocka_run_group_tests_name("by a thread", tests, NULL, NULL);
}

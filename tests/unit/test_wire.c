#include "util/wire.h"

#include "message.h"
#include "reapi.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <cmocka.h>

static int walk(const void *data, size_t len)
{
	struct wire_cursor cursor = {data, (const uint8_t *)data + len};
	struct wire_field field = {0};
	int fields = 0, status;

	while ((status = wire_next(&cursor, &field)) > 0)
		fields++;
	return status < 0 ? -1 : fields;
}

static void test_fields(void **state)
{
	struct buf message = BUF_INIT;
	struct wire_cursor cursor;
	struct wire_field field = {0};

	(void)state;
	put_number(&message, 1, -1);
	put_group(&message, 7);
	put_text(&message, 536870911, "last");
	cursor = (struct wire_cursor){(const uint8_t *)message.data,
				      (const uint8_t *)message.data + message.len};
	assert_int_equal(wire_next(&cursor, &field), 1);
	assert_int_equal(field.type, WIRE_VARINT);
	assert_true(field.value == UINT64_MAX);
	assert_int_equal(wire_next(&cursor, &field), 1);
	assert_int_equal(field.number, 7);
	assert_int_equal(field.type, WIRE_GROUP);
	assert_int_equal(wire_next(&cursor, &field), 1);
	assert_int_equal(field.number, 536870911);
	assert_memory_equal(field.data, "last", 4);
	assert_int_equal(wire_next(&cursor, &field), 0);
	buf_release(&message);
}

static void test_malformed(void **state)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
	} cases[] = {
		{"a tag without a value", "\x08", 1},
		{"a varint that is cut", "\x08\xff", 2},
		{"a varint of eleven bytes", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		 12},
		{"a length beyond the end",
		 "\x0a\x05"
		 "abc",
		 5},
		{"a length of 2^64 - 1", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
		{"field number 0", "\x00\x01", 2},
		{"a field number over 2^29", "\x80\x80\x80\x80\x10\x01", 6},
		{"wire type 6", "\x0e\x01", 2},
		{"wire type 7", "\x0f\x01", 2},
		{"a group's end alone", "\x0c", 1},
		{"a group that stays open", "\x0b\x08\x01", 3},
		{"a group closed by another number", "\x0b\x14", 2},
		{"a fixed64 that is cut", "\x09\x01\x02\x03", 4},
		{"a fixed32 that is cut", "\x0d\x01\x02\x03", 4},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (walk(cases[i].bytes, cases[i].len) != -1)
			fail_msg("%s is taken", cases[i].what);
}

static int walk_groups(size_t depth)
{
	struct buf message = BUF_INIT;
	size_t i;
	int result;

	for (i = 0; i < depth; i++)
		put_tag(&message, 1, 3);
	for (i = 0; i < depth; i++)
		put_tag(&message, 1, 4);
	result = walk(message.data, message.len);
	buf_release(&message);
	return result;
}

static void test_group_depth(void **state)
{
	(void)state;
	assert_int_equal(walk_groups(100), 1);
	assert_int_equal(walk_groups(101), -1);
	assert_int_equal(walk_groups(1000000), -1);
}

static Reapi__ActionResult *prune_and_unpack(struct buf *message)
{
	ptrdiff_t len = wire_prune(&reapi__action_result__descriptor, (uint8_t *)message->data,
				   message->len);

	assert_true(len >= 0 && (size_t)len <= message->len);
	return reapi__action_result__unpack(NULL, (size_t)len, (const uint8_t *)message->data);
}

/* Each of these makes protobuf-c refuse the whole message, or keep a copy. */
static void put_noise(struct buf *out)
{
	put_group(out, 1000);
	put_group(out, 9); /* known, as a message */
	put_number(out, 9, 1);
	put_text(out, 5000, "not known");
}

static void test_prune(void **state)
{
	struct buf message = BUF_INIT, metadata = BUF_INIT;
	Reapi__ActionResult *result;

	(void)state;
	put_noise(&message);
	put_text(&message, 5, "stdout_raw, which is not ours");
	put_text(&message, 4, "exit_code, not as text");
	put_number(&message, 4, 7);
	put_noise(&metadata);
	put_text(&metadata, 1, "w");
	put_noise(&metadata);
	put_message(&message, 9, metadata);
	put_noise(&message);
	result = prune_and_unpack(&message);
	assert_non_null(result);
	assert_int_equal(result->exit_code, 7);
	assert_int_equal(result->base.n_unknown_fields, 0);
	assert_int_equal(result->execution_metadata->worker.len, 1);
	assert_int_equal(result->execution_metadata->base.n_unknown_fields, 0);
	reapi__action_result__free_unpacked(result, NULL);
	buf_release(&message);
}

/* Lengths need not be written in the shortest form. */
static void test_prune_long_varints(void **state)
{
	char bytes[] = "\xca\x80\x00\x85\x80\x80\x00\x8a\x80\x00\x01w\xa0\x80\x00\x07";
	struct buf message = BUF_INIT;
	Reapi__ActionResult *result;

	(void)state;
	buf_add(&message, bytes, sizeof(bytes) - 1);
	result = prune_and_unpack(&message);
	assert_non_null(result);
	assert_int_equal(result->exit_code, 7);
	assert_memory_equal(result->execution_metadata->worker.data, "w", 1);
	reapi__action_result__free_unpacked(result, NULL);
	buf_release(&message);
}

/* A submessage that comes twice is merged by protobuf's rules. */
static void test_prune_keeps_repeats(void **state)
{
	struct buf message = BUF_INIT, inner = BUF_INIT;
	Reapi__ActionResult *result;

	(void)state;
	put_text(&inner, 1, "w");
	put_message(&message, 9, inner);
	buf_init(&inner);
	put_time(&inner, 2, 5, 0);
	put_message(&message, 9, inner);
	result = prune_and_unpack(&message);
	assert_non_null(result);
	assert_int_equal(result->execution_metadata->worker.len, 1);
	assert_int_equal(result->execution_metadata->queued_timestamp->seconds, 5);
	reapi__action_result__free_unpacked(result, NULL);
	buf_release(&message);
}

static void test_prune_malformed(void **state)
{
	struct buf message = BUF_INIT;

	(void)state;
	put_number(&message, 4, 7);
	put_bytes(&message, 9, "\x0a\x05w", 3); /* a length beyond the inner end */
	assert_int_equal(
		wire_prune(&reapi__action_result__descriptor, (uint8_t *)message.data, message.len),
		-1);
	buf_release(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_group_depth),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_prune_long_varints),
		cmocka_unit_test(test_prune_keeps_repeats),
		cmocka_unit_test(test_prune_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

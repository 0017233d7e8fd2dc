/*
 * Events that stand as Buck2 writes them are found in a shorter way than others: both
 * ways say the same of real events, and of what damage makes of them. And a decoder, which
 * forgets only what the event before was made of, says the same as a new one.
 */
#include "decode_testing.h"
#include "event_text.h"
#include "log_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LOG                                                                     \
	TEST_DATA "/logs/cells/buck-out/v2/log/20261130-022218_build_a7d52edb-" \
		  "888f-413f-9286-e825f90aab2c_events.pb.zst"
/* Field 4095: a number that nobody knows. */
#define UNKNOWN_FIELD "\xf8\xff\x01\x05"
#define EVENT 0x0a /* CommandProgress.event */

struct tally {
	unsigned int events, dropped, malformed;
};

/* The event behind `before`, in a record of its own. Caller frees. */
static char *text_of(const char *before, const uint8_t *event, size_t len)
{
	struct buf inner = BUF_INIT, record = BUF_INIT;
	char *text;

	buf_addstr(&inner, before);
	buf_add(&inner, event, len);
	buf_addch(&record, EVENT);
	bytes_frame(&record, inner.data, inner.len);
	text = decode_text(DECODE_PROTOBUF, record.data, record.len);
	buf_release(&inner);
	buf_release(&record);
	return text;
}

/* What is not wanted is not looked at to its end in the shorter way. */
static void expect_same(struct tally *tally, const uint8_t *event, size_t len)
{
	char *got = text_of("", event, len), *wanted = text_of(UNKNOWN_FIELD, event, len);
	bool is_dropped = strcmp(got, "none") == 0, is_malformed = strncmp(wanted, "malf", 4) == 0;

	if (!is_dropped || !is_malformed)
		assert_string_equal(got, wanted);
	tally->dropped += is_dropped;
	tally->malformed += is_malformed;
	tally->events += !is_dropped && !is_malformed;
	free(got);
	free(wanted);
}

static void damage(struct tally *tally, const uint8_t *event, size_t len)
{
	static const uint8_t flips[] = {0x01, 0x02, 0x08, 0x10, 0x80, 0xff};
	uint8_t *copy = test_malloc(len);
	size_t at, i;

	memcpy(copy, event, len);
	for (at = 0; at < len; at++) {
		for (i = 0; i < sizeof(flips); i++) {
			copy[at] = event[at] ^ flips[i];
			expect_same(tally, copy, len);
		}
		copy[at] = event[at];
		expect_same(tally, event, at);
	}
	test_free(copy);
}

static size_t take_varint(const uint8_t **at)
{
	size_t value = 0;
	unsigned int shift = 0;

	do
		value |= (size_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

/* Each event of a log, and every `step`th damaged at each byte. */
static void each_event(const struct buf *log, struct tally *whole, struct tally *damaged,
		       unsigned int step)
{
	const uint8_t *at = (const uint8_t *)log->data, *end = at + log->len;
	unsigned int number = 0;

	while (at < end) {
		size_t size = take_varint(&at);
		const uint8_t *event = at + 1, *next = at + size;

		if (*at == EVENT && take_varint(&event) == (size_t)(next - event)) {
			expect_same(whole, event, (size_t)(next - event));
			if (number++ % step == 0 && next - event < 1024)
				damage(damaged, event, (size_t)(next - event));
		}
		at = next;
	}
}

static void test_both_ways(void **state)
{
	struct tally whole = {0}, damaged = {0};
	struct buf log = BUF_INIT;

	(void)state;
	bytes_load_unpacked(&log, LOG);
	each_event(&log, &whole, &damaged, 37);
	assert_int_equal(whole.malformed, 0);
	assert_true(whole.events > 50 && whole.dropped > 50);
	assert_true(damaged.events > 1000 && damaged.dropped > 1000 && damaged.malformed > 1000);
	buf_release(&log);
}

/* ---- one decoder for all ---- */

#define RECORDS_MAX 4096
/* A test run: listings, tests, failed attempts. */
#define TESTS                                                                     \
	TEST_DATA "/logs/failures/buck-out/v2/log/20261130-015818_test_91354f4b-" \
		  "ce4f-4383-b470-4927fff56125_events.pb.zst"

struct record {
	const uint8_t *data;
	size_t len;
};

static size_t list_records(const struct buf *log, struct record *records)
{
	const uint8_t *at = (const uint8_t *)log->data, *end = at + log->len;
	size_t count = 0;

	while (at < end && count < RECORDS_MAX) {
		size_t len = take_varint(&at);

		records[count++] = (struct record){at, len};
		at += len;
	}
	return count;
}

/* Returns the event's kind. */
static enum event_kind expect_as_new(struct decoder *decoder, const struct record *record)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event;

	if (decode_record(decoder, record->data, record->len, &event, &err) <= 0)
		return EVENT_NONE;
	event_text(&text, event);
	expect_text(DECODE_PROTOBUF, record->data, record->len, text.data);
	buf_release(&text);
	return event->kind;
}

/* From both ends of the log at once: each kind comes after itself and after others. */
static unsigned int each_after_another(const char *path)
{
	static struct record records[RECORDS_MAX];
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf log = BUF_INIT;
	unsigned int kinds = 0;
	size_t count, i;

	bytes_load_unpacked(&log, path);
	count = list_records(&log, records);
	for (i = 0; i < count; i++) {
		kinds |= 1u << expect_as_new(decoder, &records[i]);
		kinds |= 1u << expect_as_new(decoder, &records[count - 1 - i]);
	}
	decoder_free(decoder);
	buf_release(&log);
	return kinds;
}

#define EXPECTED                                                                   \
	(1u << EVENT_INVOCATION | 1u << EVENT_COMMAND_START | 1u << EVENT_CONFIG | \
	 1u << EVENT_ACTION_START | 1u << EVENT_STAGE | 1u << EVENT_ACTION_END |   \
	 1u << EVENT_COMMAND_RESULT | 1u << EVENT_BUILD_GRAPH)

static void test_one_decoder(void **state)
{
	unsigned int kinds = each_after_another(LOG) | each_after_another(TESTS);

	(void)state;
	assert_int_equal(kinds & EXPECTED, EXPECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_one_decoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

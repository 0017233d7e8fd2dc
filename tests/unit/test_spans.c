/*
 * The table of open spans: records outlive the log's buffer and say what they said, starts and
 * ends meet, the ceiling holds.
 */
#include "decode_testing.h"
#include "digest.h"
#include "log_bytes.h"
#include "scratch.h"
#include "spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- records ---- */

/* The event's bytes in `record`, its head as a reader gives it. */
static struct event packed(struct buf *record, const struct parts *parts, enum event_kind kind)
{
	const Buck2__BuckEvent *event = &parts->wrapped.event;

	buf_clear(record);
	bytes_message(record, &parts->wrapped.progress.base);
	return (struct event){
		.kind = kind,
		.seq = event->span_id + 100,
		.span_id = event->span_id,
		.parent_id = event->parent_id,
		.time_ns = (int64_t)event->span_id * 1000,
		.record = {record->data, record->len},
	};
}

static void add_start(struct spans *spans, uint64_t span_id, const char *identifier)
{
	struct buf record = BUF_INIT;
	struct parts parts;
	struct event event;

	init_parts(&parts);
	parts.wrapped.event.span_id = span_id;
	parts.wrapped.event.span_start = &parts.wrapped.start;
	parts.name.has_identifier = 1;
	parts.name.identifier = bin(identifier);
	parts.wrapped.start.action_execution = &parts.start;
	event = packed(&record, &parts, EVENT_ACTION_START);
	spans_start(spans, &event);
	memset(record.data, 'x', record.len);
	buf_release(&record);
}

/* An Execute stage that names HASH:size, and holds `padding` bytes that nobody knows. */
static void add_stage(struct spans *spans, uint64_t parent_id, uint64_t seq, uint64_t size,
		      size_t padding)
{
	Buck2__ExecutorStageStart executor = BUCK2__EXECUTOR_STAGE_START__INIT;
	Buck2__ReStage remote = BUCK2__RE_STAGE__INIT;
	Buck2__StageDigest execute = BUCK2__STAGE_DIGEST__INIT;
	char text[DIGEST_TEXT_MAX];
	struct buf record = BUF_INIT;
	struct parts parts;
	struct event event;

	init_parts(&parts);
	snprintf(text, sizeof(text), HASH ":%llu", (unsigned long long)size);
	execute.has_action_digest = 1;
	execute.action_digest = bin(text);
	remote.execute = &execute;
	executor.re = &remote;
	parts.wrapped.start.action_execution = NULL;
	parts.wrapped.start.executor_stage = &executor;
	parts.wrapped.event.span_start = &parts.wrapped.start;
	parts.wrapped.event.parent_id = parent_id;
	event = packed(&record, &parts, EVENT_STAGE);
	event.seq = seq;
	if (padding) {
		char *zeroes = test_calloc(1, padding);

		buf_addch(&record, 0x7a); /* field 15 */
		bytes_frame(&record, zeroes, padding);
		test_free(zeroes);
		event.record = (struct str){record.data, record.len};
	}
	spans_stage(spans, &event);
	memset(record.data, 'x', record.len);
	buf_release(&record);
}

/* ---- what is open ---- */

struct found {
	size_t count, damaged;
	uint64_t span_id, seq, stage_seq, with_stage;
	int64_t start_ns, size_bytes, sizes;
	char label[64], identifier[1024], stage[16];
};

static void find(void *context, const struct open_span *open)
{
	struct found *found = context;
	const struct action_name *name;

	found->count++;
	if (!open->start) {
		found->damaged++;
		return;
	}
	name = &open->start->action.name;
	found->span_id = open->span->span_id;
	found->seq = open->span->seq;
	found->stage_seq = open->span->stage_seq;
	found->start_ns = open->span->start_ns;
	found->size_bytes = open->stage.digest.size_bytes;
	found->with_stage += open->stage.digest.hash_len == 32;
	found->sizes += open->stage.digest.size_bytes;
	snprintf(found->label, sizeof(found->label), "%.*s:%.*s", (int)name->buck_package.len,
		 name->buck_package.data, (int)name->target.len, name->target.data);
	snprintf(found->identifier, sizeof(found->identifier), "%.*s", (int)name->identifier.len,
		 name->identifier.data);
	snprintf(found->stage, sizeof(found->stage), "%.*s", (int)open->stage.name.len,
		 open->stage.name.data ? open->stage.name.data : "");
}

static struct found find_all(struct spans *spans)
{
	struct found found = {0};

	spans_each(spans, find, &found);
	return found;
}

static void test_a_start_outlives_its_event(void **state)
{
	struct spans spans = SPANS_INIT;
	struct found found;

	(void)state;
	add_start(&spans, 7, "first");
	found = find_all(&spans);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.span_id, 7);
	assert_int_equal(found.start_ns, 7000);
	assert_int_equal(found.seq, 107);
	assert_string_equal(found.label, "root//a:b");
	assert_string_equal(found.identifier, "first");
	assert_string_equal(found.stage, "");
	assert_int_equal(spans_find(&spans, 7)->start_ns, 7000);
	spans_release(&spans);
}

static void test_the_last_stage_stays(void **state)
{
	struct spans spans = SPANS_INIT;
	struct found found;

	(void)state;
	add_start(&spans, 3, "");
	add_stage(&spans, 3, 111, 141, 0);
	add_stage(&spans, 3, 112, 142, 0);
	add_stage(&spans, 999, 113, 143, 0); /* nobody's: ignored */
	found = find_all(&spans);
	assert_int_equal(found.stage_seq, 112);
	assert_int_equal(found.size_bytes, 142);
	assert_string_equal(found.stage, "execute");
	assert_string_equal(found.label, "root//a:b");
	spans_release(&spans);
}

/* Longer than the room behind a start, than what is noted at once; and short ones after them. */
static void test_long_records(void **state)
{
	static const size_t paddings[] = {300, SPANS_NOTED, 0, 600, 0, 100000, 5000};
	struct spans spans = SPANS_INIT;
	char identifier[1001] = "";
	struct found found;
	size_t i;

	(void)state;
	memset(identifier, 'i', sizeof(identifier) - 1);
	add_start(&spans, 3, "");
	add_start(&spans, 4, identifier);
	for (i = 0; i < sizeof(paddings) / sizeof(paddings[0]); i++) {
		add_stage(&spans, 3, 111 + i, i, paddings[i]);
		add_stage(&spans, 4, 211 + i, i, paddings[i]);
		found = find_all(&spans);
		assert_int_equal(found.count, 2);
		assert_int_equal(found.with_stage, 2);
		assert_int_equal(found.sizes, 2 * i);
	}
	spans_end(&spans, 3);
	found = find_all(&spans);
	assert_string_equal(found.identifier, identifier);
	spans_end(&spans, 4);
	add_start(&spans, 5, "again");
	found = find_all(&spans);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.identifier, "again");
	assert_int_equal(found.with_stage, 0);
	spans_release(&spans);
}

/* Whenever they are brought to their spans. */
static void test_many_stages(void **state)
{
	struct spans spans = SPANS_INIT;
	const uint64_t count = 1000;
	struct found found;
	uint64_t id;

	(void)state;
	for (id = 1; id <= count; id++) {
		add_start(&spans, id, "");
		add_stage(&spans, id, count + id, id, 0);
	}
	found = find_all(&spans);
	assert_int_equal(found.with_stage, count);
	assert_int_equal(found.sizes, count * (count + 1) / 2);
	for (id = 1; id <= count; id++)
		assert_int_equal(spans_find(&spans, id)->stage_seq, count + id);
	spans_release(&spans);
}

static void test_a_stage_is_not_the_next_ones(void **state)
{
	struct spans spans = SPANS_INIT;
	struct found found;

	(void)state;
	add_start(&spans, 3, ""); /* record 103 */
	add_stage(&spans, 3, 101, 141, 0);
	spans_end(&spans, 3);
	add_start(&spans, 3, "");
	found = find_all(&spans);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.with_stage, 0);
	spans_release(&spans);
}

/* As it stands: the start of a span, or a stage below it. */
static void add_record(struct spans *spans, enum event_kind kind, uint64_t span_id, uint64_t seq,
		       struct str record)
{
	struct event event = {
		.kind = kind,
		.is_json = record.data[0] == '{',
		.span_id = span_id,
		.parent_id = span_id,
		.seq = seq,
		.record = record,
	};

	if (kind == EVENT_STAGE)
		spans_stage(spans, &event);
	else
		spans_start(spans, &event);
}

/* A record that was taken for a start, and is none; a stage that is none. */
static void test_damaged_records(void **state)
{
	const struct str damage = STR("\x0a\x03\xa2\x01\x05");
	struct spans spans = SPANS_INIT;
	struct found found;

	(void)state;
	add_start(&spans, 3, "whole");
	add_record(&spans, EVENT_ACTION_START, 4, 1, damage);
	add_record(&spans, EVENT_STAGE, 3, 200, damage);
	found = find_all(&spans);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.damaged, 1);
	assert_string_equal(found.identifier, "whole");
	assert_int_equal(found.with_stage, 0);
	spans_release(&spans);
}

static void test_lines_of_json(void **state)
{
	const struct str start =
		STR(JSON_START("\"ActionExecution\":{" JSON_KEY "," JSON_NAME "}"));
	const struct str stage = STR(
		JSON_STAGE("\"Re\":{\"stage\":{\"Queue\":{\"action_digest\":\"" HASH ":141\"}}}"));
	struct spans spans = SPANS_INIT;
	struct found found;

	(void)state;
	add_start(&spans, 6, "protobuf");
	add_record(&spans, EVENT_ACTION_START, 7, 1, start);
	add_record(&spans, EVENT_STAGE, 7, 2, stage);
	found = find_all(&spans);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.damaged, 0);
	assert_int_equal(found.with_stage, 1);
	assert_int_equal(found.sizes, 141);
	spans_end(&spans, 6);
	found = find_all(&spans);
	assert_string_equal(found.label, "root//a:b");
	assert_string_equal(found.stage, "queue");
	spans_release(&spans);
}

static void test_thousands_open_and_end(void **state)
{
	struct spans spans = SPANS_INIT;
	uint64_t id;

	(void)state;
	for (id = 1; id <= 5000; id++)
		add_start(&spans, id, "x");
	for (id = 1; id <= 5000; id += 2)
		spans_end(&spans, id);
	spans_end(&spans, 1); /* twice does nothing */
	for (id = 1; id <= 5000; id++)
		assert_int_equal(spans_find(&spans, id) != NULL, id % 2 == 0);
	assert_int_equal(find_all(&spans).count, 2500);
	assert_int_equal(spans.count, 2500);
	spans_release(&spans);
}

static void test_a_hostile_log_meets_the_ceiling(void **state)
{
	struct spans spans = SPANS_INIT;
	uint64_t id;

	(void)state;
	for (id = 1; id <= SPANS_MAX + 10; id++)
		add_start(&spans, id, "");
	assert_int_equal(spans.count, SPANS_MAX);
	assert_int_equal(spans.refused, 10);
	spans_release(&spans);
}

/* Large ones meet another: what is let go makes room again. */
static void test_large_ones_meet_a_ceiling(void **state)
{
	const size_t size = (size_t)3 << 20, most = SPANS_BYTES_MAX / size;
	struct spans spans = SPANS_INIT;
	struct found found;
	uint64_t id;

	(void)state;
	for (id = 1; id <= most + 2; id++) {
		add_start(&spans, id, "");
		add_stage(&spans, id, id + 1000, id, size);
	}
	found = find_all(&spans);
	assert_int_equal(found.count, most + 2);
	assert_int_equal(found.with_stage, most);
	assert_int_equal(spans.refused, 2);
	add_stage(&spans, 1, 2001, 7, 0);
	add_stage(&spans, most + 2, 2002, 8, size);
	assert_int_equal(find_all(&spans).with_stage, most + 1);
	for (id = 1; id <= most + 2; id++)
		spans_end(&spans, id);
	assert_int_equal(spans.bytes, 0);
	spans_release(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_start_outlives_its_event),
		cmocka_unit_test(test_the_last_stage_stays),
		cmocka_unit_test(test_long_records),
		cmocka_unit_test(test_many_stages),
		cmocka_unit_test(test_a_stage_is_not_the_next_ones),
		cmocka_unit_test(test_damaged_records),
		cmocka_unit_test(test_lines_of_json),
		cmocka_unit_test(test_thousands_open_and_end),
		cmocka_unit_test(test_a_hostile_log_meets_the_ceiling),
		cmocka_unit_test(test_large_ones_meet_a_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

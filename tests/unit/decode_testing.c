#include "decode_testing.h"

#include "event_text.h"
#include "log_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

ProtobufCBinaryData bin(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

static bool is_head_only(enum event_kind kind)
{
	return kind == EVENT_ACTION_START || kind == EVENT_STAGE;
}

static void assert_same_text(struct str got, struct str wanted)
{
	assert_int_equal(got.len, wanted.len);
	assert_memory_equal(got.data ? got.data : "", wanted.data ? wanted.data : "", got.len);
}

static void assert_same_head(const struct event *got, const struct event *wanted)
{
	assert_int_equal(got->kind, wanted->kind);
	assert_int_equal(got->span_id, wanted->span_id);
	assert_int_equal(got->parent_id, wanted->parent_id);
	assert_same_text(got->trace_id, wanted->trace_id);
	assert_same_text(got->record, wanted->record);
	assert_true(got->kind == EVENT_STAGE || got->time_ns == wanted->time_ns);
}

/*
 * What decode_glanced() says of a record of which decode_record() says `rc` and *wanted. Of a
 * start or stage it may not see what is wrong behind the head.
 */
static void expect_glanced(enum decode_format format, const void *data, size_t len, int rc,
			   const struct event *wanted)
{
	struct decoder *decoder = decoder_new(format);
	uint32_t glance = decode_glance(decoder, data, len);
	struct err err = ERR_INIT;
	struct event *event;
	int got = glance ? decode_glanced(decoder, data, len, glance, &event, &err) : 0;

	if (rc > 0) {
		assert_int_equal(got, 1);
		assert_same_head(event, wanted);
	} else if (got > 0) {
		assert_true(is_head_only(event->kind));
	} else {
		assert_int_equal(got, rc);
	}
	decoder_free(decoder);
}

char *decode_text(enum decode_format format, const void *data, size_t len)
{
	struct decoder *decoder = decoder_new(format);
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event = NULL;
	int rc;

	rc = decode_record(decoder, data, len, &event, &err);
	/* the first step never drops what the second step would give */
	if (decode_wants(decoder, data, len, len) == DECODE_SKIP)
		assert_true(rc <= 0);
	expect_glanced(format, data, len, rc, event);
	if (rc > 0)
		event_text(&text, event);
	else
		buf_addstr(&text, rc < 0 ? err.text : "none");
	decoder_free(decoder);
	return buf_detach(&text);
}

struct decoder *decode_rest(const struct event *head, struct event **out_event)
{
	struct decoder *decoder = decoder_new(head->is_json ? DECODE_JSON : DECODE_PROTOBUF);
	struct err err = ERR_INIT;

	if (decode_record(decoder, (const uint8_t *)head->record.data, head->record.len, out_event,
			  &err) <= 0)
		fail_msg("%s", err.text);
	assert_same_head(head, *out_event);
	(*out_event)->seq = head->seq;
	return decoder;
}

void expect_text(enum decode_format format, const void *data, size_t len, const char *want)
{
	char *text = decode_text(format, data, len);

	assert_string_equal(text, want);
	free(text);
}

void expect_both(const ProtobufCMessage *message, const char *json, const char *want)
{
	struct buf packed = BUF_INIT;

	bytes_message(&packed, message);
	expect_text(DECODE_PROTOBUF, packed.data, packed.len, want);
	expect_text(DECODE_JSON, json, strlen(json), want);
	buf_release(&packed);
}

Buck2__Timestamp a_time = {
	.base = PROTOBUF_C_MESSAGE_INIT(&buck2__timestamp__descriptor),
	NUMBER(seconds, 1796003972),
	NUMBER(nanos, 211896568),
};
Buck2__Duration a_duration = {
	.base = PROTOBUF_C_MESSAGE_INIT(&buck2__duration__descriptor),
	NUMBER(seconds, 1),
	NUMBER(nanos, 999999),
};

void wrap(struct wrapped *wrapped)
{
	buck2__command_progress__init(&wrapped->progress);
	buck2__buck_event__init(&wrapped->event);
	buck2__span_start_event__init(&wrapped->start);
	buck2__span_end_event__init(&wrapped->end);
	buck2__instant_event__init(&wrapped->instant);
	wrapped->progress.event = &wrapped->event;
	wrapped->event.timestamp = &a_time;
	wrapped->event.has_trace_id = 1;
	wrapped->event.trace_id = bin(TRACE);
	wrapped->event.has_span_id = wrapped->event.has_parent_id = 1;
	wrapped->event.span_id = 7;
	wrapped->event.parent_id = 3;
	wrapped->end.duration = &a_duration;
}

void expect_start(struct wrapped *wrapped, const char *json, const char *want)
{
	wrapped->event.span_start = &wrapped->start;
	expect_both(&wrapped->progress.base, json, want);
}

void expect_end(struct wrapped *wrapped, const char *json, const char *want)
{
	wrapped->event.span_end = &wrapped->end;
	expect_both(&wrapped->progress.base, json, want);
}

void init_parts(struct parts *parts)
{
	wrap(&parts->wrapped);
	buck2__target_label__init(&parts->label);
	buck2__target_configuration__init(&parts->configuration);
	buck2__configured_target_label__init(&parts->owner);
	buck2__action_key__init(&parts->key);
	buck2__action_name__init(&parts->name);
	buck2__action_execution_start__init(&parts->start);
	buck2__action_execution_end__init(&parts->end);
	parts->label.has_package = parts->label.has_name = 1;
	parts->label.package = bin("root//a");
	parts->label.name = bin("b");
	parts->configuration.has_full_name = 1;
	parts->configuration.full_name = bin("cfg#1");
	parts->owner.label = &parts->label;
	parts->owner.configuration = &parts->configuration;
	parts->key.target_label = &parts->owner;
	parts->name.has_category = 1;
	parts->name.category = bin("c"); /* the identifier stays empty */
	parts->start.key = parts->end.key = &parts->key;
	parts->start.name = parts->end.name = &parts->name;
	parts->start.has_kind = parts->end.has_kind = 1;
	parts->start.kind = parts->end.kind = 3;
	parts->wrapped.start.action_execution = &parts->start;
	parts->wrapped.end.action_execution = &parts->end;
}

/*
 * Any bytes as one record; the first byte chooses the format. What the first
 * step drops by any head must be nothing that the second step gives; and what a glance says
 * must be what is said of the same record behind a field that nobody knows, told without one.
 */
#include "decode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_dropped(const struct decoder *decoder, const uint8_t *data, size_t size)
{
	return decode_wants(decoder, data, size < 64 ? size : 64, size) == DECODE_SKIP ||
	       decode_wants(decoder, data, size, size) == DECODE_SKIP;
}

/* Field 4095: a number that nobody knows. */
static const uint8_t unknown_field[] = {0xf8, 0xff, 0x01, 0x05};

static bool is_same(const struct event *one, const struct event *other)
{
	return one->kind == other->kind && one->span_id == other->span_id &&
	       one->parent_id == other->parent_id && one->time_ns == other->time_ns &&
	       one->duration_us == other->duration_us &&
	       one->action.attempt_count == other->action.attempt_count &&
	       one->trace_id.len == other->trace_id.len &&
	       one->action.name.target.len == other->action.name.target.len;
}

/* `rc`, *event: what was said of the record. */
static void compare_unlike(const uint8_t *data, size_t size, int rc, const struct event *event)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	uint8_t *unlike = malloc(size + sizeof(unknown_field));
	struct err err = ERR_INIT;
	struct event *other;

	memcpy(unlike, unknown_field, sizeof(unknown_field));
	memcpy(unlike + sizeof(unknown_field), data, size);
	if (decode_record(decoder, unlike, size + sizeof(unknown_field), &other, &err) > 0) {
		if (rc <= 0 || !is_same(event, other))
			abort();
	} else if (rc > 0) {
		abort();
	}
	free(unlike);
	decoder_free(decoder);
}

/* The bytes' own memory, so that a look behind them is seen. */
static void compare_glanced(const uint8_t *data, size_t size, int rc, const struct event *event)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	uint32_t glance = decode_glance(decoder, data, size);
	struct err err = ERR_INIT;
	struct event *other;
	int got = glance ? decode_glanced(decoder, data, size, glance, &other, &err) : 0;

	if (rc > 0 && (got <= 0 || other->kind != event->kind || other->span_id != event->span_id))
		abort();
	if (rc <= 0 && got > 0 && other->kind != EVENT_ACTION_START && other->kind != EVENT_STAGE)
		abort();
	decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoder *decoder;
	struct err err = ERR_INIT;
	struct event *event = NULL;
	bool is_json;
	int rc;

	if (!size)
		return 0;
	is_json = data[0] & 1;
	decoder = decoder_new(is_json ? DECODE_JSON : DECODE_PROTOBUF);
	rc = decode_record(decoder, data + 1, size - 1, &event, &err);
	if (rc > 0 && is_dropped(decoder, data + 1, size - 1))
		abort();
	if (!is_json) {
		compare_unlike(data + 1, size - 1, rc, event);
		compare_glanced(data + 1, size - 1, rc, event);
	}
	decoder_free(decoder);
	return 0;
}

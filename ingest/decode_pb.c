#include "decode_internal.h"
#include "decode_rules.h"
#include "util/wire.h"

#include <string.h>

/*
 * Fields are read straight from the record's bytes into the event, by the
 * tables. libprotobuf-c was measured first: it allocates and copies every
 * message and text of a record (2.5 us for an action's end, more than zstd
 * needs to decompress it) and refuses a whole record for one group.
 */

/* A field with a number in its usual place; 0 where there is none. false: no varint. */
WIRE_INLINE bool take_number(struct wire_cursor *cursor, uint8_t tag, int64_t *out_value)
{
	uint64_t value = 0;

	if (cursor->at < cursor->end && *cursor->at == tag) {
		cursor->at++;
		if (!wire_varint(cursor, &value))
			return false;
	}
	*out_value = (int64_t)value;
	return true;
}

/* The fields of read_seconds() in any order, with others between them. */
static int read_any_seconds(struct wire_cursor cursor, int64_t *out_seconds, int64_t *out_nanos)
{
	struct wire_field part;
	int rc;

	*out_seconds = *out_nanos = 0;
	while ((rc = wire_next(&cursor, &part)) > 0) {
		if (part.number == 1 && part.type == WIRE_VARINT)
			*out_seconds = (int64_t)part.value;
		else if (part.number == 2 && part.type == WIRE_VARINT)
			*out_nanos = (int64_t)part.value;
	}
	return rc;
}

/* Timestamp and Duration have the same fields. */
static inline int read_seconds(struct wire_cursor cursor, int64_t *out_seconds, int64_t *out_nanos)
{
	struct wire_cursor usual = cursor;

	if (take_number(&usual, PB_TAG_VARINT(1), out_seconds) &&
	    take_number(&usual, PB_TAG_VARINT(2), out_nanos) && usual.at == usual.end)
		return 0;
	return read_any_seconds(cursor, out_seconds, out_nanos);
}

static int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static int read_number(void *target, enum shape_type type, uint64_t value)
{
	switch (type) {
	case SHAPE_INT:
	case SHAPE_ENUM:
		*(int64_t *)target = (int64_t)value;
		return 0;
	case SHAPE_ZIGZAG:
		*(int64_t *)target = unzigzag(value);
		return 0;
	case SHAPE_SIZE:
		*(int64_t *)target = rules_size(value);
		return 0;
	case SHAPE_NONZERO:
		*(int64_t *)target = value ? rules_size(value) : UNKNOWN;
		return 0;
	case SHAPE_ID:
		*(uint64_t *)target = value;
		return 0;
	case SHAPE_IDS:
		rules_set_first(target, value);
		return 0;
	case SHAPE_BOOL:
		*(bool *)target = value != 0;
		return 0;
	case SHAPE_NONE:
	case SHAPE_TEXT:
	case SHAPE_NAME:
	case SHAPE_TIME:
	case SHAPE_DURATION:
	case SHAPE_DIGEST:
	case SHAPE_MESSAGE:
	case SHAPE_MAP:
	case SHAPE_TEXTS:
		break;
	}
	return -1;
}

static int read_time(int64_t *target, struct wire_cursor cursor)
{
	int64_t seconds, nanos;

	if (read_seconds(cursor, &seconds, &nanos) < 0)
		return -1;
	*target = rules_time_ns(seconds, nanos);
	return 0;
}

static int read_duration(int64_t *target, struct wire_cursor cursor)
{
	int64_t seconds, nanos;

	if (read_seconds(cursor, &seconds, &nanos) < 0)
		return -1;
	*target = rules_duration_us(seconds, nanos);
	return 0;
}

/* Packed: the numbers and nothing else. */
static int read_ids(uint64_t *target, struct wire_cursor rest)
{
	uint64_t value;

	while (rest.at < rest.end) {
		if (!wire_varint(&rest, &value))
			return -1;
		rules_set_first(target, value);
	}
	return 0;
}

static int read_message(struct shape_sink *sink, const struct shape *shape, void *around,
			struct wire_cursor cursor);

static int read_bytes(struct shape_sink *sink, const struct shape_row *row, void *target,
		      struct wire_cursor data)
{
	struct str text = {(const char *)data.at, (size_t)(data.end - data.at)};

	switch (row->type) {
	case SHAPE_MESSAGE:
	case SHAPE_MAP:
		return read_message(sink, row->shape, target, data);
	case SHAPE_TEXT:
	case SHAPE_TEXTS:
		rules_set_text(target, text.data, text.len);
		return 0;
	case SHAPE_NAME:
		*(struct str *)target = str_of(row->text);
		return 0;
	case SHAPE_DIGEST:
		rules_set_digest(target, text);
		return 0;
	case SHAPE_TIME:
		return read_time(target, data);
	case SHAPE_DURATION:
		return read_duration(target, data);
	case SHAPE_IDS:
		return read_ids(target, data);
	case SHAPE_NONE:
	case SHAPE_INT:
	case SHAPE_ENUM:
	case SHAPE_ZIGZAG:
	case SHAPE_SIZE:
	case SHAPE_NONZERO:
	case SHAPE_ID:
	case SHAPE_BOOL:
		break;
	}
	return -1;
}

/*
 * Goes as deep as the tables do, whatever the input. -1: malformed, or the arena is
 * exhausted.
 */
static int read_message(struct shape_sink *sink, const struct shape *shape, void *around,
			struct wire_cursor cursor)
{
	while (cursor.at < cursor.end) {
		const struct shape_row *row;
		struct wire_field field;
		uint64_t number;
		void *target;
		int rc;

		if (!wire_tag(&cursor, &field))
			return -1;
		row = shape_find(shape, field.number);
		if (!row) {
			if (!wire_pass_any(&cursor, &field))
				return -1;
			continue;
		}
		target = shape_enter_row(sink, around, row);
		if (!target)
			return -1;
		if (field.type == WIRE_BYTES) {
			struct wire_cursor data;

			if (!wire_take_bytes(&cursor, &data))
				return -1;
			rc = read_bytes(sink, row, target, data);
		} else {
			if (field.type != WIRE_VARINT || !wire_varint(&cursor, &number))
				return -1;
			rc = read_number(target, row->type, number);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* "83f0a2c4-…": how Buck2 writes a trace id. */
static bool is_uuid(const struct wire_field *field)
{
	return field->type == WIRE_BYTES && field->len == PB_UUID_LEN && field->data[8] == '-' &&
	       field->data[13] == '-' && field->data[18] == '-' && field->data[23] == '-';
}

/*
 * Invocation and CommandProgress come in the same stream and share the field
 * numbers 1 to 3. CommandProgress is a oneof {event, result, partial_result}:
 * it holds one of them. An Invocation holds argv, the working directory and the
 * trace id, so several; or, were it bare, the trace id alone, which is no
 * partial_result (a message, and one that Buck2 does not log). A message of another
 * number alone is a CommandProgress of a kind that came later.
 */
static int is_invocation(struct wire_cursor cursor, bool *out_is)
{
	struct wire_field field;
	unsigned int known = 0;
	bool has_uuid = false, is_later = false;
	int rc;

	while ((rc = wire_next(&cursor, &field)) > 0) {
		if (field.number > 3) {
			is_later = is_later || field.type == WIRE_BYTES;
			continue;
		}
		known++;
		has_uuid = has_uuid || (field.number == 3 && is_uuid(&field));
	}
	*out_is = known > 1 || has_uuid;
	return rc < 0 || !(known || is_later) ? -1 : 0;
}

static int read_any(struct shape_sink *sink, struct wire_cursor record)
{
	bool invocation;

	if (is_invocation(record, &invocation) < 0)
		return -1;
	if (!invocation)
		return read_message(sink, &shape_progress, sink->event, record);
	rules_set_kind(sink, EVENT_INVOCATION);
	return read_message(sink, &shape_invocation, sink->event, record);
}

/* What stands in front of what happened, but for the time. */
static int read_ids_of(struct event *event, const struct pb_usual *usual)
{
	struct wire_cursor ids = usual->ids;
	int64_t span_id, parent_id;

	event->trace_id = usual->trace_id;
	if (!take_number(&ids, PB_TAG_VARINT(3), &span_id) ||
	    !take_number(&ids, PB_TAG_VARINT(4), &parent_id))
		return -1;
	event->span_id = (uint64_t)span_id;
	event->parent_id = (uint64_t)parent_id;
	return 0;
}

static int read_usual(struct shape_sink *sink, const struct pb_usual *usual)
{
	struct event *event = sink->event;
	const struct shape_row *row = shape_find(&shape_buck_event, usual->what);

	if (read_ids_of(event, usual) < 0 || read_time(&event->time_ns, usual->time) < 0)
		return -1;
	return read_message(sink, row->shape, (char *)event + row->offset, usual->data);
}

bool pb_read_head(struct event *event, uint32_t glance, const uint8_t *record, size_t len)
{
	const enum event_kind kind = glance >> 8;
	struct pb_usual usual;

	if (kind != EVENT_STAGE && kind != EVENT_ACTION_START)
		return false;
	pb_usual(record, len, glance, &usual);
	if (read_ids_of(event, &usual) < 0)
		return false;
	event->time_ns = UNKNOWN;
	if (kind == EVENT_ACTION_START && read_time(&event->time_ns, usual.time) < 0)
		return false;
	event->kind = kind;
	return true;
}

int pb_read(struct shape_sink *sink, uint32_t glance, const uint8_t *record, size_t len,
	    struct err *err)
{
	struct pb_usual usual;
	int rc;

	if (glance == PB_UNLIKE) {
		rc = read_any(sink, (struct wire_cursor){record, record + len});
	} else {
		pb_usual(record, len, glance, &usual);
		rc = read_usual(sink, &usual);
	}
	if (rc == 0)
		return 0;
	return sink->arena->exhausted
		       ? err_set(err, ERR_LIMIT, "record with more parts than are read")
		       : err_set(err, ERR_FORMAT, "malformed protobuf message");
}

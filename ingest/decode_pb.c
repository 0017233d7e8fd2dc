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

/* ---- first step: the head ---- */

static inline const struct shape *leads_to(const struct shape *shape, uint32_t number)
{
	return number < shape->count ? shape->rows[number].shape : NULL;
}

/*
 * Passes over a field that leads nowhere, in its most frequent form: length-delimited,
 * with a tag and a length of one byte each. false: nothing was passed.
 */
static inline bool pass_short(const struct shape *shape, struct wire_cursor *head)
{
	const uint8_t *at = head->at;

	if (head->end - at < 2 || (at[0] & 0x87) != WIRE_BYTES || at[1] >= 0x80 || at[0] < 8 ||
	    at[1] > head->end - at - 2 || leads_to(shape, at[0] >> 3))
		return false;
	head->at = at + 2 + at[1];
	return true;
}

/* BuckEvent */
static inline const struct shape *progress_event(void)
{
	return shape_progress.rows[1].shape;
}

/*
 * Follows the fields that only lead to others: CommandProgress -> BuckEvent ->
 * SpanStart, SpanEnd, Instant -> what happened, each up to the end of the one around
 * it. `beyond`: so many bytes of the record follow on the head.
 *
 * What the head cannot tell is wanted. Groups are rare and can be long, and so is what
 * follows on a message that leads somewhere (another one, maybe): they are left to the
 * second step.
 */
static enum decode_want route(const struct shape *shape, struct wire_cursor head, uint64_t beyond)
{
	while (head.at < head.end) {
		const struct shape *inner;
		struct wire_field field;
		uint64_t len, left;

		if (pass_short(shape, &head))
			continue;
		if (!wire_tag(&head, &field))
			return DECODE_WANT;
		inner = leads_to(shape, field.number);
		if (field.type != WIRE_BYTES) {
			if (inner || !wire_pass(&head, field.type))
				return DECODE_WANT;
			continue;
		}
		if (!wire_short_varint(&head, &len))
			return DECODE_WANT;
		left = (uint64_t)(head.end - head.at);
		if (inner) {
			if (!inner->is_route || len != left + beyond)
				return DECODE_WANT;
			shape = inner;
		} else if (len > left) {
			return len == left + beyond ? DECODE_SKIP : DECODE_WANT;
		} else {
			head.at += len;
		}
	}
	return beyond ? DECODE_WANT : DECODE_SKIP;
}

/*
 * CommandProgress is a oneof: one field that fills the record. Anything else
 * (the Invocation, fields that we do not know) is rare and left to the second
 * step, which sees the whole record.
 */
enum decode_want pb_wants(const uint8_t *head, size_t head_len, uint64_t size)
{
	struct wire_cursor rest = {head, head + head_len};
	uint64_t tag, len;

	if (!wire_varint(&rest, &tag) || tag != (1 << 3 | WIRE_BYTES) ||
	    !wire_varint(&rest, &len) || len != size - (uint64_t)(rest.at - head))
		return DECODE_WANT;
	return route(progress_event(), rest, size - head_len);
}

/* ---- the usual event ---- */

#define TAG_BYTES(number) ((number) << 3 | WIRE_BYTES)
#define TAG_VARINT(number) ((number) << 3 | WIRE_VARINT)
/* Hardly any is shorter, and up to the trace id no more looks at the length are needed. */
#define USUAL_MIN 64
#define TIME_MAX 16
#define UUID_LEN 36

/*
 * Nothing below calls a function, so that all of it stays in registers: three of four
 * records end here. What takes more than this is unlike most.
 */

/* A tag or a length of one byte or two, as nearly all are. */
static inline bool take_short(struct wire_cursor *cursor, uint32_t *out_value)
{
	const uint8_t *at = cursor->at;
	uint32_t value;

	if (at == cursor->end)
		return false;
	value = *at++;
	if (value >= 0x80) {
		if (at == cursor->end || *at >= 0x80)
			return false;
		value = (value & 0x7f) | (uint32_t)*at++ << 7;
	}
	cursor->at = at;
	*out_value = value;
	return true;
}

/*
 * Proto3 leaves out a 0. false: it is longer than Buck2's are, which count up from 1,
 * or less than 8 bytes are left.
 */
static inline bool pass_id(struct wire_cursor *cursor, uint8_t tag)
{
	uint64_t bytes, ends;

	if (cursor->end - cursor->at < 8)
		return false;
	if (*cursor->at != tag)
		return true;
	memcpy(&bytes, cursor->at, sizeof(bytes));
	ends = ~le64toh(bytes) & 0x8080808080808000;
	if (!ends)
		return false;
	cursor->at += (unsigned int)__builtin_ctzll(ends) / 8 + 1;
	return true;
}

/* SpanStart, SpanEnd, Instant: 20 to 22, so tags of two bytes, the second of which is 1. */
static inline bool take_what(struct wire_cursor *cursor, const struct shape_row **out_row)
{
	const uint8_t *at = cursor->at;

	if (cursor->end - at < 2 || at[1] != 1 || (at[0] & 0x87) != (0x80 | WIRE_BYTES))
		return false;
	*out_row = shape_find(progress_event(), 16 | (at[0] >> 3 & 15));
	cursor->at += 2;
	return *out_row != NULL;
}

/*
 * Nearly every record is a CommandProgress with an event whose fields stand in the
 * order of their numbers, as prost writes them: timestamp, trace id, span id,
 * parent id, and what happened, each message up to the end of the one around it.
 * Those are found without the tables; false: any other record, whatever it is.
 */
static inline bool find_usual(const uint8_t *record, size_t len, struct pb_event *out)
{
	struct wire_cursor at = {record + 1, record + len};
	const uint8_t *time, *trace;
	uint32_t inner;

	if (len < USUAL_MIN || record[0] != TAG_BYTES(1) || !take_short(&at, &inner) ||
	    inner != at.end - at.at)
		return false;
	time = at.at + 2;
	if (time[-2] != TAG_BYTES(1) || time[-1] > TIME_MAX)
		return false;
	trace = time + time[-1] + 2;
	if (trace[-2] != TAG_BYTES(2) || trace[-1] != UUID_LEN || at.end - trace <= UUID_LEN)
		return false;
	at.at = trace + UUID_LEN;
	if (!pass_id(&at, TAG_VARINT(3)) || !pass_id(&at, TAG_VARINT(4)) ||
	    !take_what(&at, &out->row) || !take_short(&at, &inner))
		return false;
	out->timestamp = time;
	out->around = 0;
	out->data = at;
	return inner == at.end - at.at;
}

/*
 * Goes on from what happened as route() does. Where a message is all that the one around
 * it holds, there is nothing to read in that: *event comes along to the last such one.
 */
static inline enum decode_want follow(struct pb_event *event)
{
	const struct shape *shape = event->row->shape;
	struct wire_cursor at = event->data;
	uint32_t around = event->around + event->row->offset;
	bool is_all = true;

	while (at.at < at.end) {
		const struct shape_row *row;
		uint32_t tag, len;
		bool is_last;

		if (!take_short(&at, &tag) || tag < TAG_BYTES(1) || (tag & 7) != WIRE_BYTES ||
		    !take_short(&at, &len) || len > at.end - at.at)
			return DECODE_WANT;
		row = shape_find(shape, tag >> 3);
		if (!row || !row->shape) {
			is_all = is_all && !row;
			at.at += len;
			continue;
		}
		is_last = len == at.end - at.at;
		is_all = is_all && is_last;
		at.end = at.at + len;
		if (is_all) {
			event->row = row;
			event->around = around;
			event->data = at;
		}
		shape = row->shape;
		around += row->offset;
		if (!shape->is_route || !is_last)
			return DECODE_WANT;
	}
	return DECODE_SKIP;
}

enum decode_want pb_find(const uint8_t *record, size_t len, struct pb_event *out_event)
{
	struct pb_event event; /* in registers, until somebody wants it */

	if (!find_usual(record, len, &event))
		event.row = NULL;
	else if (follow(&event) == DECODE_SKIP)
		return DECODE_SKIP;
	*out_event = event;
	return DECODE_WANT;
}

/* ---- second step: the record ---- */

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

	if (take_number(&usual, TAG_VARINT(1), out_seconds) &&
	    take_number(&usual, TAG_VARINT(2), out_nanos) && usual.at == usual.end)
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
	struct wire_field field;
	int rc;

	while ((rc = wire_next(&cursor, &field)) > 0) {
		const struct shape_row *row = shape_find(shape, field.number);
		void *target;

		if (!row)
			continue;
		target = shape_enter_row(sink, around, row);
		if (!target)
			return -1;
		if (field.type == WIRE_BYTES)
			rc = read_bytes(sink, row, target,
					(struct wire_cursor){field.data, field.data + field.len});
		else if (field.type == WIRE_VARINT)
			rc = read_number(target, row->type, field.value);
		else
			rc = -1;
		if (rc < 0)
			return -1;
	}
	return rc;
}

/* "83f0a2c4-…": how Buck2 writes a trace id. */
static bool is_uuid(const struct wire_field *field)
{
	return field->type == WIRE_BYTES && field->len == 36 && field->data[8] == '-' &&
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

static int read_usual(struct shape_sink *sink, const struct pb_event *usual)
{
	const struct wire_cursor time = {usual->timestamp, usual->timestamp + usual->timestamp[-1]};
	const uint8_t *trace = time.end + 2;
	struct wire_cursor ids = {trace + UUID_LEN, usual->data.end};
	struct event *event = sink->event;
	int64_t span_id, parent_id;
	void *target;

	rules_set_text(&event->trace_id, (const char *)trace, UUID_LEN);
	if (!take_number(&ids, TAG_VARINT(3), &span_id) ||
	    !take_number(&ids, TAG_VARINT(4), &parent_id) || read_time(&event->time_ns, time) < 0)
		return -1;
	event->span_id = (uint64_t)span_id;
	event->parent_id = (uint64_t)parent_id;
	target = shape_enter_row(sink, (char *)event + usual->around, usual->row);
	return target ? read_message(sink, usual->row->shape, target, usual->data) : -1;
}

int pb_read(struct shape_sink *sink, const struct pb_event *found, const uint8_t *record,
	    size_t len, struct err *err)
{
	int rc = found->row ? read_usual(sink, found)
			    : read_any(sink, (struct wire_cursor){record, record + len});

	if (rc == 0)
		return 0;
	return sink->arena->exhausted
		       ? err_set(err, ERR_LIMIT, "record with more parts than are read")
		       : err_set(err, ERR_FORMAT, "malformed protobuf message");
}

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

/* ---- first step: the head ---------------------------------------------------- */

/*
 * A head ends where we have no more of the record, so what it cannot tell is
 * wanted. Groups are rare and can be long: they are left to the second step.
 */
static bool skip_value(struct wire_cursor *head, struct wire_field *field)
{
	return field->type != WIRE_GROUP && wire_value(head, field);
}

static inline bool leads_on(const struct shape *shape, uint32_t number)
{
	return number < shape->count && shape->rows[number].shape;
}

/*
 * Follows the fields that only lead to others: CommandProgress -> BuckEvent ->
 * SpanStart, SpanEnd, Instant -> what happened. `whole`: the head is the record to
 * its end.
 */
static enum decode_want route(const struct shape *shape, struct wire_cursor head, bool whole)
{
	while (head.at < head.end) {
		struct wire_field field;
		uint64_t len;

		if (!wire_tag(&head, &field))
			return DECODE_WANT;
		if (!leads_on(shape, field.number)) {
			if (!skip_value(&head, &field))
				return DECODE_WANT;
			continue;
		}
		shape = shape->rows[field.number].shape;
		if (!shape->is_route || field.type != WIRE_BYTES || !wire_varint(&head, &len))
			return DECODE_WANT;
		whole = len <= (uint64_t)(head.end - head.at);
		if (whole)
			head.end = head.at + len;
	}
	return whole ? DECODE_SKIP : DECODE_WANT;
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
	return route(shape_progress.rows[1].shape, rest, head_len == size);
}

/* ---- second step: the record --------------------------------------------------- */

static int malformed(struct err *err)
{
	return err_set(err, ERR_FORMAT, "malformed protobuf message");
}

static int exhausted(struct err *err)
{
	return err_set(err, ERR_LIMIT, "record with more parts than are read");
}

/* Timestamp and Duration have the same fields. */
static int read_seconds(const struct wire_field *field, int64_t *out_seconds, int64_t *out_nanos)
{
	struct wire_cursor cursor = {field->data, field->data + field->len};
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

/* Packed: the numbers and nothing else. */
static int read_ids(uint64_t *target, const struct wire_field *field)
{
	struct wire_cursor rest = {field->data, field->data + field->len};
	uint64_t value;

	while (rest.at < rest.end) {
		if (!wire_varint(&rest, &value))
			return -1;
		rules_set_first(target, value);
	}
	return 0;
}

static int read_message(struct shape_sink *sink, const struct shape *shape, void *around,
			const struct wire_field *message, struct err *err);

static int read_bytes(struct shape_sink *sink, const struct shape_row *row, void *target,
		      const struct wire_field *field, struct err *err)
{
	struct str text = {(const char *)field->data, field->len};
	int64_t seconds, nanos;

	switch (row->type) {
	case SHAPE_MESSAGE:
	case SHAPE_MAP:
		return read_message(sink, row->shape, target, field, err);
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
		if (read_seconds(field, &seconds, &nanos) < 0)
			return malformed(err);
		*(int64_t *)target = rules_time_ns(seconds, nanos);
		return 0;
	case SHAPE_DURATION:
		if (read_seconds(field, &seconds, &nanos) < 0)
			return malformed(err);
		*(int64_t *)target = rules_duration_us(seconds, nanos);
		return 0;
	case SHAPE_IDS:
		return read_ids(target, field) < 0 ? malformed(err) : 0;
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
	return malformed(err);
}

static int read_field(struct shape_sink *sink, const struct shape_row *row, void *around,
		      const struct wire_field *field, struct err *err)
{
	void *target = shape_enter_row(sink, around, row);

	if (!target)
		return exhausted(err);
	if (field->type == WIRE_BYTES)
		return read_bytes(sink, row, target, field, err);
	if (field->type == WIRE_VARINT && read_number(target, row->type, field->value) == 0)
		return 0;
	return malformed(err);
}

/* Goes as deep as the tables do, whatever the input. */
static int read_message(struct shape_sink *sink, const struct shape *shape, void *around,
			const struct wire_field *message, struct err *err)
{
	struct wire_cursor cursor = {message->data, message->data + message->len};
	struct wire_field field;
	int rc;

	while ((rc = wire_next(&cursor, &field)) > 0) {
		const struct shape_row *row = shape_find(shape, field.number);

		if (row && read_field(sink, row, around, &field, err) < 0)
			return -1;
	}
	return rc < 0 ? malformed(err) : 0;
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
 * partial_result (a message, and one that Buck2 does not log).
 */
static int is_invocation(const struct wire_field *record, bool *out_is, struct err *err)
{
	struct wire_cursor cursor = {record->data, record->data + record->len};
	struct wire_field field;
	unsigned int known = 0;
	bool has_uuid = false;
	int rc;

	while ((rc = wire_next(&cursor, &field)) > 0) {
		if (field.number > 3)
			continue;
		known++;
		has_uuid = has_uuid || (field.number == 3 && is_uuid(&field));
	}
	if (rc < 0 || !known)
		return malformed(err);
	*out_is = known > 1 || has_uuid;
	return 0;
}

int pb_read(struct shape_sink *sink, const uint8_t *data, size_t len, struct err *err)
{
	struct wire_field record = {.data = data, .len = len};
	bool invocation = false;

	if (is_invocation(&record, &invocation, err) < 0)
		return -1;
	if (!invocation)
		return read_message(sink, &shape_progress, sink->event, &record, err);
	sink->event->kind = EVENT_INVOCATION;
	return read_message(sink, &shape_invocation, sink->event, &record, err);
}

#include "util/wire.h"

#include <stdbool.h>
#include <string.h>

#define GROUP_DEPTH_MAX 100
#define VARINT_MAX 10 /* bytes */

/* ---- reading -------------------------------------------------------------------- */

static int read_varint(struct wire_cursor *cursor, uint64_t *out_value)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < VARINT_MAX && cursor->at < cursor->end; i++) {
		uint8_t byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			*out_value = value;
			return 0;
		}
	}
	return -1;
}

/* Tags are at most 32 bits wide, so field numbers 29; 0 is not one. */
static int read_tag(struct wire_cursor *cursor, struct wire_field *field)
{
	uint64_t tag;

	field->start = cursor->at;
	if (read_varint(cursor, &tag) < 0 || tag > UINT32_MAX || tag >> 3 == 0)
		return -1;
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum wire_type)(tag & 7);
	return 0;
}

static int take(struct wire_cursor *cursor, uint64_t len, struct wire_field *field)
{
	if (len > (uint64_t)(cursor->end - cursor->at))
		return -1;
	field->data = cursor->at;
	field->len = (size_t)len;
	cursor->at += len;
	return 0;
}

static int take_bytes(struct wire_cursor *cursor, struct wire_field *field)
{
	uint64_t len;

	return read_varint(cursor, &len) < 0 ? -1 : take(cursor, len, field);
}

static int take_varint(struct wire_cursor *cursor, struct wire_field *field)
{
	field->data = cursor->at;
	if (read_varint(cursor, &field->value) < 0)
		return -1;
	field->len = (size_t)(cursor->at - field->data);
	return 0;
}

/* The value of a field whose tag was read; groups are the caller's. */
static int take_value(struct wire_cursor *cursor, struct wire_field *field)
{
	switch (field->type) {
	case WIRE_VARINT:
		return take_varint(cursor, field);
	case WIRE_FIXED64:
		return take(cursor, 8, field);
	case WIRE_BYTES:
		return take_bytes(cursor, field);
	case WIRE_FIXED32:
		return take(cursor, 4, field);
	case WIRE_GROUP:
	case WIRE_GROUP_END:
		break;
	}
	return -1;
}

/* To behind the end tag; a loop with its own stack, since input decides the depth. */
static int skip_group(struct wire_cursor *cursor, struct wire_field *group)
{
	uint32_t open[GROUP_DEPTH_MAX];
	size_t depth = 0;

	group->data = cursor->at;
	open[depth++] = group->number;
	while (depth) {
		struct wire_field field;

		if (read_tag(cursor, &field) < 0)
			return -1;
		if (field.type == WIRE_GROUP) {
			if (depth == GROUP_DEPTH_MAX)
				return -1;
			open[depth++] = field.number;
		} else if (field.type == WIRE_GROUP_END) {
			if (open[--depth] != field.number)
				return -1;
		} else if (take_value(cursor, &field) < 0) {
			return -1;
		}
	}
	group->len = (size_t)(cursor->at - group->data);
	return 0;
}

int wire_next(struct wire_cursor *cursor, struct wire_field *out_field)
{
	if (cursor->at == cursor->end)
		return 0;
	if (read_tag(cursor, out_field) < 0)
		return -1;
	if (out_field->type == WIRE_GROUP)
		return skip_group(cursor, out_field) < 0 ? -1 : 1;
	return take_value(cursor, out_field) < 0 ? -1 : 1;
}

/* ---- cutting ---------------------------------------------------------------------- */

static enum wire_type wire_type_of(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return WIRE_FIXED32;
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return WIRE_FIXED64;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return WIRE_BYTES;
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_BOOL:
	case PROTOBUF_C_TYPE_ENUM:
		break;
	}
	return WIRE_VARINT;
}

/* Repeated numbers may come packed, whatever the .proto file says. */
static bool fits(const ProtobufCFieldDescriptor *known, const struct wire_field *field)
{
	return field->type == wire_type_of(known) ||
	       (known->label == PROTOBUF_C_LABEL_REPEATED && field->type == WIRE_BYTES);
}

static uint8_t *put_varint(uint8_t *out, uint64_t value)
{
	while (value > 0x7f) {
		*out++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*out++ = (uint8_t)value;
	return out;
}

/* `inner` bytes at `data` become the new value of the field; *out runs behind. */
static void put_message(uint8_t **out, const struct wire_field *field, const uint8_t *data,
			size_t inner)
{
	*out = put_varint(*out, (uint64_t)field->number << 3 | WIRE_BYTES);
	*out = put_varint(*out, inner);
	memmove(*out, data, inner);
	*out += inner;
}

/*
 * What is written never overtakes what is read: a field only gets shorter, its
 * tag and length are written in the shortest form.
 */
ptrdiff_t wire_prune(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t len)
{
	struct wire_cursor cursor = {data, data + len};
	struct wire_field field;
	uint8_t *out = data;
	int status;

	while ((status = wire_next(&cursor, &field)) > 0) {
		const ProtobufCFieldDescriptor *known =
			protobuf_c_message_descriptor_get_field(type, field.number);
		size_t whole = (size_t)(cursor.at - field.start);

		if (!known || !fits(known, &field))
			continue;
		if (known->type == PROTOBUF_C_TYPE_MESSAGE) {
			uint8_t *inside = data + (field.data - data);
			ptrdiff_t inner = wire_prune(known->descriptor, inside, field.len);

			if (inner < 0)
				return -1;
			put_message(&out, &field, inside, (size_t)inner);
		} else {
			memmove(out, field.start, whole);
			out += whole;
		}
	}
	return status < 0 ? -1 : out - data;
}

#include "util/wire.h"

#define GROUP_DEPTH_MAX 100
#define VARINT_MAX 10 /* bytes */

/* ---- reading ---- */

struct wire_long wire_long_varint(const uint8_t *at, const uint8_t *end)
{
	struct wire_long varint = {NULL, 0};
	unsigned int i;

	for (i = 0; i < VARINT_MAX && at < end; i++) {
		uint8_t byte = *at++;

		varint.value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			varint.at = at;
			break;
		}
	}
	return varint;
}

/* A loop with its own stack, since input decides the depth. */
const uint8_t *wire_group_end(const uint8_t *at, const uint8_t *end, uint32_t number)
{
	struct wire_cursor cursor = {at, end};
	uint32_t open[GROUP_DEPTH_MAX];
	size_t depth = 0;

	open[depth++] = number;
	while (depth) {
		struct wire_field field;

		if (!wire_tag(&cursor, &field))
			return NULL;
		if (field.type == WIRE_GROUP) {
			if (depth == GROUP_DEPTH_MAX)
				return NULL;
			open[depth++] = field.number;
		} else if (field.type == WIRE_GROUP_END) {
			if (open[--depth] != field.number)
				return NULL;
		} else if (!wire_value(&cursor, &field)) {
			return NULL;
		}
	}
	return cursor.at;
}

/* ---- cutting ---- */

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

/*
 * Protobuf's wire format, as far as libprotobuf-c leaves work to do: a walk over
 * the fields of a message, and a cut of everything that its unpacker would
 * choke on. Knows nothing of what the messages mean.
 * Source: protobuf.dev/programming-guides/encoding; protobuf-c 1.4.1
 * protobuf-c.c (protobuf_c_message_unpack).
 */
#ifndef BR2_WIRE_H
#define BR2_WIRE_H

#include <endian.h>
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_GROUP = 3, /* begin; a whole group is one field to us */
	WIRE_GROUP_END = 4,
	WIRE_FIXED32 = 5,
};

/* What is left to read of a message. */
struct wire_cursor {
	const uint8_t *at;
	const uint8_t *end;
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	const uint8_t *start; /* of the field's tag */
	const uint8_t *data;  /* of what follows tag and length */
	size_t len;	      /* of data; of a group: up to behind its end tag */
	uint64_t value;	      /* of a WIRE_VARINT; else 0 */
};

/* ---- in line: some twenty of these for each record of a log ---- */

/* Left to itself, gcc 12 calls wire_next(): a fourth of what reading a log costs. */
#define WIRE_INLINE static inline __attribute__((always_inline))

/*
 * What is rare stands out of line, and takes and gives plain values: a cursor whose
 * address is handed on could not stay in registers.
 */
struct wire_long {
	const uint8_t *at; /* behind the varint; NULL: cut short, or longer than 10 bytes */
	uint64_t value;
};

/* Any varint, at the end of a message or longer than 8 bytes, too. */
struct wire_long wire_long_varint(const uint8_t *at, const uint8_t *end);
/* To behind the end tag of the group that `number` began; NULL. */
const uint8_t *wire_group_end(const uint8_t *at, const uint8_t *end, uint32_t number);

WIRE_INLINE bool wire_long(struct wire_cursor *cursor, uint64_t *out_value)
{
	struct wire_long varint = wire_long_varint(cursor->at, cursor->end);

	cursor->at = varint.at;
	*out_value = varint.value;
	return varint.at != NULL;
}

/* Eight bytes with seven bits each -> 56 bits, each step with half as many twice as wide. */
WIRE_INLINE uint64_t wire_squeeze(uint64_t bytes)
{
	bytes = (bytes & 0x007f007f007f007f) | (bytes & 0x7f007f007f007f00) >> 1;
	bytes = (bytes & 0x00003fff00003fff) | (bytes & 0x3fff00003fff0000) >> 2;
	return (bytes & 0x000000000fffffff) | (bytes & 0x0fffffff00000000) >> 4;
}

/*
 * Eight bytes from `at` on, or those that are left: at least 4, with zeroes behind
 * them. The first in the lowest bits.
 */
WIRE_INLINE uint64_t wire_load(const uint8_t *at, size_t left)
{
	uint32_t first, last;
	uint64_t bytes;

	if (left >= 8) {
		memcpy(&bytes, at, 8);
		return le64toh(bytes);
	}
	memcpy(&first, at, 4);
	memcpy(&last, at + left - 4, 4);
	return le32toh(first) | (uint64_t)le32toh(last) << (8 * left - 32);
}

/* Bits up to the end of the varint that begins the bytes; 0: it does not end there. */
WIRE_INLINE unsigned int wire_varint_bits(uint64_t bytes, size_t left)
{
	uint64_t ends = ~bytes & 0x8080808080808080;
	unsigned int bits = ends ? (unsigned int)__builtin_ctzll(ends) + 1 : 0;

	return bits <= 8 * left ? bits : 0;
}

/* A length or a tag: nearly always one byte or two. As wire_varint(). */
WIRE_INLINE bool wire_short_varint(struct wire_cursor *cursor, uint64_t *out_value)
{
	const uint8_t *at = cursor->at;

	if (at < cursor->end && *at < 0x80) {
		cursor->at = at + 1;
		*out_value = *at;
		return true;
	}
	if (cursor->end - at < 2 || at[1] >= 0x80)
		return wire_long(cursor, out_value);
	cursor->at = at + 2;
	*out_value = (*at & 0x7fu) | (uint64_t)at[1] << 7;
	return true;
}

/* false: cut short, or longer than 10 bytes; the cursor is of no more use. */
WIRE_INLINE bool wire_varint(struct wire_cursor *cursor, uint64_t *out_value)
{
	const uint8_t *at = cursor->at;
	size_t left = (size_t)(cursor->end - at);
	uint64_t bytes;
	unsigned int bits;

	if (left && *at < 0x80) {
		cursor->at = at + 1;
		*out_value = *at;
		return true;
	}
	if (left < 4)
		return wire_long(cursor, out_value);
	bytes = wire_load(at, left);
	bits = wire_varint_bits(bytes, left);
	if (!bits)
		return wire_long(cursor, out_value);
	cursor->at = at + bits / 8;
	*out_value = wire_squeeze(bytes << (64 - bits) >> (64 - bits));
	return true;
}

/* Behind a varint whose value nobody wants. */
WIRE_INLINE bool wire_pass_varint(struct wire_cursor *cursor)
{
	size_t left = (size_t)(cursor->end - cursor->at);
	unsigned int bits = left < 4 ? 0 : wire_varint_bits(wire_load(cursor->at, left), left);
	uint64_t value;

	if (!bits)
		return wire_long(cursor, &value);
	cursor->at += bits / 8;
	return true;
}

/* Tags are at most 32 bits wide, so field numbers 29; 0 is not one. */
WIRE_INLINE bool wire_tag(struct wire_cursor *cursor, struct wire_field *field)
{
	uint64_t tag = 0;

	field->start = cursor->at;
	if (cursor->at < cursor->end && *cursor->at < 0x80)
		tag = *cursor->at++;
	else if (!wire_short_varint(cursor, &tag) || tag > UINT32_MAX)
		return false;
	if (tag < 8)
		return false;
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum wire_type)(tag & 7);
	return true;
}

WIRE_INLINE bool wire_bytes(struct wire_cursor *cursor, uint64_t len, struct wire_field *field)
{
	if (len > (uint64_t)(cursor->end - cursor->at))
		return false;
	field->data = cursor->at;
	field->len = (size_t)len;
	field->value = 0;
	cursor->at += len;
	return true;
}

WIRE_INLINE bool wire_group(struct wire_cursor *cursor, struct wire_field *field)
{
	field->data = cursor->at;
	cursor->at = wire_group_end(cursor->at, cursor->end, field->number);
	field->len = (size_t)(cursor->at - field->data);
	field->value = 0;
	return cursor->at != NULL;
}

/* The value of a field whose tag was taken. */
WIRE_INLINE bool wire_value(struct wire_cursor *cursor, struct wire_field *field)
{
	uint64_t len;

	if (field->type == WIRE_BYTES) /* three of four */
		return wire_short_varint(cursor, &len) && wire_bytes(cursor, len, field);
	switch (field->type) {
	case WIRE_VARINT:
		field->data = cursor->at;
		if (!wire_varint(cursor, &field->value))
			return false;
		field->len = (size_t)(cursor->at - field->data);
		return true;
	case WIRE_FIXED64:
		return wire_bytes(cursor, 8, field);
	case WIRE_FIXED32:
		return wire_bytes(cursor, 4, field);
	case WIRE_GROUP:
		return wire_group(cursor, field);
	case WIRE_BYTES:
	case WIRE_GROUP_END:
		break;
	}
	return false;
}

WIRE_INLINE bool wire_pass_bytes(struct wire_cursor *cursor, uint64_t len)
{
	if (len > (uint64_t)(cursor->end - cursor->at))
		return false;
	cursor->at += len;
	return true;
}

/* Behind the value of a field whose tag was taken, without a look at it. No groups. */
WIRE_INLINE bool wire_pass(struct wire_cursor *cursor, enum wire_type type)
{
	uint64_t len;

	if (type == WIRE_BYTES)
		return wire_short_varint(cursor, &len) && wire_pass_bytes(cursor, len);
	switch (type) {
	case WIRE_VARINT:
		return wire_pass_varint(cursor);
	case WIRE_FIXED64:
		return wire_pass_bytes(cursor, 8);
	case WIRE_FIXED32:
		return wire_pass_bytes(cursor, 4);
	case WIRE_BYTES:
	case WIRE_GROUP:
	case WIRE_GROUP_END:
		break;
	}
	return false;
}

/* As wire_pass(), groups too. */
WIRE_INLINE bool wire_pass_any(struct wire_cursor *cursor, struct wire_field *field)
{
	return field->type == WIRE_GROUP ? wire_group(cursor, field)
					 : wire_pass(cursor, field->type);
}

/* The value of a WIRE_BYTES field whose tag was taken. */
WIRE_INLINE bool wire_take_bytes(struct wire_cursor *cursor, struct wire_cursor *out_data)
{
	const uint8_t *start;
	uint64_t len;

	if (!wire_short_varint(cursor, &len))
		return false;
	start = cursor->at;
	if (!wire_pass_bytes(cursor, len))
		return false;
	*out_data = (struct wire_cursor){start, cursor->at};
	return true;
}

/*
 * Takes the next field. 1: *out_field, pointing into the message; 0: the end;
 * -1: the bytes are no message (cut short, field number 0, unknown wire type,
 * groups that do not close or lie deeper than 100).
 */
WIRE_INLINE int wire_next(struct wire_cursor *cursor, struct wire_field *out_field)
{
	if (cursor->at == cursor->end)
		return 0;
	return wire_tag(cursor, out_field) && wire_value(cursor, out_field) ? 1 : -1;
}

/* ---- whole messages ---- */

/*
 * Takes out of a message, in place, what `type` does not name: unknown fields,
 * fields with another wire type, and groups, at every depth that `type`
 * describes. libprotobuf-c refuses a whole message for a group or a wrong wire
 * type, and copies unknown fields. Returns the new length (never more than
 * len), or -1 if the bytes are no message.
 */
ptrdiff_t wire_prune(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t len);

#endif

/*
 * Protobuf's wire format, as far as libprotobuf-c leaves work to do: a walk over
 * the fields of a message, and a cut of everything that its unpacker would
 * choke on. Knows nothing of what the messages mean.
 * Source: protobuf.dev/programming-guides/encoding; protobuf-c 1.4.1
 * protobuf-c.c (protobuf_c_message_unpack).
 */
#ifndef BR2_WIRE_H
#define BR2_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

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
	uint64_t value;	      /* of a WIRE_VARINT */
};

/*
 * Takes the next field. 1: *out_field, pointing into the message; 0: the end;
 * -1: the bytes are no message (cut short, field number 0, unknown wire type,
 * groups that do not close or lie deeper than 100).
 */
int wire_next(struct wire_cursor *cursor, struct wire_field *out_field);

/*
 * Takes out of a message, in place, what `type` does not name: unknown fields,
 * fields with another wire type, and groups, at every depth that `type`
 * describes. libprotobuf-c refuses a whole message for a group or a wrong wire
 * type, and copies unknown fields. Returns the new length (never more than
 * len), or -1 if the bytes are no message.
 */
ptrdiff_t wire_prune(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t len);

#endif

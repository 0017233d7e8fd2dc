/*
 * Protobuf messages by hand, for tests: field after field into a struct buf.
 * Written apart from ingest/util/wire.c and protobuf-c, which they test.
 */
#ifndef BR2_TEST_MESSAGE_H
#define BR2_TEST_MESSAGE_H

#include "util/buf.h"

#include <stdint.h>
#include <string.h>

static inline void put_varint(struct buf *out, uint64_t value)
{
	for (; value > 127; value >>= 7)
		buf_addch(out, (char)(value & 127) | (char)128);
	buf_addch(out, (char)value);
}

static inline void put_tag(struct buf *out, uint32_t number, unsigned int type)
{
	put_varint(out, (uint64_t)number << 3 | type);
}

/* An int64, int32, uint64, bool or enum. */
static inline void put_number(struct buf *out, uint32_t number, int64_t value)
{
	put_tag(out, number, 0);
	put_varint(out, (uint64_t)value);
}

static inline void put_bytes(struct buf *out, uint32_t number, const void *data, size_t len)
{
	put_tag(out, number, 2);
	put_varint(out, len);
	buf_add(out, data, len);
}

static inline void put_text(struct buf *out, uint32_t number, const char *text)
{
	put_bytes(out, number, text, strlen(text));
}

static inline void put_double(struct buf *out, uint32_t number, double value)
{
	put_tag(out, number, 1);
	buf_add(out, &value, sizeof(value)); /* tests run on little-endian machines */
}

/* Takes over the inner message. */
static inline void put_message(struct buf *out, uint32_t number, struct buf inner)
{
	put_bytes(out, number, inner.data, inner.len);
	buf_release(&inner);
}

/* A Timestamp or Duration; a part that is 0 is not sent, as in proto3. */
static inline void put_time(struct buf *out, uint32_t number, int64_t seconds, int32_t nanos)
{
	struct buf time = BUF_INIT;

	if (seconds)
		put_number(&time, 1, seconds);
	if (nanos)
		put_number(&time, 2, nanos);
	put_message(out, number, time);
}

/* A group with a field of each wire type and a group inside. */
static inline void put_group(struct buf *out, uint32_t number)
{
	put_tag(out, number, 3);
	put_number(out, 1, 300);
	put_double(out, 2, 0.5);
	put_text(out, 3, "inside");
	put_tag(out, 4, 3);
	put_tag(out, 4, 4);
	put_tag(out, 5, 5);
	buf_add(out, "abcd", 4);
	put_tag(out, number, 4);
}

#endif

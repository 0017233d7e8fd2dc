/*
 * Makes log files out of bytes, for tests: framing, packing, a descriptor that
 * reads them. Whatever fails ends the test program.
 */
#ifndef BR2_LOG_BYTES_H
#define BR2_LOG_BYTES_H

#include "util/buf.h"

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

/* A descriptor at the start of a nameless file with these bytes. */
int bytes_open(const void *data, size_t len);
/* Adds what the file at `path` holds. */
void bytes_load(struct buf *out, const char *path);
/* Adds what the file at `path` holds, unpacked. */
void bytes_load_unpacked(struct buf *out, const char *path);

/* Adds one gzip member. */
void bytes_gzip(struct buf *out, const void *data, size_t len);
/* Adds one zstd frame, flushed every `flush` bytes (0: only at the end). */
void bytes_zstd(struct buf *out, const void *data, size_t len, size_t flush);
/* Adds one zstd frame with a window of 2^window_log bytes and a checksum. */
void bytes_zstd_window(struct buf *out, const void *data, size_t len, int window_log);

/* Adds a record behind its length, as in a .pb log. */
void bytes_frame(struct buf *out, const void *data, size_t len);
void bytes_varint(struct buf *out, unsigned long long value);
/* Adds a packed message. */
void bytes_message(struct buf *out, const ProtobufCMessage *message);

#endif

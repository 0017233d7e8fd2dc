/*
 * The client's side of one HTTP/2 connection without the connection: bytes of
 * the server in, bytes for the server out; so it is pure, and a test can be the
 * server. The only owner of nghttp2. A part of lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_HTTP2_H
#define BR2_LOOKUP_HTTP2_H

#include "util/buf.h"
#include "util/err.h"
#include "util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request and its answer; part of what the caller knows of them. Zeroed: closed. */
struct http2_stream {
	int32_t id;	     /* 0: closed */
	const uint8_t *body; /* what is left to be sent; borrowed until it is closed */
	size_t body_len;
};

struct http2_field {
	struct str name, value; /* the name in lower case */
	bool secret;		/* never kept in a table, neither ours nor the server's */
};

/* What becomes of streams: called from inside the functions below. */
struct http2_events {
	/* A field of the answer's head or trailers. ":status" comes first in each head. */
	void (*field)(struct http2_stream *stream, struct str name, struct str value);
	/* A part of the answer's body. False: enough; the stream is reset, then `end` called. */
	bool (*body)(struct http2_stream *stream, const uint8_t *data, size_t len);
	/* It is closed: its answer is whole (error 0), or RFC 9113 section 7's error code. */
	void (*end)(struct http2_stream *stream, uint32_t error);
};

#define HTTP2_NO_ERROR 0u
#define HTTP2_REFUSED_STREAM 7u /* before the server did anything about it */
#define HTTP2_CANCEL 8u

struct http2;

/* `events` is borrowed. Never NULL. */
struct http2 *http2_new(const struct http2_events *events);
/* Streams that are open are forgotten, without a word. */
void http2_free(struct http2 *http2);

/* ---- bytes ---- */

/*
 * -1 (ERR_NET) of both: the server does not speak HTTP/2, or breaks its rules;
 * nothing more comes of this connection.
 */
/* What came. */
int http2_feed(struct http2 *http2, const uint8_t *data, size_t len, struct err *err);
/* Adds all that is to be sent now; to be called after each feed. */
int http2_take(struct http2 *http2, struct buf *out, struct err *err);
/* What the server speaks whose first words were not of HTTP/2; NULL: they were, or none came. */
const char *http2_first_words(const struct http2 *http2);

/* ---- the connection ---- */

/* The server has said its first words, SETTINGS. */
bool http2_is_ready(const struct http2 *http2);
/* The server takes no more requests; those that it has it may still answer. */
bool http2_is_closing(const struct http2 *http2);
/* Ready, not closing, and fewer streams open than the server allows. */
bool http2_has_room(const struct http2 *http2);
/* Streams that the server may still think of. */
uint32_t http2_open(const struct http2 *http2);
/* Asks for a sign of life; any bytes are one. */
void http2_ping(struct http2 *http2);
/* The server asked for one, and was not answered so far. */
bool http2_owes_pong(const struct http2 *http2);
/* It is answered with what is taken next. */
void http2_pong(struct http2 *http2);

/* ---- streams ---- */

/*
 * Opens the stream with a request: the fields, copied, and stream->body. Only
 * with room. -1: no number is left for it; the connection is closing then.
 */
int http2_request(struct http2 *http2, const struct http2_field *fields, size_t count,
		  struct http2_stream *stream);
/* Closes the stream, which hears no more. */
void http2_drop(struct http2 *http2, struct http2_stream *stream);

#endif

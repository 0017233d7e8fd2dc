#include "lookup_http2.h"

#include "util/mem.h"

#include <nghttp2/nghttp2.h>

#include <stdlib.h>
#include <string.h>

/*
 * Answers are taken as they come, so the windows bound nothing that we keep: a
 * stream's is what may be under way at once on a long path, as is the
 * connection's for several of them.
 */
#define STREAM_WINDOW (4 << 20)
#define CONNECTION_WINDOW (16 << 20)
/* Of a request; the server has a bound of its own, and says so. */
#define HEAD_MAX ((size_t)16 << 20)
#define FIRST_WORDS 5
#define PING_BYTES 8

struct http2 {
	nghttp2_session *session;
	const struct http2_events *events;
	nghttp2_nv *pairs; /* of the request that is being made */
	size_t pairs_room;
	bool ready, closing, broken;
	bool owes_pong;
	uint8_t ping[PING_BYTES]; /* that we owe */
	int fault;		  /* nghttp2's word for why a callback failed; 0 */
	uint32_t open;
	char first[FIRST_WORDS]; /* that came, whatever they were */
	size_t first_len;
};

/* ---- what nghttp2 tells ---- */

/* NULL also for one that was dropped, whose place another may have by now. */
static struct http2_stream *stream_of(nghttp2_session *session, int32_t id)
{
	struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);

	return stream && stream->id == id ? stream : NULL;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		    size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		    void *context)
{
	struct http2 *http2 = context;
	struct http2_stream *stream = stream_of(session, frame->hd.stream_id);

	(void)flags;
	/* A PUSH_PROMISE stands on our stream, too, and may come before our SETTINGS are read. */
	if (stream && frame->hd.type == NGHTTP2_HEADERS)
		http2->events->field(stream, (struct str){(const char *)name, name_len},
				     (struct str){(const char *)value, value_len});
	return 0;
}

/* Closes it and says so. */
static void end_early(struct http2 *http2, struct http2_stream *stream, uint32_t error)
{
	nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, error);
	stream->id = 0;
	http2->events->end(stream, error);
}

static int on_body(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
		   size_t len, void *context)
{
	struct http2 *http2 = context;
	struct http2_stream *stream = stream_of(session, id);

	(void)flags;
	if (stream && !http2->events->body(stream, data, len))
		end_early(http2, stream, HTTP2_CANCEL);
	return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct http2 *http2 = context;
	struct http2_stream *stream = stream_of(session, id);

	http2->open -= id % 2 != 0; /* one of ours */
	if (!stream)
		return 0;
	stream->id = 0;
	http2->events->end(stream, error);
	return 0;
}

/*
 * An answer that ends before our question is whole: RFC 9113 section 8.1 and
 * gRPC's PROTOCOL-HTTP2.md, "Early Server Closure".
 */
static void end_of_answer(struct http2 *http2, int32_t id)
{
	struct http2_stream *stream = stream_of(http2->session, id);

	if (stream && stream->body_len)
		end_early(http2, stream, HTTP2_NO_ERROR);
}

/* One is owed at most: the caller may let it wait. -1: so many come that nobody reads ours. */
static int owe_pong(struct http2 *http2, const nghttp2_ping *ping)
{
	if (ping->hd.flags & NGHTTP2_FLAG_ACK)
		return 0;
	if (http2->owes_pong)
		http2_pong(http2);
	http2->owes_pong = true;
	memcpy(http2->ping, ping->opaque_data, PING_BYTES);
	return http2->fault ? -1 : 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct http2 *http2 = context;

	(void)session;
	switch (frame->hd.type) {
	case NGHTTP2_SETTINGS:
		http2->ready = true;
		break;
	case NGHTTP2_GOAWAY:
		http2->closing = true;
		break;
	case NGHTTP2_PING:
		return owe_pong(http2, &frame->ping) < 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
	case NGHTTP2_HEADERS:
	case NGHTTP2_DATA:
		if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
			end_of_answer(http2, frame->hd.stream_id);
		break;
	default:
		break;
	}
	return 0;
}

/* It answers a breach of the rules with a GOAWAY; we send none else. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct http2 *http2 = context;

	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		http2->broken = true;
	return 0;
}

/* nghttp2 wants more of a request's body; of one that was dropped it does not. */
static ssize_t give_body(nghttp2_session *session, int32_t id, uint8_t *room, size_t len,
			 uint32_t *flags, nghttp2_data_source *source, void *context)
{
	struct http2_stream *stream = source->ptr;

	(void)session, (void)id, (void)context;
	if (len > stream->body_len)
		len = stream->body_len;
	memcpy(room, stream->body, len);
	stream->body += len;
	stream->body_len -= len;
	if (!stream->body_len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)len;
}

/* ---- life ---- */

/* What nghttp2 refuses is only ever out of memory here. */
static void must(int rc)
{
	if (rc != 0)
		abort();
}

static void send_settings(struct http2 *http2)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
	};

	must(nghttp2_submit_settings(http2->session, NGHTTP2_FLAG_NONE, settings,
				     sizeof(settings) / sizeof(settings[0])));
	must(nghttp2_session_set_local_window_size(http2->session, NGHTTP2_FLAG_NONE, 0,
						   CONNECTION_WINDOW));
}

struct http2 *http2_new(const struct http2_events *events)
{
	struct http2 *http2 = xcalloc(1, sizeof(*http2));
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *options;

	http2->events = events;
	must(nghttp2_session_callbacks_new(&callbacks));
	must(nghttp2_option_new(&options));
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_body);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
	nghttp2_option_set_no_closed_streams(options, 1); /* they are kept for priorities only */
	nghttp2_option_set_no_auto_ping_ack(options, 1);
	nghttp2_option_set_max_send_header_block_length(options, HEAD_MAX);
	must(nghttp2_session_client_new2(&http2->session, callbacks, http2, options));
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_option_del(options);
	send_settings(http2);
	return http2;
}

void http2_free(struct http2 *http2)
{
	if (!http2)
		return;
	nghttp2_session_del(http2->session);
	free(http2->pairs);
	free(http2);
}

/* ---- bytes ---- */

static void keep_first_words(struct http2 *http2, const uint8_t *data, size_t len)
{
	size_t room = FIRST_WORDS - http2->first_len;

	if (len > room)
		len = room;
	memcpy(http2->first + http2->first_len, data, len);
	http2->first_len += len;
}

const char *http2_first_words(const struct http2 *http2)
{
	static const char tls_alert[] = {0x15, 0x03};

	if (http2->ready || !http2->first_len)
		return NULL;
	if (http2->first_len == FIRST_WORDS && memcmp(http2->first, "HTTP/", FIRST_WORDS) == 0)
		return "the server speaks HTTP/1";
	if (http2->first_len >= 2 && memcmp(http2->first, tls_alert, 2) == 0)
		return "the server speaks TLS";
	return "the server does not speak HTTP/2";
}

static int explain(const struct http2 *http2, int error, struct err *err)
{
	const char *words = http2_first_words(http2);

	if (words)
		return err_set(err, ERR_NET, "%s", words);
	return err_set(err, ERR_NET, "the server breaks the rules of HTTP/2: %s",
		       nghttp2_strerror(error));
}

int http2_feed(struct http2 *http2, const uint8_t *data, size_t len, struct err *err)
{
	ssize_t used;

	if (http2->first_len < FIRST_WORDS)
		keep_first_words(http2, data, len);
	used = nghttp2_session_mem_recv(http2->session, data, len);
	if (used == NGHTTP2_ERR_NOMEM)
		abort();
	if (used == NGHTTP2_ERR_CALLBACK_FAILURE)
		used = http2->fault;
	return used < 0 ? explain(http2, (int)used, err) : 0;
}

int http2_take(struct http2 *http2, struct buf *out, struct err *err)
{
	const uint8_t *data;
	ssize_t len;

	while ((len = nghttp2_session_mem_send(http2->session, &data)) > 0)
		buf_add(out, data, (size_t)len);
	must((int)len);
	return http2->broken ? explain(http2, NGHTTP2_ERR_PROTO, err) : 0;
}

/* ---- the connection ---- */

bool http2_is_ready(const struct http2 *http2)
{
	return http2->ready;
}

bool http2_is_closing(const struct http2 *http2)
{
	return http2->closing;
}

bool http2_has_room(const struct http2 *http2)
{
	return http2->ready && !http2->closing &&
	       http2->open < nghttp2_session_get_remote_settings(
				     http2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

uint32_t http2_open(const struct http2 *http2)
{
	return http2->open;
}

void http2_ping(struct http2 *http2)
{
	must(nghttp2_submit_ping(http2->session, NGHTTP2_FLAG_NONE, NULL));
}

bool http2_owes_pong(const struct http2 *http2)
{
	return http2->owes_pong;
}

void http2_pong(struct http2 *http2)
{
	int rc = nghttp2_submit_ping(http2->session, NGHTTP2_FLAG_ACK, http2->ping);

	http2->owes_pong = false;
	if (rc == NGHTTP2_ERR_NOMEM)
		abort();
	if (rc != 0)
		http2->fault = rc;
}

/* ---- streams ---- */

static nghttp2_nv pair_of(const struct http2_field *field)
{
	return (nghttp2_nv){
		.name = (uint8_t *)(uintptr_t)field->name.data, /* nghttp2 only reads it */
		.namelen = field->name.len,
		.value = (uint8_t *)(uintptr_t)field->value.data,
		.valuelen = field->value.len,
		.flags = field->secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE,
	};
}

static void make_pairs(struct http2 *http2, const struct http2_field *fields, size_t count)
{
	size_t i;

	if (http2->pairs_room < count) {
		http2->pairs = xreallocarray(http2->pairs, count, sizeof(*http2->pairs));
		http2->pairs_room = count;
	}
	for (i = 0; i < count; i++)
		http2->pairs[i] = pair_of(&fields[i]);
}

int http2_request(struct http2 *http2, const struct http2_field *fields, size_t count,
		  struct http2_stream *stream)
{
	nghttp2_data_provider body = {.source = {.ptr = stream}, .read_callback = give_body};
	int32_t id;

	make_pairs(http2, fields, count);
	id = nghttp2_submit_request(http2->session, NULL, http2->pairs, count, &body, stream);
	if (id == NGHTTP2_ERR_NOMEM)
		abort();
	if (id < 0) {
		http2->closing = true;
		return -1;
	}
	stream->id = id;
	http2->open++;
	return 0;
}

void http2_drop(struct http2 *http2, struct http2_stream *stream)
{
	if (!stream->id)
		return;
	nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, HTTP2_CANCEL);
	stream->id = 0;
}

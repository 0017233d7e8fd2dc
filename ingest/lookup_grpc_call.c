#include "lookup_grpc_call.h"

#include "lookup.h"
#include "lookup_grpc_status.h"
#include "lookup_reply.h"

#include <string.h>

#define PREFIX 5 /* a flag, and the length in four bytes */
#define NOT_SAID (-1)
#define KEPT_MAX ((size_t)16 << 10)
/* Of a message: what may stand around the bytes that we are after. */
#define ENVELOPE 64
#define TEXT_MAX ((size_t)4 << 10)

/* ---- the question ---- */

void rpc_recycle(struct buf *buf)
{
	if (buf->cap > KEPT_MAX)
		buf_release(buf);
	else
		buf_clear(buf);
}

void rpc_init(struct rpc *rpc)
{
	memset(rpc, 0, sizeof(*rpc));
	buf_init(&rpc->request);
	buf_init(&rpc->message);
	buf_init(&rpc->data);
	buf_init(&rpc->part);
}

void rpc_release(struct rpc *rpc)
{
	buf_release(&rpc->request);
	buf_release(&rpc->message);
	buf_release(&rpc->data);
	buf_release(&rpc->part);
}

/* As if nothing had been said of it. */
static void forget(struct rpc *rpc)
{
	rpc->stream = (struct http2_stream){0};
	rpc->code = rpc->http_status = rpc->grpc_status = NOT_SAID;
	rpc->is_grpc = false;
	rpc->prefix_len = rpc->left = 0;
	rpc->messages = 0;
	rpc->fault = NULL;
	rpc_recycle(&rpc->message);
	rpc_recycle(&rpc->data);
	rpc_recycle(&rpc->part);
}

struct buf *rpc_begin(struct rpc *rpc, const struct rpc_method *method, int64_t end_ms)
{
	static const char prefix[PREFIX];

	forget(rpc);
	rpc->method = method;
	rpc->end_ms = end_ms;
	rpc_recycle(&rpc->request);
	buf_add(&rpc->request, prefix, PREFIX);
	return &rpc->request;
}

static void set_body(struct rpc *rpc)
{
	rpc->stream.body = (const uint8_t *)rpc->request.data;
	rpc->stream.body_len = rpc->request.len;
}

void rpc_ready(struct rpc *rpc)
{
	size_t len = rpc->request.len - PREFIX, i;

	for (i = 0; i < 4; i++)
		rpc->request.data[1 + i] = (char)(len >> 8 * (3 - i) & 0xff);
	set_body(rpc);
}

void rpc_again(struct rpc *rpc)
{
	forget(rpc);
	set_body(rpc);
}

/* ---- how it ends ---- */

void rpc_fail(struct rpc *rpc, int code, const char *message)
{
	rpc->code = code;
	buf_clear(&rpc->message);
	buf_addstr(&rpc->message, message);
}

static bool give_up(struct rpc *rpc, int code, const char *fault)
{
	rpc->fault = fault;
	rpc->fault_code = code;
	return false;
}

/* The server has the last word, but it said OK: is that so? */
static void end_well(struct rpc *rpc)
{
	if (!rpc->is_grpc || rpc->http_status != 200)
		rpc_fail(rpc, CODE_INTERNAL, "the answer is OK but not of gRPC");
	else if (rpc->prefix_len || rpc->left)
		rpc_fail(rpc, CODE_INTERNAL, "the answer is OK but its message is cut");
	else if (!rpc->method->take && !rpc->messages)
		rpc_fail(rpc, CODE_INTERNAL, "the answer is OK but holds no message");
	else
		rpc->code = CODE_OK;
}

/* Closed in order, but gRPC's own words are missing. */
static void end_unsaid(struct rpc *rpc)
{
	struct buf text = BUF_INIT;

	if (rpc->http_status != 200)
		buf_addf(&text, "the answer has HTTP status %d",
			 rpc->http_status < 0 ? 0 : rpc->http_status);
	else
		buf_addstr(&text, rpc->is_grpc ? "the answer has no gRPC status"
					       : "the answer is not of gRPC");
	rpc_fail(rpc, status_of_http(rpc->http_status), text.data);
	buf_release(&text);
}

/* By the server, or by ourselves for a breach of the rules on this stream alone. */
static void end_reset(struct rpc *rpc, uint32_t error)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "the stream was reset (HTTP/2 error %u)", (unsigned)error);
	rpc_fail(rpc, status_of_reset(error), text.data);
	buf_release(&text);
}

/* A server may end with RST_STREAM what it has answered in full. */
void rpc_end(struct rpc *rpc, uint32_t error)
{
	if (rpc->fault)
		rpc_fail(rpc, rpc->fault_code, rpc->fault);
	else if (rpc->grpc_status == CODE_OK)
		end_well(rpc);
	else if (rpc->grpc_status != NOT_SAID)
		rpc->code = rpc->grpc_status;
	else if (error != HTTP2_NO_ERROR)
		end_reset(rpc, error);
	else
		end_unsaid(rpc);
}

/* ---- what comes: fields ---- */

static int parse_http_status(struct str value)
{
	int number = status_parse(value);

	return number < 100 ? NOT_SAID : number;
}

/* "application/grpc", "application/grpc+proto", "application/grpc;…" */
static bool is_grpc_type(struct str value)
{
	static const char type[] = "application/grpc";
	size_t len = sizeof(type) - 1;

	return str_starts(value, type) && (value.len == len || strchr("+;", value.data[len]));
}

static void take_message(struct rpc *rpc, struct str value)
{
	buf_clear(&rpc->message);
	if (value.len <= TEXT_MAX)
		status_message(value, &rpc->message);
	else
		status_message((struct str){value.data, TEXT_MAX}, &rpc->message);
}

static void take_status(struct rpc *rpc, struct str value)
{
	int code = status_parse(value);

	rpc->grpc_status = code < 0 || code > CODE_UNAUTHENTICATED ? CODE_UNKNOWN : code;
}

/* A head that says 100 to 199 is followed by the true one, which begins anew. */
void rpc_field(struct rpc *rpc, struct str name, struct str value)
{
	if (str_is(name, "grpc-status")) {
		take_status(rpc, value);
	} else if (str_is(name, "grpc-message")) {
		take_message(rpc, value);
	} else if (str_is(name, ":status")) {
		rpc->http_status = parse_http_status(value);
		rpc->is_grpc = false;
	} else if (str_is(name, "content-type")) {
		rpc->is_grpc = is_grpc_type(value);
	}
}

/* ---- what comes: messages ---- */

static size_t message_len(const struct rpc *rpc)
{
	return (size_t)rpc->prefix[1] << 24 | (size_t)rpc->prefix[2] << 16 |
	       (size_t)rpc->prefix[3] << 8 | rpc->prefix[4];
}

static struct buf *message_place(struct rpc *rpc)
{
	return rpc->method->take ? &rpc->part : &rpc->data;
}

/* The prefix is whole. The texts are those of other clients of gRPC: lookup_reply knows one. */
static bool begin_message(struct rpc *rpc)
{
	size_t len = message_len(rpc);

	rpc->prefix_len = 0;
	if (rpc->prefix[0])
		return give_up(rpc, CODE_INTERNAL,
			       "the answer is compressed, which was not asked for");
	if (len + rpc->data.len > LOOKUP_REPLY_MAX + (rpc->method->take ? ENVELOPE : 0))
		return give_up(rpc, CODE_RESOURCE_EXHAUSTED, "the answer is larger than max");
	if (rpc->messages++ && !rpc->method->take)
		return give_up(rpc, CODE_INTERNAL, "the answer holds more than one message");
	rpc->left = len;
	return true;
}

static bool end_message(struct rpc *rpc)
{
	if (!rpc->method->take)
		return true;
	if (!rpc->method->take((const uint8_t *)rpc->part.data, rpc->part.len, &rpc->data))
		return give_up(rpc, CODE_INTERNAL, "the answer's bytes are no message of its kind");
	if (rpc->data.len > LOOKUP_REPLY_MAX)
		return give_up(rpc, CODE_RESOURCE_EXHAUSTED, "the answer is larger than max");
	buf_clear(&rpc->part);
	return true;
}

/* Takes what it can of the prefix or the message. */
static bool take_bytes(struct rpc *rpc, const uint8_t **data, size_t *len)
{
	size_t wanted = rpc->left ? rpc->left : PREFIX - rpc->prefix_len;
	size_t some = *len < wanted ? *len : wanted;
	const uint8_t *from = *data;

	*data += some;
	*len -= some;
	if (rpc->left) {
		buf_add(message_place(rpc), from, some);
		rpc->left -= some;
		return rpc->left || end_message(rpc);
	}
	memcpy(rpc->prefix + rpc->prefix_len, from, some);
	rpc->prefix_len += some;
	if (rpc->prefix_len < PREFIX)
		return true;
	if (!begin_message(rpc))
		return false;
	return rpc->left || end_message(rpc);
}

/* What is not of gRPC is not kept: a page of a proxy; its status will tell. */
bool rpc_body(struct rpc *rpc, const uint8_t *data, size_t len)
{
	if (rpc->http_status != 200 || !rpc->is_grpc)
		return true;
	while (len)
		if (!take_bytes(rpc, &data, &len))
			return false;
	return true;
}

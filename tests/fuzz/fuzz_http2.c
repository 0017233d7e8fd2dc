/*
 * Any bytes as what a server says on a connection with calls in flight; the first byte is how many
 * come at once. Laws: each call ends once at most, and what did not end has no answer; no call
 * holds more than it may.
 */
#include "lookup.h"
#include "lookup_grpc_call.h"
#include "lookup_message.h"
#include "lookup_reply.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <string.h>

#define CALLS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rpc_method single = {"/a.B/C", NULL};
static const struct rpc_method stream = {"/a.B/D", message_read_part};

struct call {
	struct rpc rpc;
	bool asked, ended;
};

static void on_field(struct http2_stream *of, struct str name, struct str value)
{
	assert(!((struct call *)of)->ended);
	rpc_field((struct rpc *)of, name, value);
}

static bool on_body(struct http2_stream *of, const uint8_t *data, size_t len)
{
	assert(!((struct call *)of)->ended);
	return rpc_body((struct rpc *)of, data, len);
}

static void on_end(struct http2_stream *of, uint32_t error)
{
	struct call *call = (struct call *)of;

	assert(!call->ended && call->asked);
	call->ended = true;
	rpc_end(&call->rpc, error);
	assert(call->rpc.code >= CODE_OK && call->rpc.code <= CODE_UNAUTHENTICATED);
	assert(call->rpc.data.len <= LOOKUP_REPLY_MAX);
}

static const struct http2_events events = {on_field, on_body, on_end};

static void ask(struct http2 *http2, struct call *calls)
{
	const struct http2_field fields[] = {{STR(":method"), STR("POST"), false},
					     {STR(":scheme"), STR("http"), false},
					     {STR(":path"), STR("/a.B/C"), false},
					     {STR(":authority"), STR("h"), false},
					     {STR("authorization"), STR("Bearer x"), true}};
	size_t i;

	for (i = 0; i < CALLS && http2_has_room(http2); i++) {
		if (calls[i].asked)
			continue;
		buf_addstr(rpc_begin(&calls[i].rpc, i % 2 ? &stream : &single, 0), "question");
		rpc_ready(&calls[i].rpc);
		calls[i].asked = true;
		if (http2_request(http2, fields, 5, &calls[i].rpc.stream) < 0)
			return;
	}
}

static void talk(struct http2 *http2, struct call *calls, const uint8_t *data, size_t size,
		 size_t step)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	while (http2_take(http2, &out, &err) == 0 && size) {
		size_t len = size < step ? size : step;

		if (http2_feed(http2, data, len, &err) < 0)
			break;
		data += len;
		size -= len;
		ask(http2, calls);
		if (http2_owes_pong(http2))
			http2_pong(http2);
		buf_clear(&out);
	}
	assert(!size || err.text[0]);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http2 *http2 = http2_new(&events);
	struct call calls[CALLS];
	size_t i;

	memset(calls, 0, sizeof(calls));
	for (i = 0; i < CALLS; i++)
		rpc_init(&calls[i].rpc);
	if (size)
		talk(http2, calls, data + 1, size - 1, data[0] + 1u);
	for (i = 0; i < CALLS; i++) {
		http2_drop(http2, &calls[i].rpc.stream);
		rpc_release(&calls[i].rpc);
	}
	http2_free(http2);
	return 0;
}

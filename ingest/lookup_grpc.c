#include "lookup_grpc.h"

#include "lookup_explain.h"
#include "lookup_grpc_call.h"
#include "lookup_grpc_channel.h"
#include "lookup_grpc_metadata.h"
#include "lookup_message.h"
#include "lookup_reply.h"
#include "util/clock.h"
#include "util/mem.h"

#include <grpc/grpc.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT_LOOPBACK 64
#define IN_FLIGHT_REMOTE 128
/*
 * Blobs that one BatchReadBlobs asks for: together well below the 4 MiB that
 * servers take and send by default, with room for what stands around each. A
 * larger blob is read as a stream.
 */
#define BATCH_BYTES ((int64_t)1 << 20)
#define BATCH_BLOBS 128u
#define NO_SLOT UINT32_MAX

enum slot_state {
	SLOT_FREE = 0,
	SLOT_PENDING,  /* a blob that the next batch takes along */
	SLOT_FLYING,   /* its call, or the call of its batch, is on its way */
	SLOT_ANSWERED, /* and the engine has not fetched the answer yet */
};

struct slot {
	enum slot_state state;
	struct lookup_request request;
	int64_t end_ms; /* its deadline */
	uint32_t next;	/* in the same batch; NO_SLOT: none */
	struct rpc rpc; /* its own call, or that of the batch it is the first of */
	int code;	/* SLOT_ANSWERED, as both below */
	struct buf message, data;
};

struct transport_grpc {
	struct transport base;
	const struct remote *remote;
	bool proxied;
	grpc_channel *channel;
	grpc_completion_queue *queue;
	struct call_metadata metadata;
	struct slot *slots;
	uint32_t flying;		    /* calls */
	uint32_t *pending, pending_count;   /* slots, oldest first */
	uint32_t *answered, answered_count; /* slots */
	struct slot *given;		    /* whose answer the engine has; NULL: none */
};

static struct transport_grpc *grpc_of(struct transport *transport)
{
	return (struct transport_grpc *)transport; /* base is its first member */
}

static uint32_t index_of(const struct transport_grpc *grpc, const struct slot *slot)
{
	return (uint32_t)(slot - grpc->slots);
}

/* ---- calls ---- */

static bool take_plain(const uint8_t *bytes, size_t len, struct buf *data)
{
	buf_add(data, bytes, len);
	return true;
}

static const struct rpc_method get_action_result = {
	"/build.bazel.remote.execution.v2.ActionCache/GetActionResult", false, take_plain};
static const struct rpc_method batch_read_blobs = {
	"/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs", false,
	take_plain};
static const struct rpc_method read_stream = {"/google.bytestream.ByteStream/Read", true,
					      message_read_part};

/* Starts a call in a slot. Clears `request`. */
static int call(struct transport_grpc *grpc, struct slot *slot, const struct rpc_method *method,
		struct buf *request, struct err *err)
{
	const struct rpc_setup setup = {grpc->channel, grpc->queue, &grpc->metadata};
	int64_t left_ms = slot->end_ms - clock_monotonic_ms();
	int failed = rpc_start(&slot->rpc, &setup, method, request, left_ms > 0 ? left_ms : 0, err);

	buf_release(request);
	if (failed < 0)
		return err_prefix(err, "%s", grpc->remote->endpoint);
	slot->state = SLOT_FLYING;
	grpc->flying++;
	return 0;
}

static int get_result(struct transport_grpc *grpc, struct slot *slot, struct err *err)
{
	struct buf request = BUF_INIT;

	message_action_result(&slot->request, &request);
	return call(grpc, slot, &get_action_result, &request, err);
}

static int read_blob(struct transport_grpc *grpc, struct slot *slot, struct err *err)
{
	struct buf request = BUF_INIT;

	message_read(&slot->request, &request);
	return call(grpc, slot, &read_stream, &request, err);
}

/* ---- answers ---- */

static void answer(struct transport_grpc *grpc, struct slot *slot, int code, struct str message,
		   struct str data)
{
	slot->state = SLOT_ANSWERED;
	slot->code = code;
	buf_add(&slot->message, message.data, message.len);
	if (code == CODE_OK)
		buf_add(&slot->data, data.data, data.len);
	grpc->answered[grpc->answered_count++] = index_of(grpc, slot);
}

static struct str text_of(const struct buf *buf)
{
	return (struct str){buf->data, buf->len};
}

/* What the engine was given is gone with its next wait. */
static void forget_answer(struct transport_grpc *grpc)
{
	if (!grpc->given)
		return;
	buf_release(&grpc->given->message);
	buf_release(&grpc->given->data);
	grpc->given = NULL;
}

static int give_answer(struct transport_grpc *grpc, struct transport_reply *out_reply)
{
	struct slot *slot = &grpc->slots[grpc->answered[--grpc->answered_count]];

	slot->state = SLOT_FREE;
	grpc->given = slot;
	out_reply->slot = index_of(grpc, slot);
	out_reply->code = slot->code;
	out_reply->message = slot->message.data;
	out_reply->data = (const uint8_t *)slot->data.data;
	out_reply->len = slot->data.len;
	return 1;
}

/* ---- batches ---- */

static bool fits(const struct lookup_request *first, const struct lookup_request *other)
{
	return first->digest.function == other->digest.function &&
	       strcmp(first->instance, other->instance) == 0;
}

/*
 * Takes blobs of one instance and function from those that are pending and
 * chains them behind the oldest, the deadline of each that of the whole.
 */
static struct slot *gather(struct transport_grpc *grpc, const struct lookup_request **out_requests,
			   size_t *out_count)
{
	struct slot *first = &grpc->slots[grpc->pending[0]], *last = NULL;
	uint32_t i, left = 0;
	int64_t bytes = 0;

	*out_count = 0;
	for (i = 0; i < grpc->pending_count; i++) {
		struct slot *slot = &grpc->slots[grpc->pending[i]];

		if (*out_count == BATCH_BLOBS || !fits(&first->request, &slot->request) ||
		    bytes + slot->request.digest.size_bytes > BATCH_BYTES) {
			grpc->pending[left++] = grpc->pending[i];
			continue;
		}
		bytes += slot->request.digest.size_bytes;
		out_requests[(*out_count)++] = &slot->request;
		slot->state = SLOT_FLYING;
		slot->next = NO_SLOT;
		if (last)
			last->next = index_of(grpc, slot);
		last = slot;
		if (slot->end_ms < first->end_ms)
			first->end_ms = slot->end_ms;
	}
	grpc->pending_count = left;
	return first;
}

static int send_pending(struct transport_grpc *grpc, struct err *err)
{
	const struct lookup_request *requests[BATCH_BLOBS];
	struct buf request = BUF_INIT;
	size_t count;

	while (grpc->pending_count) {
		struct slot *first = gather(grpc, requests, &count);

		message_batch(requests, count, &request);
		if (call(grpc, first, &batch_read_blobs, &request, err) < 0)
			return -1;
	}
	return 0;
}

/* The whole call was refused: for its size, for one of its blobs, or because there is none. */
static bool is_refused(const struct rpc *rpc)
{
	return rpc->code == CODE_INVALID_ARGUMENT || rpc->code == CODE_UNIMPLEMENTED ||
	       rpc->code == CODE_RESOURCE_EXHAUSTED;
}

static void answer_from_batch(struct transport_grpc *grpc, struct slot *slot, const struct rpc *rpc)
{
	struct blob_answer blob = {rpc->code, text_of(&rpc->message), STR_NULL};

	if (rpc->code == CODE_OK)
		message_batch_find((const uint8_t *)rpc->data.data, rpc->data.len,
				   &slot->request.digest, &blob);
	answer(grpc, slot, blob.code, blob.message, blob.data);
}

/* Each of a batch has its answer, or is read on its own. */
static int finish_batch(struct transport_grpc *grpc, struct slot *first, struct err *err)
{
	struct rpc rpc = first->rpc;
	bool refused = is_refused(&rpc);
	uint32_t at = index_of(grpc, first);
	int failed = 0;

	memset(&first->rpc, 0, sizeof(first->rpc));
	while (at != NO_SLOT && !failed) {
		struct slot *slot = &grpc->slots[at];

		at = slot->next;
		if (refused)
			failed = read_blob(grpc, slot, err);
		else
			answer_from_batch(grpc, slot, &rpc);
	}
	rpc_release(&rpc);
	return failed;
}

static int finish_call(struct transport_grpc *grpc, struct rpc *rpc, struct err *err)
{
	struct slot *slot = (struct slot *)((char *)rpc - offsetof(struct slot, rpc));

	grpc->flying--;
	if (rpc->method == &batch_read_blobs)
		return finish_batch(grpc, slot, err);
	answer(grpc, slot, rpc->code, text_of(&rpc->message), text_of(&rpc->data));
	rpc_release(rpc);
	return 0;
}

/* ---- the transport ---- */

static int transport_grpc_start(struct transport *self, uint32_t index,
				const struct lookup_request *request, int64_t timeout_ms,
				struct err *err)
{
	struct transport_grpc *grpc = grpc_of(self);
	struct slot *slot = &grpc->slots[index];

	slot->request = *request;
	slot->end_ms = clock_monotonic_ms() + timeout_ms;
	if (request->method == LOOKUP_ACTION_RESULT)
		return get_result(grpc, slot, err);
	if (request->digest.size_bytes > (int64_t)LOOKUP_REPLY_MAX)
		answer(grpc, slot, CODE_RESOURCE_EXHAUSTED, STR("the blob is larger than max"),
		       STR_NULL);
	else if (request->digest.size_bytes > BATCH_BYTES)
		return read_blob(grpc, slot, err);
	else {
		slot->state = SLOT_PENDING;
		grpc->pending[grpc->pending_count++] = index;
	}
	return 0;
}

static int transport_grpc_wait(struct transport *self, int64_t timeout_ms,
			       struct transport_reply *out_reply, struct err *err)
{
	struct transport_grpc *grpc = grpc_of(self);
	gpr_timespec end = rpc_in_ms(timeout_ms);

	forget_answer(grpc);
	/*
	 * Not in start(), and not before the engine has all answers: for each it asks
	 * for another blob, and these go together.
	 */
	if (!grpc->answered_count && send_pending(grpc, err) < 0)
		return -1;
	while (!grpc->answered_count) {
		grpc_event event = grpc_completion_queue_next(grpc->queue, end, NULL);
		struct rpc_tag *tag = event.tag;

		if (event.type != GRPC_OP_COMPLETE)
			return 0;
		if (rpc_step(tag) && finish_call(grpc, tag->rpc, err) < 0)
			return -1;
	}
	return give_answer(grpc, out_reply);
}

static int transport_grpc_refresh(struct transport *self)
{
	return metadata_refresh(&grpc_of(self)->metadata);
}

static void transport_grpc_explain(struct transport *self, int code, const char *message,
				   struct buf *out)
{
	struct transport_grpc *grpc = grpc_of(self);

	explain_failure(grpc->remote, grpc->proxied, code, message, out);
}

/* ---- making and ending ---- */

/* Destroying a queue with calls in flight would abort. */
static void cancel_calls(struct transport_grpc *grpc)
{
	uint32_t i;

	for (i = 0; i < grpc->base.slots; i++)
		if (grpc->slots[i].rpc.call)
			rpc_cancel(&grpc->slots[i].rpc);
	while (grpc->flying) {
		grpc_event event = grpc_completion_queue_next(grpc->queue, rpc_in_ms(1000), NULL);
		struct rpc_tag *tag = event.tag;

		if (event.type == GRPC_OP_COMPLETE && rpc_step(tag)) {
			rpc_release(tag->rpc);
			grpc->flying--;
		}
	}
}

static void close_queue(grpc_completion_queue *queue)
{
	grpc_event event;

	grpc_completion_queue_shutdown(queue);
	do
		event = grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC),
						   NULL);
	while (event.type != GRPC_QUEUE_SHUTDOWN);
	grpc_completion_queue_destroy(queue);
}

static void free_slots(struct transport_grpc *grpc)
{
	uint32_t i;

	for (i = 0; i < grpc->base.slots; i++) {
		buf_release(&grpc->slots[i].message);
		buf_release(&grpc->slots[i].data);
	}
	free(grpc->slots);
	free(grpc->pending);
	free(grpc->answered);
}

static void transport_grpc_free(struct transport *self)
{
	struct transport_grpc *grpc = grpc_of(self);

	cancel_calls(grpc);
	if (grpc->channel)
		grpc_channel_destroy(grpc->channel);
	close_queue(grpc->queue);
	metadata_release(&grpc->metadata);
	free_slots(grpc);
	free(grpc);
	grpc_shutdown_blocking();
}

static const struct transport_ops transport_grpc_ops = {
	.start = transport_grpc_start,
	.wait = transport_grpc_wait,
	.refresh = transport_grpc_refresh,
	.explain = transport_grpc_explain,
	.free = transport_grpc_free,
};

/* The core's threads inherit the mask: a signal must meet our own thread. */
static void block_signals(sigset_t *out_before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, out_before);
}

/* grpc_proxy, https_proxy, http_proxy in lower case: src/core/ext/filters/client_channel. */
static bool environment_names_proxy(void)
{
	static const char *const names[] = {"grpc_proxy", "https_proxy", "http_proxy"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return true;
	}
	return false;
}

static void make_slots(struct transport_grpc *grpc)
{
	uint32_t i, count = grpc->base.slots;

	grpc->slots = xcalloc(count, sizeof(*grpc->slots));
	grpc->pending = xcalloc(count, sizeof(*grpc->pending));
	grpc->answered = xcalloc(count, sizeof(*grpc->answered));
	for (i = 0; i < count; i++) {
		buf_init(&grpc->slots[i].message);
		buf_init(&grpc->slots[i].data);
	}
}

static struct transport_grpc *transport_grpc_alloc(const struct remote *remote, uint32_t in_flight)
{
	struct transport_grpc *grpc = xcalloc(1, sizeof(*grpc));

	if (!in_flight)
		in_flight = remote->loopback ? IN_FLIGHT_LOOPBACK : IN_FLIGHT_REMOTE;
	grpc->base = (struct transport){&transport_grpc_ops, in_flight + 1};
	grpc->remote = remote;
	grpc->proxied = !remote->loopback && environment_names_proxy();
	make_slots(grpc);
	grpc->queue = grpc_completion_queue_create_for_next(NULL);
	return grpc;
}

int transport_grpc_new(struct transport **out_transport, const struct remote *remote,
		       uint32_t in_flight, struct err *err)
{
	struct transport_grpc *grpc;
	sigset_t before;
	int result = -1;

	/* The core prints errors that every failed call reports anyway. */
	setenv("GRPC_VERBOSITY", "NONE", 0);
	/* getaddrinfo() knows what other programs of this machine know; c-ares leaks, too. */
	setenv("GRPC_DNS_RESOLVER", "native", 0);
	block_signals(&before);
	grpc_init();
	grpc = transport_grpc_alloc(remote, in_flight);
	if (metadata_make(remote, &grpc->metadata, err) == 0 &&
	    channel_open(remote, &grpc->channel, err) == 0) {
		*out_transport = &grpc->base;
		result = 0;
	} else {
		err->kind = ERR_USAGE; /* also for a file that cannot be read */
		transport_grpc_free(&grpc->base);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

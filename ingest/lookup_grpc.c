#include "lookup_grpc.h"

#include "lookup_explain.h"
#include "lookup_grpc_call.h"
#include "lookup_grpc_channel.h"
#include "lookup_message.h"
#include "lookup_reply.h"
#include "util/clock.h"
#include "util/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Blobs that one BatchReadBlobs asks for: together well below the 4 MiB that
 * servers take and send by default, with room for what stands around each. A
 * larger blob is read as a stream.
 */
#define BATCH_BYTES ((int64_t)1 << 20)
#define BATCH_BLOBS 128u
/*
 * Answers come in heaps, and each is stored before the next one is taken. What is asked
 * meanwhile goes out in groups of so many: if it waited for the whole heap to be stored,
 * the server would wait, too, and so would we for the next heap.
 */
#define CALLS_SENT_TOGETHER 16u
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
	struct channel *channel;
	struct slot *slots;
	uint32_t *pending, pending_count;   /* slots, oldest first */
	uint32_t *answered, answered_count; /* slots */
	uint32_t unsent;		    /* calls started since the channel's last turn */
	struct buf message, data;	    /* of the answer that the engine has */
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

static const struct rpc_method get_action_result = {
	"/build.bazel.remote.execution.v2.ActionCache/GetActionResult", NULL};
static const struct rpc_method batch_read_blobs = {
	"/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs", NULL};
static const struct rpc_method read_stream = {"/google.bytestream.ByteStream/Read",
					      message_read_part};

static struct buf *begin(struct slot *slot, const struct rpc_method *method)
{
	return rpc_begin(&slot->rpc, method, slot->end_ms);
}

static void call(struct transport_grpc *grpc, struct slot *slot)
{
	rpc_ready(&slot->rpc);
	slot->state = SLOT_FLYING;
	grpc->unsent++;
	channel_start(grpc->channel, &slot->rpc);
}

static void get_result(struct transport_grpc *grpc, struct slot *slot)
{
	message_action_result(&slot->request, begin(slot, &get_action_result));
	call(grpc, slot);
}

static void read_blob(struct transport_grpc *grpc, struct slot *slot)
{
	message_read(&slot->request, begin(slot, &read_stream));
	call(grpc, slot);
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

static void swap(struct buf *a, struct buf *b)
{
	struct buf kept = *a;

	*a = *b;
	*b = kept;
}

/* That of the slot's own call, whose bytes need not be copied. */
static void answer_from_call(struct transport_grpc *grpc, struct slot *slot)
{
	slot->state = SLOT_ANSWERED;
	slot->code = slot->rpc.code;
	swap(&slot->message, &slot->rpc.message);
	swap(&slot->data, &slot->rpc.data);
	grpc->answered[grpc->answered_count++] = index_of(grpc, slot);
}

/* What the engine was given is gone with its next wait. */
static void forget_answer(struct transport_grpc *grpc)
{
	rpc_recycle(&grpc->message);
	rpc_recycle(&grpc->data);
}

/* Its bytes move out of the slot, which may be started again before they are forgotten. */
static int give_answer(struct transport_grpc *grpc, struct transport_reply *out_reply)
{
	struct slot *slot = &grpc->slots[grpc->answered[--grpc->answered_count]];

	slot->state = SLOT_FREE;
	swap(&grpc->message, &slot->message);
	swap(&grpc->data, &slot->data);
	out_reply->slot = index_of(grpc, slot);
	out_reply->code = slot->code;
	out_reply->message = grpc->message.data;
	out_reply->data = (const uint8_t *)grpc->data.data;
	out_reply->len = grpc->data.len;
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

static void send_pending(struct transport_grpc *grpc)
{
	const struct lookup_request *requests[BATCH_BLOBS];
	size_t count;

	while (grpc->pending_count) {
		struct slot *first = gather(grpc, requests, &count);

		message_batch(requests, count, begin(first, &batch_read_blobs));
		call(grpc, first);
	}
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
static void finish_batch(struct transport_grpc *grpc, struct slot *first)
{
	struct rpc *rpc = &first->rpc;
	bool refused = is_refused(rpc);
	uint32_t at = index_of(grpc, first);

	while (at != NO_SLOT) {
		struct slot *slot = &grpc->slots[at];

		at = slot->next;
		if (refused)
			read_blob(grpc, slot);
		else
			answer_from_batch(grpc, slot, rpc);
	}
	if (!refused)
		rpc_recycle(&rpc->data);
}

static void finish_call(struct transport_grpc *grpc, struct rpc *rpc)
{
	struct slot *slot = (struct slot *)((char *)rpc - offsetof(struct slot, rpc));

	if (rpc->method == &batch_read_blobs)
		finish_batch(grpc, slot);
	else
		answer_from_call(grpc, slot);
}

static void send_calls(struct transport_grpc *grpc)
{
	if (grpc->unsent < CALLS_SENT_TOGETHER)
		return;
	grpc->unsent = 0;
	channel_send(grpc->channel);
}

static void finish_calls(struct transport_grpc *grpc)
{
	struct rpc *rpc;

	while ((rpc = channel_ended(grpc->channel)) != NULL)
		finish_call(grpc, rpc);
}

/* ---- the transport ---- */

static int transport_grpc_start(struct transport *self, uint32_t index,
				const struct lookup_request *request, int64_t timeout_ms,
				struct err *err)
{
	struct transport_grpc *grpc = grpc_of(self);
	struct slot *slot = &grpc->slots[index];

	(void)err;
	slot->request = *request;
	slot->end_ms = clock_monotonic_ms() + timeout_ms;
	if (request->method == LOOKUP_ACTION_RESULT)
		get_result(grpc, slot);
	else if (request->digest.size_bytes > (int64_t)LOOKUP_REPLY_MAX)
		answer(grpc, slot, CODE_RESOURCE_EXHAUSTED, STR("the blob is larger than max"),
		       STR_NULL);
	else if (request->digest.size_bytes > BATCH_BYTES)
		read_blob(grpc, slot);
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
	int64_t end_ms = 0;

	(void)err;
	forget_answer(grpc);
	/*
	 * Not in start(), and not before the engine has all answers: for each it asks
	 * for another blob, and these go together.
	 */
	if (!grpc->answered_count)
		send_pending(grpc);
	else
		send_calls(grpc);
	while (!grpc->answered_count) {
		int64_t now_ms = clock_monotonic_ms();

		if (!end_ms)
			end_ms = now_ms + timeout_ms;
		else if (now_ms >= end_ms)
			return 0;
		channel_turn(grpc->channel, end_ms);
		grpc->unsent = 0;
		finish_calls(grpc);
	}
	return give_answer(grpc, out_reply);
}

static int transport_grpc_refresh(struct transport *self)
{
	return channel_refresh(grpc_of(self)->channel);
}

static void transport_grpc_explain(struct transport *self, int code, const char *message,
				   struct buf *out)
{
	struct transport_grpc *grpc = grpc_of(self);

	explain_failure(grpc->remote, channel_is_proxied(grpc->channel), code, message, out);
}

/* ---- making and ending ---- */

static void free_slots(struct transport_grpc *grpc)
{
	uint32_t i;

	for (i = 0; i < grpc->base.slots; i++) {
		rpc_release(&grpc->slots[i].rpc);
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

	channel_free(grpc->channel);
	free_slots(grpc);
	buf_release(&grpc->message);
	buf_release(&grpc->data);
	free(grpc);
}

static const struct transport_ops transport_grpc_ops = {
	.start = transport_grpc_start,
	.wait = transport_grpc_wait,
	.refresh = transport_grpc_refresh,
	.explain = transport_grpc_explain,
	.free = transport_grpc_free,
};

static void make_slots(struct transport_grpc *grpc)
{
	uint32_t i, count = grpc->base.slots;

	grpc->slots = xcalloc(count, sizeof(*grpc->slots));
	grpc->pending = xcalloc(count, sizeof(*grpc->pending));
	grpc->answered = xcalloc(count, sizeof(*grpc->answered));
	for (i = 0; i < count; i++) {
		rpc_init(&grpc->slots[i].rpc);
		buf_init(&grpc->slots[i].message);
		buf_init(&grpc->slots[i].data);
	}
}

static struct transport_grpc *transport_grpc_alloc(const struct remote *remote, uint32_t in_flight)
{
	struct transport_grpc *grpc = xcalloc(1, sizeof(*grpc));

	grpc->base = (struct transport){
		&transport_grpc_ops,
		(in_flight ? in_flight : LOOKUP_IN_FLIGHT) + 1,
	};
	grpc->remote = remote;
	buf_init(&grpc->message);
	buf_init(&grpc->data);
	make_slots(grpc);
	return grpc;
}

int transport_grpc_new(struct transport **out_transport, const struct remote *remote,
		       uint32_t in_flight, struct err *err)
{
	struct transport_grpc *grpc = transport_grpc_alloc(remote, in_flight);

	if (channel_new(remote, &grpc->channel, err) < 0) {
		err->kind = ERR_USAGE; /* also for a file that cannot be read */
		transport_grpc_free(&grpc->base);
		return -1;
	}
	*out_transport = &grpc->base;
	return 0;
}

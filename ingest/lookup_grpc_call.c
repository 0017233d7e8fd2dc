#include "lookup_grpc_call.h"

#include "lookup.h"
#include "lookup_reply.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>

#include <string.h>

gpr_timespec rpc_in_ms(int64_t ms)
{
	/* Not CLOCK_REALTIME: deadlines must not jump when the clock is set. */
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

/* The core still gives all tags back. */
static void give_up(struct rpc *rpc, int code, const char *fault)
{
	rpc->fault = fault;
	rpc->fault_code = code;
	grpc_call_cancel(rpc->call, NULL);
}

/* ---- starting ---- */

/*
 * Each attempt gets a message of its own: sending moves the bytes out of the
 * buffer, and a second use would send an empty message (grpc PR 12306).
 */
static grpc_byte_buffer *make_request(const struct buf *bytes)
{
	grpc_slice slice = grpc_slice_from_copied_buffer(bytes->data, bytes->len);
	grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);

	grpc_slice_unref(slice);
	return buffer;
}

static grpc_op receive_message(struct rpc *rpc)
{
	grpc_op op;

	memset(&op, 0, sizeof(op));
	op.op = GRPC_OP_RECV_MESSAGE;
	op.data.recv_message.recv_message = &rpc->reply;
	return op;
}

static grpc_op receive_status(struct rpc *rpc)
{
	grpc_op op;

	memset(&op, 0, sizeof(op));
	op.op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	op.data.recv_status_on_client.trailing_metadata = &rpc->trailing;
	op.data.recv_status_on_client.status = &rpc->status;
	op.data.recv_status_on_client.status_details = &rpc->details;
	return op;
}

static grpc_call_error start_ops(struct rpc *rpc, const grpc_op *ops, size_t count,
				 struct rpc_tag *tag)
{
	grpc_call_error fault = grpc_call_start_batch(rpc->call, ops, count, tag, NULL);

	if (fault == GRPC_CALL_OK)
		rpc->flying++;
	return fault;
}

/*
 * A single answer comes with everything else in one batch, one tag. A stream's
 * status comes after its last message, so it has a batch of its own.
 */
static grpc_call_error start_batches(struct rpc *rpc, const struct call_metadata *metadata)
{
	grpc_op ops[6];
	grpc_op status = receive_status(rpc);
	grpc_call_error fault;

	memset(ops, 0, sizeof(ops));
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[0].data.send_initial_metadata.metadata = metadata->entries;
	ops[0].data.send_initial_metadata.count = metadata->count;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = rpc->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &rpc->initial;
	ops[4] = receive_message(rpc);
	ops[5] = status;
	if (!rpc->method->stream)
		return start_ops(rpc, ops, 6, &rpc->end_tag);
	fault = start_ops(rpc, &status, 1, &rpc->end_tag);
	return fault == GRPC_CALL_OK ? start_ops(rpc, ops, 5, &rpc->message_tag) : fault;
}

int rpc_start(struct rpc *rpc, const struct rpc_setup *setup, const struct rpc_method *method,
	      const struct buf *request, int64_t timeout_ms, struct err *err)
{
	grpc_call_error fault;

	memset(rpc, 0, sizeof(*rpc));
	rpc->method = method;
	rpc->end_tag = (struct rpc_tag){rpc, false};
	rpc->message_tag = (struct rpc_tag){rpc, true};
	rpc->request = make_request(request);
	grpc_metadata_array_init(&rpc->initial);
	grpc_metadata_array_init(&rpc->trailing);
	rpc->details = grpc_empty_slice();
	buf_init(&rpc->message);
	buf_init(&rpc->data);
	rpc->call = grpc_channel_create_call(
		setup->channel, NULL, GRPC_PROPAGATE_DEFAULTS, setup->queue,
		grpc_slice_from_static_string(method->name), NULL, rpc_in_ms(timeout_ms), NULL);
	fault = start_batches(rpc, setup->metadata);
	if (fault != GRPC_CALL_OK && rpc->flying)
		give_up(rpc, CODE_INTERNAL, "the answer cannot be waited for");
	if (rpc->flying)
		return 0;
	err_set(err, ERR_NET, "a call cannot be started: %s", grpc_call_error_to_string(fault));
	rpc_release(rpc);
	return -1;
}

/* ---- what comes back ---- */

/* Hands over the message in one piece. False: it does not decompress. */
static bool take_bytes(struct rpc *rpc)
{
	grpc_byte_buffer_reader reader;
	grpc_slice slice;
	bool taken;

	if (!grpc_byte_buffer_reader_init(&reader, rpc->reply))
		return false;
	slice = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	taken = rpc->method->take(GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice),
				  &rpc->data);
	grpc_slice_unref(slice);
	return taken;
}

static void take_message(struct rpc *rpc)
{
	rpc->got_message = true;
	if (!take_bytes(rpc))
		give_up(rpc, CODE_INTERNAL, "the answer's bytes are no message of its kind");
	else if (rpc->data.len > LOOKUP_REPLY_MAX)
		/* In the words of the core, which bounds single messages. */
		give_up(rpc, CODE_RESOURCE_EXHAUSTED, "the blob is larger than max");
	grpc_byte_buffer_destroy(rpc->reply);
	rpc->reply = NULL;
}

/* What a stream's tag brought: a message, then the next is waited for, or its end. */
static void step_stream(struct rpc *rpc)
{
	grpc_op next = receive_message(rpc);

	if (!rpc->reply)
		return;
	take_message(rpc);
	if (!rpc->fault && start_ops(rpc, &next, 1, &rpc->message_tag) != GRPC_CALL_OK)
		give_up(rpc, CODE_INTERNAL, "the next part of the answer cannot be waited for");
}

static void set_answer(struct rpc *rpc, int code, const char *message, size_t len)
{
	rpc->code = code;
	buf_add(&rpc->message, message, len);
}

static void finish(struct rpc *rpc)
{
	static const char none[] = "the answer is OK but holds no message";

	if (rpc->fault)
		set_answer(rpc, rpc->fault_code, rpc->fault, strlen(rpc->fault));
	else if (rpc->status == GRPC_STATUS_OK && !rpc->got_message && !rpc->method->stream)
		set_answer(rpc, CODE_INTERNAL, none, sizeof(none) - 1);
	else
		set_answer(rpc, (int)rpc->status, (const char *)GRPC_SLICE_START_PTR(rpc->details),
			   GRPC_SLICE_LENGTH(rpc->details));
}

bool rpc_step(struct rpc_tag *tag)
{
	struct rpc *rpc = tag->rpc;

	rpc->flying--;
	if (tag->is_message)
		step_stream(rpc);
	else if (rpc->reply && !rpc->method->stream)
		take_message(rpc);
	if (rpc->flying)
		return false;
	finish(rpc);
	return true;
}

void rpc_cancel(struct rpc *rpc)
{
	grpc_call_cancel(rpc->call, NULL);
}

void rpc_release(struct rpc *rpc)
{
	grpc_byte_buffer_destroy(rpc->request);
	if (rpc->reply)
		grpc_byte_buffer_destroy(rpc->reply);
	grpc_metadata_array_destroy(&rpc->initial);
	grpc_metadata_array_destroy(&rpc->trailing);
	grpc_slice_unref(rpc->details);
	grpc_call_unref(rpc->call);
	buf_release(&rpc->message);
	buf_release(&rpc->data);
	memset(rpc, 0, sizeof(*rpc));
}

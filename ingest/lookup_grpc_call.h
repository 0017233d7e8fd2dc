/*
 * One call of the gRPC C core: one message goes out, one comes back, or a stream
 * of them. A part of lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_CALL_H
#define BR2_LOOKUP_GRPC_CALL_H

#include "lookup_grpc_metadata.h"
#include "util/buf.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <stdbool.h>
#include <stdint.h>

/* Takes the bytes of one message into `data`. False: they are none such. */
typedef bool rpc_take_fn(const uint8_t *bytes, size_t len, struct buf *data);

/* A method of a service, and how its answer becomes bytes of ours. */
struct rpc_method {
	const char *name; /* "/package.Service/Method" */
	bool stream;	  /* it answers with any number of messages */
	rpc_take_fn *take;
};

/* What comes back from the queue: part of a call. */
struct rpc_tag {
	struct rpc *rpc;
	bool is_message; /* a message of a stream, or its end */
};

/*
 * Everything that the core points to lives here until the last tag is back, so it
 * must not move. Zeroed: free. Once rpc_step() says that it has ended, `code`,
 * `message` and `data` are its answer.
 */
struct rpc {
	grpc_call *call; /* NULL: free */
	const struct rpc_method *method;
	uint32_t flying; /* tags that are not back */
	int code;
	struct buf message, data;

	grpc_byte_buffer *request, *reply;
	grpc_metadata_array initial, trailing;
	grpc_status_code status;
	grpc_slice details;
	struct rpc_tag end_tag, message_tag;
	bool got_message;
	const char *fault; /* why we gave it up ourselves; NULL: we did not */
	int fault_code;
};

struct rpc_setup {
	grpc_channel *channel;
	grpc_completion_queue *queue;
	const struct call_metadata *metadata;
};

/* Milliseconds from now, by a clock that nobody sets. */
gpr_timespec rpc_in_ms(int64_t ms);

/* Starts it with the message's bytes. -1: it cannot be started, and is free. */
int rpc_start(struct rpc *rpc, const struct rpc_setup *setup, const struct rpc_method *method,
	      const struct buf *request, int64_t timeout_ms, struct err *err);
/* A tag came back. True: the call has ended. */
bool rpc_step(struct rpc_tag *tag);
/* It will end soon. */
void rpc_cancel(struct rpc *rpc);
/* After its end: frees all of it. */
void rpc_release(struct rpc *rpc);

#endif

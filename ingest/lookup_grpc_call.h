/*
 * One call of gRPC on a stream of HTTP/2: one message goes out, one comes back,
 * or a stream of them. Pure: it is told what the stream brings. Source: grpc
 * doc/PROTOCOL-HTTP2.md. A part of lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_CALL_H
#define BR2_LOOKUP_GRPC_CALL_H

#include "lookup_http2.h"
#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the bytes of one message into `data`. False: they are none such. */
typedef bool rpc_take_fn(const uint8_t *bytes, size_t len, struct buf *data);

/* A method of a service, and how its answer becomes bytes of ours. */
struct rpc_method {
	const char *name;  /* "/package.Service/Method" */
	rpc_take_fn *take; /* of each message of a stream; NULL: one message, as it is */
};

/* Initialized once, used for one call after another; its memory stays. */
struct rpc {
	struct http2_stream stream; /* first: events give it back */
	struct channel *channel;    /* that it was started on, with its place in a list there */
	struct rpc *before, *after;
	const struct rpc_method *method;
	int64_t end_ms;	    /* its deadline, of CLOCK_MONOTONIC */
	struct buf request; /* the message as it is sent */
	int code;	    /* once it has ended, as the two below; google.rpc.Code */
	struct buf message, data;

	int http_status, grpc_status; /* -1: not said so far */
	bool is_grpc;		      /* by its content type */
	uint8_t prefix[5];
	size_t prefix_len; /* what came of it */
	size_t left;	   /* of the message behind the prefix */
	uint32_t messages; /* that began */
	struct buf part;   /* of a stream's message, until it is whole */
	const char *fault; /* why we gave it up ourselves; NULL: we did not */
	int fault_code;
};

void rpc_init(struct rpc *rpc);
void rpc_release(struct rpc *rpc);

/* Empties it for a call, and gives the place where the request's message is to be added. */
struct buf *rpc_begin(struct rpc *rpc, const struct rpc_method *method, int64_t end_ms);
/* The message is there. The stream's body is set. */
void rpc_ready(struct rpc *rpc);
/* Its stream was refused: it is as it was when it was ready. */
void rpc_again(struct rpc *rpc);
/* It ends without the server's word: code, message. */
void rpc_fail(struct rpc *rpc, int code, const char *message);

/* What its stream brings: see struct http2_events. After rpc_end() it has ended. */
void rpc_field(struct rpc *rpc, struct str name, struct str value);
bool rpc_body(struct rpc *rpc, const uint8_t *data, size_t len);
void rpc_end(struct rpc *rpc, uint32_t error);

/* Empties a buffer; keeps its memory if it is not much. */
void rpc_recycle(struct buf *buf);

#endif

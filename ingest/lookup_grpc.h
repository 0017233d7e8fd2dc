/*
 * The transport over gRPC: one channel, which is one connection of HTTP/2, and
 * an array of slots. The three methods that we call, no more of gRPC.
 */
#ifndef BR2_LOOKUP_GRPC_H
#define BR2_LOOKUP_GRPC_H

#include "lookup.h"
#include "remote.h"

/*
 * `in_flight`: calls at once, besides the engine's own; 0: LOOKUP_IN_FLIGHT.
 * `remote` is borrowed until the transport is freed. -1: TLS files, a token file
 * or headers that cannot be right (ERR_USAGE); nothing is sent yet.
 */
int transport_grpc_new(struct transport **out_transport, const struct remote *remote,
		       uint32_t in_flight, struct err *err);

#endif

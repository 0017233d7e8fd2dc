/*
 * The transport over the gRPC C core: one channel, one completion queue, one
 * array of slots. The only user of <grpc/…>.
 */
#ifndef BR2_LOOKUP_GRPC_H
#define BR2_LOOKUP_GRPC_H

#include "config.h"
#include "lookup.h"

/* -1: TLS files or headers that cannot be right (ERR_USAGE); nothing is sent yet. */
int transport_grpc_new(struct transport **out_transport, const struct remote *remote,
		       uint32_t slots, struct err *err);

#endif

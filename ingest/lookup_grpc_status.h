/*
 * How a call of gRPC ended: the codes and texts that stand for what HTTP/2 says
 * where gRPC itself says nothing. Pure. A part of lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_STATUS_H
#define BR2_LOOKUP_GRPC_STATUS_H

#include "util/buf.h"
#include "util/str.h"

#include <stdint.h>

/* google.rpc.Code of an answer without a grpc-status: that of its HTTP status. */
int status_of_http(int http_status);
/* That of a stream which the server reset; `error` as RFC 9113 section 7 has it. */
int status_of_reset(uint32_t error);
/* "grpc-status": 0 or more; -1: no number. */
int status_parse(struct str value);
/* Adds the text of "grpc-message", in which bytes may stand as "%41". */
void status_message(struct str value, struct buf *out);

#endif

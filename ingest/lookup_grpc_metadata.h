/*
 * What is sent along with each call: who asks, the user's headers, the bearer
 * token. A part of lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_METADATA_H
#define BR2_LOOKUP_GRPC_METADATA_H

#include "remote.h"
#include "util/err.h"

#include <grpc/grpc.h>

struct call_metadata {
	const struct remote *remote; /* borrowed */
	grpc_metadata *entries;	     /* the token, if any, comes last */
	size_t count;
	char *token; /* NULL: none */
};

/* -1: a header or a token file that cannot be right. Release it in any case. */
int metadata_make(const struct remote *remote, struct call_metadata *out_metadata, struct err *err);
/* Reads the token file again. 1: the token has changed; 0. */
int metadata_refresh(struct call_metadata *metadata);
void metadata_release(struct call_metadata *metadata);

#endif

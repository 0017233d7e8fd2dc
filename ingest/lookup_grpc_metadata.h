/*
 * The head of each request: what is asked, who asks, the user's headers, the
 * bearer token. A part of lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_METADATA_H
#define BR2_LOOKUP_GRPC_METADATA_H

#include "lookup_http2.h"
#include "remote.h"
#include "util/err.h"

#include <stddef.h>

struct metadata {
	const struct remote *remote; /* borrowed */
	struct http2_field *fields;  /* the token, if any, comes last */
	size_t count;
	char *authority, *about, *token, *bearer; /* that values point to; NULL: none */
};

/* -1 (ERR_USAGE): a header or a token file that cannot be right. Release it in any case. */
int metadata_make(const struct remote *remote, struct metadata *out_metadata, struct err *err);
/* Reads the token file again. 1: the token has changed; 0. */
int metadata_refresh(struct metadata *metadata);
/*
 * The fields are of this method from now on. The server is not told of the call's deadline
 * (grpc-timeout may be left out): a timer for each would cost it more than all else that
 * stands here, and a stream that is reset when its time is up says the same.
 */
void metadata_aim(struct metadata *metadata, const char *method);
void metadata_release(struct metadata *metadata);

#endif

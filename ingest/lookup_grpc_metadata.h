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
#include <stdint.h>

struct metadata {
	const struct remote *remote; /* borrowed */
	struct http2_field *fields;  /* the token, if any, comes last */
	size_t count;
	char *authority, *about, *token, *bearer; /* that values point to; NULL: none */
	char timeout[16];
};

/* -1 (ERR_USAGE): a header or a token file that cannot be right. Release it in any case. */
int metadata_make(const struct remote *remote, struct metadata *out_metadata, struct err *err);
/* Reads the token file again. 1: the token has changed; 0. */
int metadata_refresh(struct metadata *metadata);
/* The fields are of this method from now on, and this timeout. */
void metadata_aim(struct metadata *metadata, const char *method, int64_t timeout_ms);
void metadata_release(struct metadata *metadata);

#endif

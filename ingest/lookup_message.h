/*
 * Questions of the Remote Execution API as the bytes of their messages, and the
 * answers that hold blobs: pure. Sources: remote-apis becdd8f
 * remote_execution.proto, googleapis google/bytestream/bytestream.proto.
 */
#ifndef BR2_LOOKUP_MESSAGE_H
#define BR2_LOOKUP_MESSAGE_H

#include "lookup.h"
#include "util/buf.h"
#include "util/str.h"

/* ---- questions: each adds the message's bytes ---- */

/* GetActionResultRequest */
void message_action_result(const struct lookup_request *request, struct buf *out);
/* BatchReadBlobsRequest of one instance and digest function. */
void message_batch(const struct lookup_request *const *requests, size_t count, struct buf *out);
/* ReadRequest of a blob; its resource name is made by message_resource_name(). */
void message_read(const struct lookup_request *request, struct buf *out);
/* "[INSTANCE/]blobs/[FUNCTION/]HASH/SIZE" */
void message_resource_name(const struct lookup_request *request, struct buf *out);
/* RequestMetadata, so that a server's own log can tell us from a build. */
void message_request_metadata(const char *version, struct buf *out);

/* ---- answers ---- */

/* What a server says about one blob of a batch. Texts are borrowed from the answer's bytes. */
struct blob_answer {
	int code; /* google.rpc.Code */
	struct str message;
	struct str data; /* code 0; never NULL then */
};

/*
 * What a BatchReadBlobsResponse says about one digest, in whatever order it
 * comes; INTERNAL where it leaves the digest out, or is no such message.
 */
void message_batch_find(const uint8_t *data, size_t len, const struct digest *digest,
			struct blob_answer *out_answer);
/* Adds the part of a blob that a ReadResponse holds. False: it is none. */
bool message_read_part(const uint8_t *data, size_t len, struct buf *out);

#endif

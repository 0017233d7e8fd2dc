#include "lookup_message.h"

#include "digest.h"
#include "lookup_reply.h"
#include "util/mem.h"
#include "util/wire.h"

#include "reapi.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces ---- */

static ProtobufCBinaryData bytes_of(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

static void pack(const ProtobufCMessage *message, struct buf *out)
{
	size_t len = protobuf_c_message_get_packed_size(message);

	protobuf_c_message_pack(message, (uint8_t *)buf_reserve(out, len));
	buf_grew(out, len);
}

/* "<hash>:<size>" cut in two: the hash. */
static void format_hash(const struct digest *digest, char out[DIGEST_TEXT_MAX])
{
	digest_format(digest, out);
	out[(size_t)2 * digest->hash_len] = '\0';
}

/* A digest's message and the text that it borrows. */
struct packed_digest {
	Reapi__Digest message;
	char hash[DIGEST_TEXT_MAX];
};

static void fill_digest(const struct digest *digest, struct packed_digest *out)
{
	reapi__digest__init(&out->message);
	format_hash(digest, out->hash);
	out->message.has_hash = out->message.has_size_bytes = 1;
	out->message.hash = bytes_of(out->hash);
	out->message.size_bytes = digest->size_bytes;
}

/* ---- questions ---- */

/*
 * No inline flags: outputs stay where they are. The digest function is always
 * sent: servers guess it from the length else, and take BLAKE3 for SHA256.
 */
void message_action_result(const struct lookup_request *request, struct buf *out)
{
	Reapi__GetActionResultRequest message = REAPI__GET_ACTION_RESULT_REQUEST__INIT;
	struct packed_digest digest;

	fill_digest(&request->digest, &digest);
	message.has_instance_name = message.has_digest_function = 1;
	message.instance_name = bytes_of(request->instance);
	message.action_digest = &digest.message;
	message.digest_function = request->digest.function;
	pack(&message.base, out);
}

void message_batch(const struct lookup_request *const *requests, size_t count, struct buf *out)
{
	Reapi__BatchReadBlobsRequest message = REAPI__BATCH_READ_BLOBS_REQUEST__INIT;
	struct packed_digest *digests = xcalloc(count, sizeof(*digests));
	Reapi__Digest **list = xcalloc(count, sizeof(Reapi__Digest *));
	size_t i;

	for (i = 0; i < count; i++) {
		fill_digest(&requests[i]->digest, &digests[i]);
		list[i] = &digests[i].message;
	}
	message.has_instance_name = message.has_digest_function = 1;
	message.instance_name = bytes_of(requests[0]->instance);
	message.n_digests = count;
	message.digests = list;
	message.digest_function = requests[0]->digest.function;
	pack(&message.base, out);
	free(list);
	free(digests);
}

/*
 * The function stands there only if the length of the hash does not tell it: all
 * from SHA256TREE on (remote_execution.proto, ContentAddressableStorage). The
 * instance name stands as it is, not percent-encoded.
 */
void message_resource_name(const struct lookup_request *request, struct buf *out)
{
	const struct digest *digest = &request->digest;
	char hash[DIGEST_TEXT_MAX];

	if (*request->instance)
		buf_addf(out, "%s/", request->instance);
	buf_addstr(out, "blobs/");
	if (digest->function >= DIGEST_SHA256TREE && digest_function_name(digest->function))
		buf_addf(out, "%s/", digest_function_name(digest->function));
	format_hash(digest, hash);
	buf_addf(out, "%s/%" PRId64, hash, digest->size_bytes);
}

void message_read(const struct lookup_request *request, struct buf *out)
{
	Reapi__ReadRequest message = REAPI__READ_REQUEST__INIT;
	struct buf name = BUF_INIT;

	message_resource_name(request, &name);
	message.has_resource_name = 1;
	message.resource_name = bytes_of(name.data);
	pack(&message.base, out);
	buf_release(&name);
}

void message_request_metadata(const char *version, struct buf *out)
{
	Reapi__ToolDetails tool = REAPI__TOOL_DETAILS__INIT;
	Reapi__RequestMetadata message = REAPI__REQUEST_METADATA__INIT;

	tool.has_tool_name = tool.has_tool_version = 1;
	tool.tool_name = bytes_of("br2-ingest");
	tool.tool_version = bytes_of(version);
	message.tool_details = &tool;
	pack(&message.base, out);
}

/*
 * ---- answers ----
 * Read where they lie: blobs are not copied, and no message, however made, costs
 * memory.
 */

static struct str text_of(const struct wire_field *field)
{
	return (struct str){(const char *)field->data, field->len};
}

static struct wire_cursor cursor_of(const struct wire_field *field)
{
	return (struct wire_cursor){field->data, field->data + field->len};
}

/* Digest: 1 hash, 2 size_bytes, which is left out where it is 0. */
static bool is_digest(const struct wire_field *message, const struct packed_digest *wanted)
{
	struct wire_cursor cursor = cursor_of(message);
	struct wire_field field;
	bool same_hash = false;
	int64_t size = 0;

	while (wire_next(&cursor, &field) > 0) {
		if (field.number == 1 && field.type == WIRE_BYTES)
			same_hash = str_is(text_of(&field), wanted->hash);
		else if (field.number == 2 && field.type == WIRE_VARINT)
			size = (int64_t)field.value;
	}
	return same_hash && size == wanted->message.size_bytes;
}

/* Codes are what recordings hold too; one that nobody knows is an unknown error, as for gRPC. */
static int code_of(uint64_t value)
{
	return value > CODE_UNAUTHENTICATED ? CODE_UNKNOWN : (int)value;
}

/* google.rpc.Status: 1 code, 2 message. */
static void read_status(const struct wire_field *message, struct blob_answer *out)
{
	struct wire_cursor cursor = cursor_of(message);
	struct wire_field field;

	while (wire_next(&cursor, &field) > 0) {
		if (field.number == 1 && field.type == WIRE_VARINT)
			out->code = code_of(field.value);
		else if (field.number == 2 && field.type == WIRE_BYTES)
			out->message = text_of(&field);
	}
}

/* Response: 1 digest, 2 data, 3 status. False: it is about another digest. */
static bool read_response(const struct wire_field *response, const struct packed_digest *wanted,
			  struct blob_answer *out)
{
	struct wire_cursor cursor = cursor_of(response);
	struct wire_field field;
	bool found = false;

	*out = (struct blob_answer){CODE_OK, STR(""), STR("")};
	while (wire_next(&cursor, &field) > 0) {
		if (field.type != WIRE_BYTES)
			continue;
		if (field.number == 1)
			found = is_digest(&field, wanted);
		else if (field.number == 2)
			out->data = text_of(&field);
		else if (field.number == 3)
			read_status(&field, out);
	}
	return found;
}

void message_batch_find(const uint8_t *data, size_t len, const struct digest *digest,
			struct blob_answer *out_answer)
{
	struct wire_cursor cursor = {data, data + len};
	struct wire_field field;
	struct packed_digest wanted;

	fill_digest(digest, &wanted);
	/* BatchReadBlobsResponse: 1 responses. */
	while (wire_next(&cursor, &field) > 0)
		if (field.number == 1 && field.type == WIRE_BYTES &&
		    read_response(&field, &wanted, out_answer))
			return;
	*out_answer = (struct blob_answer){
		CODE_INTERNAL,
		STR("the answer leaves this blob out"),
		STR_NULL,
	};
}

/* ReadResponse: 10 data. */
bool message_read_part(const uint8_t *data, size_t len, struct buf *out)
{
	struct wire_cursor cursor = {data, data + len};
	struct wire_field field;
	int more;

	while ((more = wire_next(&cursor, &field)) > 0)
		if (field.number == 10 && field.type == WIRE_BYTES)
			buf_add(out, field.data, field.len);
	return more == 0;
}

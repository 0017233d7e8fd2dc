#include "lookup_grpc_metadata.h"

#include "lookup_message.h"
#include "util/base64.h"
#include "util/buf.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The order of the first fields, by grpc doc/PROTOCOL-HTTP2.md. */
enum { FIELD_METHOD, FIELD_SCHEME, FIELD_PATH };

static void add(struct metadata *metadata, const char *name, const char *value, bool secret)
{
	metadata->fields =
		xreallocarray(metadata->fields, metadata->count + 1, sizeof(*metadata->fields));
	metadata->fields[metadata->count++] =
		(struct http2_field){str_of(name), str_of(value), secret};
}

/* remote-apis: RequestMetadata's comment names the header. */
static void add_about(struct metadata *metadata)
{
	struct buf message = BUF_INIT, text = BUF_INIT;

	message_request_metadata(BR2_VERSION, &message);
	base64_encode(message.data, message.len, &text);
	metadata->about = buf_detach(&text);
	add(metadata, "build.bazel.remote.execution.v2.requestmetadata-bin", metadata->about,
	    false);
	buf_release(&message);
}

static void add_call(struct metadata *metadata)
{
	const struct remote *remote = metadata->remote;
	bool local = strncmp(remote->endpoint, "unix:", 5) == 0;

	/* With another name of its own, as grpc's ssl_target_name_override has it. */
	metadata->authority = xstrdup(remote->tls_name ? remote->tls_name
				      : local	       ? "localhost"
						       : remote->endpoint);
	add(metadata, ":method", "POST", false);
	add(metadata, ":scheme", remote->tls ? "https" : "http", false);
	add(metadata, ":path", "", false);
	add(metadata, ":authority", metadata->authority, false);
	add(metadata, "te", "trailers", false);
	add(metadata, "content-type", "application/grpc", false);
	add(metadata, "user-agent", "br2-ingest/" BR2_VERSION, false);
	add_about(metadata);
}

/* What the protocol says itself: RFC 9113 section 8.2.2, and gRPC. */
static bool is_protocols_own(const char *name)
{
	static const char *const names[] = {"connection",	 "content-type",     "host",
					    "keep-alive",	 "proxy-connection", "te",
					    "transfer-encoding", "upgrade"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "grpc-", 5) == 0;
}

static int add_header(struct metadata *metadata, const struct header *header, struct err *err)
{
	if (is_protocols_own(header->name))
		return err_set(err, ERR_USAGE, "header '%s' is the protocol's own, and set by it",
			       header->name);
	add(metadata, header->name, header->value, true);
	return 0;
}

/* Takes the token over. */
static void add_token(struct metadata *metadata, char *token)
{
	free(metadata->token);
	free(metadata->bearer);
	metadata->token = token;
	metadata->bearer = xasprintf("Bearer %s", token);
	add(metadata, "authorization", metadata->bearer, true);
}

int metadata_make(const struct remote *remote, struct metadata *out_metadata, struct err *err)
{
	char *token;
	size_t i;

	*out_metadata = (struct metadata){.remote = remote};
	add_call(out_metadata);
	for (i = 0; i < remote->header_count; i++)
		if (add_header(out_metadata, &remote->headers[i], err) < 0)
			return -1;
	if (!remote->token_path)
		return 0;
	if (remote_read_token(remote->token_path, &token, err) < 0)
		return -1;
	add_token(out_metadata, token);
	return 0;
}

/* A token file that is gone or half written is no reason to stop: the old one stays. */
int metadata_refresh(struct metadata *metadata)
{
	struct err ignored = ERR_INIT;
	char *token;

	if (!metadata->remote->token_path ||
	    remote_read_token(metadata->remote->token_path, &token, &ignored) < 0)
		return 0;
	if (strcmp(token, metadata->token) == 0) {
		free(token);
		return 0;
	}
	metadata->count--;
	add_token(metadata, token);
	return 1;
}

void metadata_aim(struct metadata *metadata, const char *method)
{
	metadata->fields[FIELD_PATH].value = str_of(method);
}

void metadata_release(struct metadata *metadata)
{
	free(metadata->fields);
	free(metadata->authority);
	free(metadata->about);
	free(metadata->token);
	free(metadata->bearer);
}

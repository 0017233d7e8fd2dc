#include "lookup_grpc_metadata.h"

#include "lookup_message.h"
#include "util/buf.h"
#include "util/mem.h"

#include <grpc/slice.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void add_entry(struct call_metadata *metadata, const char *name, const void *value,
		      size_t len)
{
	grpc_metadata *entry;

	metadata->entries =
		xreallocarray(metadata->entries, metadata->count + 1, sizeof(*metadata->entries));
	entry = &metadata->entries[metadata->count++];
	memset(entry, 0, sizeof(*entry));
	entry->key = grpc_slice_from_copied_string(name);
	entry->value = grpc_slice_from_copied_buffer(value, len);
}

/* remote-apis: RequestMetadata's comment names the header. */
static void add_request_metadata(struct call_metadata *metadata)
{
	struct buf message = BUF_INIT;

	message_request_metadata(BR2_VERSION, &message);
	add_entry(metadata, "build.bazel.remote.execution.v2.requestmetadata-bin", message.data,
		  message.len);
	buf_release(&message);
}

static bool key_is_legal(const char *text)
{
	return grpc_header_key_is_legal(grpc_slice_from_static_string(text)) != 0;
}

static bool value_is_legal(const char *text)
{
	return grpc_header_nonbin_value_is_legal(grpc_slice_from_static_string(text)) != 0;
}

/* The core would refuse each call for an illegal one. */
static int add_header(struct call_metadata *metadata, const struct header *header, struct err *err)
{
	if (!key_is_legal(header->name) || !value_is_legal(header->value))
		return err_set(err, ERR_USAGE, "header '%s' holds bytes that no header may have",
			       header->name);
	if (metadata->remote->token_path && strcmp(header->name, "authorization") == 0)
		return err_set(err, ERR_USAGE,
			       "a token file and a header 'authorization' exclude each other");
	add_entry(metadata, header->name, header->value, strlen(header->value));
	return 0;
}

static void add_token(struct call_metadata *metadata, const char *token)
{
	char *value = xasprintf("Bearer %s", token);

	add_entry(metadata, "authorization", value, strlen(value));
	free(value);
}

static void drop_last(struct call_metadata *metadata)
{
	grpc_metadata *entry = &metadata->entries[--metadata->count];

	grpc_slice_unref(entry->key);
	grpc_slice_unref(entry->value);
}

int metadata_make(const struct remote *remote, struct call_metadata *out_metadata, struct err *err)
{
	size_t i;

	*out_metadata = (struct call_metadata){.remote = remote};
	add_request_metadata(out_metadata);
	for (i = 0; i < remote->header_count; i++)
		if (add_header(out_metadata, &remote->headers[i], err) < 0)
			return -1;
	if (!remote->token_path)
		return 0;
	if (remote_read_token(remote->token_path, &out_metadata->token, err) < 0)
		return -1;
	add_token(out_metadata, out_metadata->token);
	return 0;
}

/* A token file that is gone or half written is no reason to stop: the old one stays. */
int metadata_refresh(struct call_metadata *metadata)
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
	free(metadata->token);
	metadata->token = token;
	drop_last(metadata);
	add_token(metadata, token);
	return 1;
}

void metadata_release(struct call_metadata *metadata)
{
	while (metadata->count)
		drop_last(metadata);
	free(metadata->entries);
	free(metadata->token);
}

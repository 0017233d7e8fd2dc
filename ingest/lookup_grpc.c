#include "lookup_grpc.h"

#include "lookup_explain.h"
#include "lookup_grpc_channel.h"
#include "digest.h"
#include "util/mem.h"

#include "reapi.pb-c.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT_LOOPBACK 64
#define IN_FLIGHT_REMOTE 128

static const char action_cache_method[] =
	"/build.bazel.remote.execution.v2.ActionCache/GetActionResult";
/* remote-apis: RequestMetadata's comment names this header. */
static const char request_metadata_header[] = "build.bazel.remote.execution.v2.requestmetadata-bin";

/*
 * Everything a call's batch points to lives here until its tag comes back; the
 * tag is the slot's address. call == NULL: free.
 */
struct slot {
	grpc_call *call;
	grpc_byte_buffer *request;
	grpc_byte_buffer *reply;
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code code;
	grpc_slice details;
};

struct transport_grpc {
	struct transport base;
	const struct remote *remote;
	bool proxied;
	grpc_channel *channel;
	grpc_completion_queue *queue;
	struct slot *slots;
	uint32_t flying;
	grpc_metadata *metadata; /* sent with each call; the token, if any, comes last */
	size_t metadata_count;
	char *token; /* NULL: none */
	/* Of the reply that was given last: */
	grpc_slice reply;
	struct buf message;
};

static struct transport_grpc *grpc_of(struct transport *transport)
{
	return (struct transport_grpc *)transport; /* base is its first member */
}

/* ---- what is sent with each call ----------------------------------------------------- */

static void add_metadata(struct transport_grpc *grpc, const char *name, const void *value,
			 size_t len)
{
	grpc_metadata *entry;

	grpc->metadata =
		xreallocarray(grpc->metadata, grpc->metadata_count + 1, sizeof(*grpc->metadata));
	entry = &grpc->metadata[grpc->metadata_count++];
	memset(entry, 0, sizeof(*entry));
	entry->key = grpc_slice_from_copied_string(name);
	entry->value = grpc_slice_from_copied_buffer(value, len);
}

/* So that a server's own log can tell us from a build. */
static void add_request_metadata(struct transport_grpc *grpc)
{
	Reapi__ToolDetails tool = REAPI__TOOL_DETAILS__INIT;
	Reapi__RequestMetadata message = REAPI__REQUEST_METADATA__INIT;
	char name[] = "br2-ingest", version[] = BR2_VERSION;
	uint8_t *bytes;
	size_t len;

	tool.has_tool_name = tool.has_tool_version = 1;
	tool.tool_name = (ProtobufCBinaryData){strlen(name), (uint8_t *)name};
	tool.tool_version = (ProtobufCBinaryData){strlen(version), (uint8_t *)version};
	message.tool_details = &tool;
	bytes = xmalloc(reapi__request_metadata__get_packed_size(&message));
	len = reapi__request_metadata__pack(&message, bytes);
	add_metadata(grpc, request_metadata_header, bytes, len);
	free(bytes);
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
static int add_header(struct transport_grpc *grpc, const struct header *header, struct err *err)
{
	if (!key_is_legal(header->name) || !value_is_legal(header->value))
		return err_set(err, ERR_USAGE, "header '%s' holds bytes that no header may have",
			       header->name);
	if (grpc->remote->token_path && strcmp(header->name, "authorization") == 0)
		return err_set(err, ERR_USAGE,
			       "a token file and a header 'authorization' exclude each other");
	add_metadata(grpc, header->name, header->value, strlen(header->value));
	return 0;
}

static void add_token(struct transport_grpc *grpc, const char *token)
{
	char *value = xasprintf("Bearer %s", token);

	add_metadata(grpc, "authorization", value, strlen(value));
	free(value);
}

static void drop_last_metadata(struct transport_grpc *grpc)
{
	grpc_metadata *entry = &grpc->metadata[--grpc->metadata_count];

	grpc_slice_unref(entry->key);
	grpc_slice_unref(entry->value);
}

static int make_metadata(struct transport_grpc *grpc, struct err *err)
{
	const struct remote *remote = grpc->remote;
	size_t i;

	add_request_metadata(grpc);
	for (i = 0; i < remote->header_count; i++)
		if (add_header(grpc, &remote->headers[i], err) < 0)
			return -1;
	if (!remote->token_path)
		return 0;
	if (remote_read_token(remote->token_path, &grpc->token, err) < 0)
		return -1;
	add_token(grpc, grpc->token);
	return 0;
}

/* A token file that is gone or half written is no reason to stop: the old one stays. */
static int transport_grpc_refresh(struct transport *self)
{
	struct transport_grpc *grpc = grpc_of(self);
	struct err ignored = ERR_INIT;
	char *token;

	if (!grpc->remote->token_path ||
	    remote_read_token(grpc->remote->token_path, &token, &ignored) < 0)
		return 0;
	if (strcmp(token, grpc->token) == 0) {
		free(token);
		return 0;
	}
	free(grpc->token);
	grpc->token = token;
	drop_last_metadata(grpc);
	add_token(grpc, token);
	return 1;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static gpr_timespec in_ms(int64_t ms)
{
	/* Not CLOCK_REALTIME: deadlines must not jump when the clock is set. */
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

/*
 * No inline flags: outputs stay where they are. The digest function is always
 * sent: servers guess it from the length else, and take BLAKE3 for SHA256.
 */
static grpc_slice pack_request(const struct lookup_request *request)
{
	Reapi__GetActionResultRequest message = REAPI__GET_ACTION_RESULT_REQUEST__INIT;
	Reapi__Digest digest = REAPI__DIGEST__INIT;
	char text[DIGEST_TEXT_MAX];
	grpc_slice slice;

	digest_format(&request->digest, text);
	digest.has_hash = digest.has_size_bytes = 1;
	digest.hash = (ProtobufCBinaryData){(size_t)request->digest.hash_len * 2, (uint8_t *)text};
	digest.size_bytes = request->digest.size_bytes;
	message.has_instance_name = message.has_digest_function = 1;
	message.instance_name = (ProtobufCBinaryData){strlen(request->instance),
						      (uint8_t *)(uintptr_t)request->instance};
	message.action_digest = &digest;
	message.digest_function = request->digest.function;
	slice = grpc_slice_malloc(reapi__get_action_result_request__get_packed_size(&message));
	reapi__get_action_result_request__pack(&message, GRPC_SLICE_START_PTR(slice));
	return slice;
}

static grpc_byte_buffer *make_request(const struct lookup_request *request)
{
	grpc_slice slice = pack_request(request);
	grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);

	grpc_slice_unref(slice);
	return buffer;
}

static grpc_call_error start_batch(struct transport_grpc *grpc, struct slot *slot)
{
	grpc_op ops[6];

	memset(ops, 0, sizeof(ops));
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[0].data.send_initial_metadata.metadata = grpc->metadata;
	ops[0].data.send_initial_metadata.count = grpc->metadata_count;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = slot->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &slot->initial;
	ops[4].op = GRPC_OP_RECV_MESSAGE;
	ops[4].data.recv_message.recv_message = &slot->reply;
	ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	ops[5].data.recv_status_on_client.trailing_metadata = &slot->trailing;
	ops[5].data.recv_status_on_client.status = &slot->code;
	ops[5].data.recv_status_on_client.status_details = &slot->details;
	return grpc_call_start_batch(slot->call, ops, 6, slot, NULL);
}

static void release_slot(struct slot *slot)
{
	grpc_byte_buffer_destroy(slot->request);
	if (slot->reply)
		grpc_byte_buffer_destroy(slot->reply);
	grpc_metadata_array_destroy(&slot->initial);
	grpc_metadata_array_destroy(&slot->trailing);
	grpc_slice_unref(slot->details);
	grpc_call_unref(slot->call);
	memset(slot, 0, sizeof(*slot));
}

/*
 * Each attempt gets a message of its own: sending moves the bytes out of the
 * buffer, and a second use would send an empty message (grpc PR 12306).
 */
static int transport_grpc_start(struct transport *self, uint32_t index,
				const struct lookup_request *request, int64_t timeout_ms,
				struct err *err)
{
	struct transport_grpc *grpc = grpc_of(self);
	struct slot *slot = &grpc->slots[index];
	grpc_call_error fault;

	slot->request = make_request(request);
	grpc_metadata_array_init(&slot->initial);
	grpc_metadata_array_init(&slot->trailing);
	slot->details = grpc_empty_slice();
	slot->call = grpc_channel_create_call(
		grpc->channel, NULL, GRPC_PROPAGATE_DEFAULTS, grpc->queue,
		grpc_slice_from_static_string(action_cache_method), NULL, in_ms(timeout_ms), NULL);
	fault = start_batch(grpc, slot);
	if (fault != GRPC_CALL_OK) {
		release_slot(slot);
		return err_set(err, ERR_NET, "%s cannot be asked: %s", grpc->remote->endpoint,
			       grpc_call_error_to_string(fault));
	}
	grpc->flying++;
	return 0;
}

static void forget_reply(struct transport_grpc *grpc)
{
	grpc_slice_unref(grpc->reply);
	grpc->reply = grpc_empty_slice();
	buf_clear(&grpc->message);
}

static void add_details(struct buf *message, grpc_slice details)
{
	buf_add(message, GRPC_SLICE_START_PTR(details), GRPC_SLICE_LENGTH(details));
}

/* A reply in one piece; false: an OK without a message, or one that does not decompress. */
static bool read_reply(struct transport_grpc *grpc, const struct slot *slot)
{
	grpc_byte_buffer_reader reader;

	if (!slot->reply || !grpc_byte_buffer_reader_init(&reader, slot->reply))
		return false;
	grpc->reply = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	return true;
}

static void take_reply(struct transport_grpc *grpc, struct slot *slot,
		       struct transport_reply *out_reply)
{
	out_reply->slot = (uint32_t)(slot - grpc->slots);
	out_reply->code = (int)slot->code;
	if (slot->code != GRPC_STATUS_OK) {
		add_details(&grpc->message, slot->details);
	} else if (!read_reply(grpc, slot)) {
		out_reply->code = (int)GRPC_STATUS_INTERNAL;
		buf_addstr(&grpc->message, "the answer is OK but holds no message");
	}
	out_reply->message = grpc->message.data;
	out_reply->data = GRPC_SLICE_START_PTR(grpc->reply);
	out_reply->len = GRPC_SLICE_LENGTH(grpc->reply);
	release_slot(slot);
	grpc->flying--;
}

static int transport_grpc_wait(struct transport *self, int64_t timeout_ms,
			       struct transport_reply *out_reply, struct err *err)
{
	struct transport_grpc *grpc = grpc_of(self);
	grpc_event event;

	(void)err;
	forget_reply(grpc);
	event = grpc_completion_queue_next(grpc->queue, in_ms(timeout_ms), NULL);
	if (event.type != GRPC_OP_COMPLETE)
		return 0;
	take_reply(grpc, event.tag, out_reply);
	return 1;
}

static void transport_grpc_explain(struct transport *self, int code, const char *message,
				   struct buf *out)
{
	struct transport_grpc *grpc = grpc_of(self);

	explain_failure(grpc->remote, grpc->proxied, code, message, out);
}

/* ---- making and ending
 * --------------------------------------------------------------------------- */

/* Destroying a queue with calls in flight would abort. */
static void cancel_calls(struct transport_grpc *grpc)
{
	struct transport_reply ignored;
	struct err no_err = ERR_INIT;
	uint32_t i;

	for (i = 0; i < grpc->base.slots; i++)
		if (grpc->slots[i].call)
			grpc_call_cancel(grpc->slots[i].call, NULL);
	while (grpc->flying)
		(void)transport_grpc_wait(&grpc->base, 1000, &ignored, &no_err);
}

static void close_queue(grpc_completion_queue *queue)
{
	grpc_event event;

	grpc_completion_queue_shutdown(queue);
	do
		event = grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC),
						   NULL);
	while (event.type != GRPC_QUEUE_SHUTDOWN);
	grpc_completion_queue_destroy(queue);
}

static void transport_grpc_free(struct transport *self)
{
	struct transport_grpc *grpc = grpc_of(self);

	cancel_calls(grpc);
	forget_reply(grpc);
	if (grpc->channel)
		grpc_channel_destroy(grpc->channel);
	close_queue(grpc->queue);
	while (grpc->metadata_count)
		drop_last_metadata(grpc);
	free(grpc->metadata);
	free(grpc->slots);
	free(grpc->token);
	buf_release(&grpc->message);
	free(grpc);
	grpc_shutdown_blocking();
}

static const struct transport_ops transport_grpc_ops = {
	.start = transport_grpc_start,
	.wait = transport_grpc_wait,
	.refresh = transport_grpc_refresh,
	.explain = transport_grpc_explain,
	.free = transport_grpc_free,
};

/* The core's threads inherit the mask: a signal must meet our own thread. */
static void block_signals(sigset_t *out_before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, out_before);
}

/* grpc_proxy, https_proxy, http_proxy in lower case: src/core/ext/filters/client_channel. */
static bool environment_names_proxy(void)
{
	static const char *const names[] = {"grpc_proxy", "https_proxy", "http_proxy"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return true;
	}
	return false;
}

static struct transport_grpc *transport_grpc_alloc(const struct remote *remote, uint32_t in_flight)
{
	struct transport_grpc *grpc = xcalloc(1, sizeof(*grpc));

	if (!in_flight)
		in_flight = remote->loopback ? IN_FLIGHT_LOOPBACK : IN_FLIGHT_REMOTE;
	grpc->base = (struct transport){&transport_grpc_ops, in_flight + 1};
	grpc->remote = remote;
	grpc->proxied = !remote->loopback && environment_names_proxy();
	grpc->slots = xcalloc(grpc->base.slots, sizeof(*grpc->slots));
	grpc->reply = grpc_empty_slice();
	buf_init(&grpc->message);
	grpc->queue = grpc_completion_queue_create_for_next(NULL);
	return grpc;
}

int transport_grpc_new(struct transport **out_transport, const struct remote *remote,
		       uint32_t in_flight, struct err *err)
{
	struct transport_grpc *grpc;
	sigset_t before;
	int result = -1;

	/* The core prints errors that every failed call reports anyway. */
	setenv("GRPC_VERBOSITY", "NONE", 0);
	/* getaddrinfo() knows what other programs of this machine know; c-ares leaks, too. */
	setenv("GRPC_DNS_RESOLVER", "native", 0);
	block_signals(&before);
	grpc_init();
	grpc = transport_grpc_alloc(remote, in_flight);
	if (make_metadata(grpc, err) == 0 && channel_open(remote, &grpc->channel, err) == 0) {
		*out_transport = &grpc->base;
		result = 0;
	} else {
		err->kind = ERR_USAGE; /* also for a file that cannot be read */
		transport_grpc_free(&grpc->base);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

#include "result.h"

#include "digest.h"
#include "util/wire.h"

#include "buildbarn.pb-c.h"
#include "reapi.pb-c.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

/* ---- unpacking ---- */

static void *arena_adapter_alloc(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void arena_adapter_free(void *arena, void *memory)
{
	(void)arena;
	(void)memory;
}

/*
 * The message with only what `type` names, or NULL: malformed, or
 * arena->exhausted. Pruning works in place, so on a copy.
 */
static void *unpack(const ProtobufCMessageDescriptor *type, const uint8_t *data, size_t len,
		    struct arena *arena)
{
	ProtobufCAllocator allocator = {arena_adapter_alloc, arena_adapter_free, arena};
	uint8_t *copy = arena_alloc(arena, len ? len : 1);
	ptrdiff_t pruned;

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, data, len);
	pruned = wire_prune(type, copy, len);
	if (pruned < 0)
		return NULL;
	return protobuf_c_message_unpack(type, &allocator, (size_t)pruned, copy);
}

static int unpack_failed(const struct arena *arena, const char *what, struct err *err)
{
	if (arena->exhausted)
		return err_set(err, ERR_LIMIT, "%s unpacks to more than %zu bytes", what,
			       arena->limit);
	return err_set(err, ERR_FORMAT, "the bytes are not %s", what);
}

/* ---- values ---- */

/* protobuf-c gives an empty text a NULL pointer; ours means unknown by that. */
static struct str text_of(ProtobufCBinaryData bytes)
{
	return bytes.len ? (struct str){(const char *)bytes.data, bytes.len} : STR("");
}

/* Proto3 cannot tell an empty text from none. */
static struct str text_or_unknown(ProtobufCBinaryData bytes)
{
	return bytes.len ? text_of(bytes) : STR_NULL;
}

static int64_t nanoseconds(int64_t seconds, int32_t nanos)
{
	int64_t ns;

	if (nanos < 0 || nanos >= NS_PER_S || __builtin_mul_overflow(seconds, NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)nanos, &ns))
		return UNKNOWN;
	return ns;
}

/* A worker that never reached a stage sends no timestamp or an empty one. */
static int64_t timestamp_ns(const Reapi__Timestamp *time)
{
	if (!time || (time->seconds == 0 && time->nanos == 0))
		return UNKNOWN;
	return nanoseconds(time->seconds, time->nanos);
}

static int64_t duration_ns(const Reapi__Duration *duration)
{
	if (!duration || duration->seconds < 0)
		return UNKNOWN;
	return nanoseconds(duration->seconds, duration->nanos);
}

static struct digest digest_of(const Reapi__Digest *from)
{
	struct digest digest = {.hash_len = 0};
	char text[DIGEST_TEXT_MAX];
	int len;

	if (!from || !from->hash.len || from->hash.len > INT32_MAX)
		return digest;
	len = snprintf(text, sizeof(text), "%.*s:%" PRId64, (int)from->hash.len,
		       (const char *)from->hash.data, from->size_bytes);
	if (len > 0 && (size_t)len < sizeof(text))
		(void)digest_parse((struct str){text, (size_t)len}, &digest);
	return digest;
}

/* Upstream counts in uint64; a count that int64 does not hold is no count. */
static bool count_of(uint64_t from, int64_t *out_count)
{
	if (from > INT64_MAX)
		return false;
	*out_count = (int64_t)from;
	return true;
}

/* ---- auxiliary messages that we know ---- */

/*
 * Each takes one unpacked message. False: it says what cannot be, and is kept
 * as bytes instead.
 */
typedef bool take_fn(const void *message, struct arena *arena, struct result *result);

static bool take_posix(const void *message, struct arena *arena, struct result *result)
{
	const Buildbarn__POSIXResourceUsage *from = message;

	(void)arena;
	result->rusage = (struct rusage){
		.user_ns = duration_ns(from->user_time),
		.system_ns = duration_ns(from->system_time),
		.max_rss_bytes = from->maximum_resident_set_size > 0
					 ? from->maximum_resident_set_size
					 : UNKNOWN,
		.minor_faults = from->page_reclaims,
		.major_faults = from->page_faults,
		.swaps = from->swaps,
		.block_in = from->block_input_operations,
		.block_out = from->block_output_operations,
		.messages_sent = from->messages_sent,
		.messages_received = from->messages_received,
		.signals_received = from->signals_received,
		.voluntary_ctx = from->voluntary_context_switches,
		.involuntary_ctx = from->involuntary_context_switches,
		.termination_signal = text_or_unknown(from->termination_signal),
	};
	result->has_rusage = true;
	return true;
}

static bool take_file_pool(const void *message, struct arena *arena, struct result *result)
{
	const Buildbarn__FilePoolResourceUsage *from = message;
	struct file_pool_usage to;

	(void)arena;
	if (!count_of(from->files_created, &to.files_created) ||
	    !count_of(from->files_count_peak, &to.files_count_peak) ||
	    !count_of(from->files_size_bytes_peak, &to.files_bytes_peak) ||
	    !count_of(from->reads_count, &to.reads) ||
	    !count_of(from->reads_size_bytes, &to.read_bytes) ||
	    !count_of(from->writes_count, &to.writes) ||
	    !count_of(from->writes_size_bytes, &to.write_bytes) ||
	    !count_of(from->truncates_count, &to.truncates))
		return false;
	result->file_pool = to;
	result->has_file_pool = true;
	return true;
}

static bool take_input_root(const void *message, struct arena *arena, struct result *result)
{
	const Buildbarn__InputRootResourceUsage *from = message;
	struct input_root_usage to;

	(void)arena;
	if (!count_of(from->directories_resolved, &to.directories_resolved) ||
	    !count_of(from->directories_read, &to.directories_read) ||
	    !count_of(from->files_read, &to.files_read))
		return false;
	result->input_root = to;
	result->has_input_root = true;
	return true;
}

static bool take_request(const void *message, struct arena *arena, struct result *result)
{
	const Reapi__RequestMetadata *from = message;

	(void)arena;
	result->request = (struct request_metadata){
		.action_id = text_or_unknown(from->action_id),
		.tool_invocation_id = text_or_unknown(from->tool_invocation_id),
		.correlated_invocations_id = text_or_unknown(from->correlated_invocations_id),
		.action_mnemonic = text_or_unknown(from->action_mnemonic),
		.target_id = text_or_unknown(from->target_id),
		.configuration_id = text_or_unknown(from->configuration_id),
	};
	if (from->tool_details) {
		result->request.tool_name = text_or_unknown(from->tool_details->tool_name);
		result->request.tool_version = text_or_unknown(from->tool_details->tool_version);
	}
	result->has_request = true;
	return true;
}

static int compare_text(struct str a, struct str b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.data, b.data, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_entries(const void *a, const void *b)
{
	const Buildbarn__ExpenseEntry *const *x = a, *const *y = b;

	return compare_text(text_of((*x)->key), text_of((*y)->key));
}

static struct expense expense_of(const Buildbarn__ExpenseEntry *entry)
{
	struct expense expense = {text_of(entry->key), STR(""), 0};

	if (entry->value) {
		expense.currency = text_of(entry->value->currency);
		expense.cost = entry->value->cost;
	}
	return expense;
}

/* A map on the wire is a list in any order, and a well-made one names no key twice. */
static bool take_monetary(const void *message, struct arena *arena, struct result *result)
{
	const Buildbarn__MonetaryResourceUsage *from = message;
	size_t count = from->n_expenses;
	struct expense *to;
	size_t i;

	if (count)
		qsort(from->expenses, count, sizeof(*from->expenses), compare_entries);
	to = arena_alloc(arena, (count + 1) * sizeof(*to));
	if (!to)
		return false;
	for (i = 0; i < count; i++) {
		to[i] = expense_of(from->expenses[i]);
		if (isnan(to[i].cost) || (i && str_equal(to[i - 1].name, to[i].name)))
			return false;
	}
	result->expenses = to;
	result->expense_count = count;
	return true;
}

static const struct aux_type {
	const char *name;
	const ProtobufCMessageDescriptor *type;
	take_fn *take;
} aux_types[] = {
	{"build.bazel.remote.execution.v2.RequestMetadata", &reapi__request_metadata__descriptor,
	 take_request},
	{"buildbarn.resourceusage.POSIXResourceUsage", &buildbarn__posixresource_usage__descriptor,
	 take_posix},
	{"buildbarn.resourceusage.FilePoolResourceUsage",
	 &buildbarn__file_pool_resource_usage__descriptor, take_file_pool},
	{"buildbarn.resourceusage.InputRootResourceUsage",
	 &buildbarn__input_root_resource_usage__descriptor, take_input_root},
	{"buildbarn.resourceusage.MonetaryResourceUsage",
	 &buildbarn__monetary_resource_usage__descriptor, take_monetary},
};

#define AUX_TYPES (sizeof(aux_types) / sizeof(aux_types[0]))

/* ---- auxiliary messages, known or not ---- */

/* What follows the last '/': Any permits any prefix. */
static struct str type_name(ProtobufCBinaryData url)
{
	struct str text = text_of(url);
	size_t at = text.len;

	while (at && text.data[at - 1] != '/')
		at--;
	return (struct str){text.data + at, text.len - at};
}

/* Index in aux_types, or AUX_TYPES. */
static size_t find_aux_type(struct str name)
{
	size_t i;

	for (i = 0; i < AUX_TYPES; i++)
		if (str_is(name, aux_types[i].name))
			break;
	return i;
}

static bool take_aux(const Reapi__Any *any, size_t known, struct arena *arena,
		     struct result *result)
{
	const struct aux_type *type = &aux_types[known];
	const void *message = unpack(type->type, any->value.data, any->value.len, arena);

	return message && type->take(message, arena, result);
}

/* -1: the arena is exhausted. */
static int read_aux(Reapi__Any *const *list, size_t count, struct arena *arena,
		    struct result *result)
{
	bool taken[AUX_TYPES + 1] = {false};
	size_t i;

	result->aux = arena_alloc(arena, (count + 1) * sizeof(*result->aux));
	for (i = 0; i < count && !arena->exhausted; i++) {
		struct str name = type_name(list[i]->type_url);
		size_t known = find_aux_type(name);

		if (known < AUX_TYPES && !taken[known])
			taken[known] = take_aux(list[i], known, arena, result);
		else
			known = AUX_TYPES;
		if (!taken[known])
			result->aux[result->aux_count++] =
				(struct aux_message){name, text_of(list[i]->value)};
	}
	return arena->exhausted ? -1 : 0;
}

/* ---- the result ---- */

static void set_unknown(int64_t *values, size_t count)
{
	while (count)
		values[--count] = UNKNOWN;
}

static void result_init(struct result *result, enum result_source source)
{
	*result = (struct result){.source = source, .exit_code = UNKNOWN, .virtual_ns = UNKNOWN};
	set_unknown(result->time_ns, TIME_COUNT);
	result->rusage = (struct rusage){
		.user_ns = UNKNOWN,
		.system_ns = UNKNOWN,
		.max_rss_bytes = UNKNOWN,
		.minor_faults = UNKNOWN,
		.major_faults = UNKNOWN,
		.swaps = UNKNOWN,
		.block_in = UNKNOWN,
		.block_out = UNKNOWN,
		.messages_sent = UNKNOWN,
		.messages_received = UNKNOWN,
		.signals_received = UNKNOWN,
		.voluntary_ctx = UNKNOWN,
		.involuntary_ctx = UNKNOWN,
	};
	result->file_pool = (struct file_pool_usage){UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
						     UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
	result->input_root = (struct input_root_usage){UNKNOWN, UNKNOWN, UNKNOWN};
	result->output_files = result->output_directories = UNKNOWN;
}

static int read_metadata(const Reapi__ExecutedActionMetadata *from, struct arena *arena,
			 struct result *result)
{
	int64_t *times = result->time_ns;

	result->worker = text_or_unknown(from->worker);
	times[TIME_QUEUED] = timestamp_ns(from->queued_timestamp);
	times[TIME_WORKER_START] = timestamp_ns(from->worker_start_timestamp);
	times[TIME_WORKER_COMPLETED] = timestamp_ns(from->worker_completed_timestamp);
	times[TIME_FETCH_START] = timestamp_ns(from->input_fetch_start_timestamp);
	times[TIME_FETCH_COMPLETED] = timestamp_ns(from->input_fetch_completed_timestamp);
	times[TIME_EXECUTION_START] = timestamp_ns(from->execution_start_timestamp);
	times[TIME_EXECUTION_COMPLETED] = timestamp_ns(from->execution_completed_timestamp);
	times[TIME_UPLOAD_START] = timestamp_ns(from->output_upload_start_timestamp);
	times[TIME_UPLOAD_COMPLETED] = timestamp_ns(from->output_upload_completed_timestamp);
	result->virtual_ns = duration_ns(from->virtual_execution_duration);
	return read_aux(from->auxiliary_metadata, from->n_auxiliary_metadata, arena, result);
}

/* The exit code counts only beside a status of OK: a timeout has one of 0. */
static int read_action(const Reapi__ActionResult *from, struct arena *arena, struct result *result)
{
	if (result->status_code == 0)
		result->exit_code = from->exit_code;
	result->output_files = (int64_t)from->n_output_files;
	result->output_directories = (int64_t)from->n_output_directories;
	result->stdout_digest = digest_of(from->stdout_digest);
	result->stderr_digest = digest_of(from->stderr_digest);
	return from->execution_metadata ? read_metadata(from->execution_metadata, arena, result)
					: 0;
}

int result_parse_action(const uint8_t *data, size_t len, struct arena *arena,
			struct result *out_result, struct err *err)
{
	static const char what[] = "an ActionResult";
	const Reapi__ActionResult *from =
		unpack(&reapi__action_result__descriptor, data, len, arena);

	result_init(out_result, SOURCE_ACTION_CACHE);
	if (!from || read_action(from, arena, out_result) < 0)
		return unpack_failed(arena, what, err);
	return 0;
}

static int read_response(const Reapi__ExecuteResponse *from, struct arena *arena,
			 struct result *result)
{
	if (from->status) {
		result->status_code = from->status->code;
		result->status_message = text_or_unknown(from->status->message);
	}
	return from->result ? read_action(from->result, arena, result) : 0;
}

int result_parse_historical(const uint8_t *data, size_t len, struct arena *arena,
			    struct result *out_result, struct err *err)
{
	static const char what[] = "a HistoricalExecuteResponse";
	const Buildbarn__HistoricalExecuteResponse *from =
		unpack(&buildbarn__historical_execute_response__descriptor, data, len, arena);

	result_init(out_result, SOURCE_HISTORICAL);
	if (!from || !from->execute_response)
		return unpack_failed(arena, what, err);
	out_result->action_digest = digest_of(from->action_digest);
	if (read_response(from->execute_response, arena, out_result) < 0)
		return unpack_failed(arena, what, err);
	return 0;
}

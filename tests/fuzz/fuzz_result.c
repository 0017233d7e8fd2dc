/*
 * Any bytes as a result; the first byte chooses the message. Whatever decodes
 * must keep what result.h promises.
 */
#include "result.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

/* Reads every byte, so that a sanitizer sees one that is not ours. */
static void touch(struct str text)
{
	size_t i;

	if (!text.data && text.len)
		abort();
	for (i = 0; i < text.len; i++)
		sink = (unsigned char)text.data[i];
}

static void check_request(const struct request_metadata *request)
{
	const struct str texts[] = {
		request->tool_name,
		request->tool_version,
		request->action_id,
		request->tool_invocation_id,
		request->correlated_invocations_id,
		request->action_mnemonic,
		request->target_id,
		request->configuration_id,
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].data && !texts[i].len)
			abort(); /* an empty one is unknown */
		touch(texts[i]);
	}
}

static void check_lists(const struct result *result)
{
	size_t i;

	for (i = 0; i < result->expense_count; i++) {
		touch(result->expenses[i].name);
		touch(result->expenses[i].currency);
		if (i && str_equal(result->expenses[i - 1].name, result->expenses[i].name))
			abort();
	}
	for (i = 0; i < result->aux_count; i++) {
		if (!result->aux[i].type.data || !result->aux[i].bytes.data)
			abort();
		touch(result->aux[i].type);
		touch(result->aux[i].bytes);
	}
}

static void check(const struct result *result)
{
	size_t i;

	for (i = 0; i < TIME_COUNT; i++)
		if (result->time_ns[i] == 0)
			abort();
	if (result->status_code != 0 && result->exit_code != UNKNOWN)
		abort();
	if (!result->has_rusage && result->rusage.max_rss_bytes != UNKNOWN)
		abort();
	if (result->rusage.max_rss_bytes != UNKNOWN && result->rusage.max_rss_bytes <= 0)
		abort();
	touch(result->worker);
	touch(result->rusage.termination_signal);
	check_request(&result->request);
	check_lists(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	struct result result;
	struct err err = ERR_INIT;
	int status;

	if (!size)
		return 0;
	arena_init(&arena, (size_t)8 << 20);
	if (data[0] & 1)
		status = result_parse_historical(data + 1, size - 1, &arena, &result, &err);
	else
		status = result_parse_action(data + 1, size - 1, &arena, &result, &err);
	if (status == 0)
		check(&result);
	else if (!err.text[0])
		abort();
	arena_release(&arena);
	return 0;
}

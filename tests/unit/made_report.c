#include "made_report.h"

#include "made.h"
#include "scratch.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define S INT64_C(1000000000)
#define MIB (INT64_C(1) << 20)
/* 2026-11-30 00:00:00 */
#define DAY (INT64_C(1795996800) * S)

struct store *store;
static char *dir;

static void check(int result, const struct err *err)
{
	if (result < 0)
		fail_msg("%s", err->text);
}

/* ---- the database ---- */

/* All bytes of the hash are the number's low byte; above it, twins that differ at the end. */
static struct digest digest_of(unsigned number)
{
	struct digest digest = {.hash_len = 32, .function = DIGEST_SHA256, .size_bytes = 141};

	memset(digest.hash, (int)(number & 0xff), digest.hash_len);
	digest.hash[31] = (uint8_t)(digest.hash[31] ^ number >> 8);
	return digest;
}

static int64_t put_run(const char *trace, const char *project, const char *path, int64_t start_ns)
{
	struct run_facts facts = RUN_FACTS_INIT;
	struct sighting seen = {path, project, 2, "v2"};
	struct instance_choice choice = {"", "demo", "flag", true};
	struct err err = ERR_INIT;
	int64_t run_id;

	facts.trace_id = str_of(trace);
	facts.command = STR("build");
	facts.start_ns = start_ns;
	facts.duration_us = 600 * 1000000;
	facts.digest_function = DIGEST_SHA256;
	facts.complete = true;
	check(store_put_run(store, &facts, &seen, &run_id, &err), &err);
	check(store_put_instance(store, run_id, &choice, &err), &err);
	return run_id;
}

static void put_config(int64_t run_id, const char *section, const char *key, const char *value)
{
	struct config_value config = {STR_NULL, str_of(section), str_of(key), str_of(value), true};
	struct err err = ERR_INIT;

	check(store_put_config(store, run_id, &config, 1, &err), &err);
}

static void put_log(const char *path, const char *ending, uint64_t malformed)
{
	struct log_outcome outcome = {.path = path,
				      .bytes = 100,
				      .mtime_ns = DAY,
				      .ending = ending,
				      .records = 10,
				      .malformed = malformed};
	struct err err = ERR_INIT;

	check(store_put_log(store, &outcome, &err), &err);
}

struct made {
	unsigned digest; /* number, and span */
	const char *target, *category, *identifier;
	enum action_type type;
	enum attempt_status status;
	bool hit;
};

static void put_action(int64_t run_id, const struct made *made)
{
	struct attempt attempt = {
		.kind = ATTEMPT_REMOTE,
		.status = made->status,
		.digest = digest_of(made->digest),
		.cache_hit = made->hit,
		.cache_hit_type = made->hit ? HIT_ACTION_CACHE : HIT_EXECUTED,
		.exit_code = made->status == STATUS_SUCCESS ? 0 : 2,
		.queue_us = 250000,
		.wall_us = 1500000,
		.execution_us = UNKNOWN,
		.start_ns = DAY,
		.input_us = UNKNOWN,
		.server_queue_us = UNKNOWN,
		.memory_peak_bytes = UNKNOWN,
	};
	struct action action = {
		.type = made->type,
		.name = {STR("root//package/p"), str_of(made->target), str_of(made->category),
			 str_of(made->identifier), STR("cfg")},
		.kind = 2,
		.execution_kind = UNKNOWN,
		.failed = made->status != STATUS_SUCCESS,
		.wall_us = 1500000,
		.duration_us = 1500000,
		.output_bytes = UNKNOWN,
		.input_bytes = UNKNOWN,
		.upload_result = UNKNOWN,
		.dep_file_upload_result = UNKNOWN,
		.scheduling_mode = UNKNOWN,
		.attempts = &attempt,
		.attempt_count = 1,
	};
	struct err err = ERR_INIT;

	if (made->status != STATUS_SUCCESS) {
		attempt.stderr_text = STR("cc: \x1b[31mbad\nline two\n");
		attempt.additional_message = STR(
			"Action details (uncached result): http://h/demo/blobs/sha256/"
			"historical_execute_response/"
			"abababababababababababababababababababababababababababababababab-710/");
	}
	check(store_put_action(store, run_id, made->digest, made->digest, DAY, &action, &err),
	      &err);
}

struct usage {
	unsigned digest;
	int64_t wall_ns, cpu_ns, max_rss_bytes;
	const char *signal, *executed_by;
};

static struct result result_of(const struct usage *usage)
{
	struct result result = {
		.source = SOURCE_ACTION_CACHE,
		.worker = STR("{\"pool\":\"shared\",\"slot\":\"worker-shared-5b6dd8dff9-2bv88\"}"),
		.virtual_ns = usage->wall_ns,
		.has_rusage = true,
		.has_request = true,
		.rusage = {.user_ns = usage->cpu_ns,
			   .max_rss_bytes = usage->max_rss_bytes,
			   .major_faults = 3,
			   .termination_signal = str_of(usage->signal)},
		.request = {.tool_name = STR("buck2"),
			    .tool_invocation_id = str_of(usage->executed_by)},
	};
	int i;

	for (i = 0; i < TIME_COUNT; i++)
		result.time_ns[i] = DAY + i * S / 2;
	return result;
}

static void put_usage(const struct usage *usage)
{
	struct digest digest = digest_of(usage->digest);
	struct result result = result_of(usage);
	struct err err = ERR_INIT;
	enum lookup_state state;
	int64_t lookup_id;

	check(store_find_lookup(store, "", "demo", &digest, &lookup_id, &state, &err), &err);
	check(store_put_result(store, lookup_id, &result, &err), &err);
}

static void put_state(unsigned number, enum lookup_state wanted)
{
	struct digest digest = digest_of(number);
	struct err err = ERR_INIT;
	enum lookup_state state;
	int64_t lookup_id;

	check(store_find_lookup(store, "", "demo", &digest, &lookup_id, &state, &err), &err);
	check(store_put_state(store, lookup_id, wanted, NULL, &err), &err);
}

/* Buck2's own entry: a worker's times and usage are unknown. */
static void put_uploaded(unsigned number)
{
	struct digest digest = digest_of(number);
	struct result result = {.source = SOURCE_ACTION_CACHE, .virtual_ns = 2 * S};
	struct err err = ERR_INIT;
	enum lookup_state state;
	int64_t lookup_id;
	int i;

	for (i = 0; i < TIME_COUNT; i++)
		result.time_ns[i] = UNKNOWN;
	check(store_find_lookup(store, "", "demo", &digest, &lookup_id, &state, &err), &err);
	check(store_put_result(store, lookup_id, &result, &err), &err);
}

/* Run A waited for a load, then for an action of each of two packages. */
static void put_path(int64_t run_id)
{
	struct path_step steps[] = {
		{.kind = STEP_LOAD, .detail = STR("root//package/p"), .duration_us = 500000},
		{.kind = STEP_ACTION, .span_id = 2, .duration_us = 2500000},
		{.kind = STEP_ACTION, .span_id = 1, .duration_us = 401000000},
	};
	struct build_graph graph = {.nodes = 9, .paths = {[PATH_CRITICAL] = {steps, 3}}};
	struct err err = ERR_INIT;

	steps[1].name.target = STR("zlib");
	steps[2].name.target = STR("gcc");
	steps[1].name.buck_package = steps[2].name.buck_package = STR("root//package/p");
	check(store_put_graph(store, run_id, 100, &graph, &err), &err);
}

#define TRACE_OLD "00000000-0000-4000-8000-000000000000"

static void fill(void)
{
	static const struct made of_a[] = {
		{1, "gcc", "br2_package", "host-gcc", ACTION_RUN, STATUS_SUCCESS, false},
		{2, "zlib", "br2_package", "zlib", ACTION_RUN, STATUS_SUCCESS, false},
		{3, "cmake", "br2_package", "host-cmake", ACTION_RUN, STATUS_SUCCESS, true},
		{4, "bad", "br2_package", "bad", ACTION_RUN, STATUS_FAILURE, false},
		{5, "gone", "br2_package", "gone", ACTION_RUN, STATUS_SUCCESS, true},
		{6, "local", "br2_package", "local", ACTION_RUN, STATUS_SUCCESS, true},
		{7, "check", "", "", ACTION_TEST, STATUS_SUCCESS, false},
	};
	static const struct made of_b = {8,	     "tool",	     "br2_slice", "tool",
					 ACTION_RUN, STATUS_SUCCESS, false};
	static const struct made of_c[] = {
		{0xa1, "other", "br2_package", "other", ACTION_RUN, STATUS_SUCCESS, false},
		{0x102, "twin", "br2_package", "twin", ACTION_RUN, STATUS_SUCCESS, false},
	};
	static const struct usage usages[] = {
		{1, 400 * S, 800 * S, 1024 * MIB, NULL, TRACE_A},
		{2, 2 * S, S, 64 * MIB, NULL, TRACE_A},
		{3, 30 * S, 30 * S, 256 * MIB, NULL, TRACE_OLD},
		{7, S, S / 2, 32 * MIB, "KILL", TRACE_A},
		{8, 4 * S, 4 * S, UNKNOWN, NULL, TRACE_B},
		{0xa1, S, S, 32 * MIB, NULL, TRACE_C},
	};
	int64_t a = put_run(TRACE_A, "demo", LOG_A, DAY);
	int64_t b = put_run(TRACE_B, "demo", LOG_B, DAY + 1000 * S);
	int64_t c = put_run(TRACE_C, "demo2", LOG_C, DAY + 2000 * S);
	size_t i;

	put_config(a, "br2", "cache_salt", "wrapped-remote-0112030");
	put_config(b, "buck2_re_client", "instance_name", "demo-remote-wrapped-dev");
	for (i = 0; i < sizeof(of_a) / sizeof(*of_a); i++)
		put_action(a, &of_a[i]);
	put_path(a);
	put_action(b, &of_b);
	put_action(c, &of_c[0]);
	put_action(c, &of_c[1]);
	for (i = 0; i < sizeof(usages) / sizeof(*usages); i++)
		put_usage(&usages[i]);
	put_state(5, STATE_NOT_FOUND);
	put_uploaded(6);
	put_log(LOG_A, "whole", 0);
	put_log(LOG_B, "broken", 2);
	put_log(LOG_C, "whole", 0);
}

int made_report_setup(void **state)
{
	struct err err = ERR_INIT;
	char *path;

	(void)state;
	dir = scratch_new();
	path = scratch_path(dir, "br2.db");
	store = made_open(path, STORE_WRITE);
	free(path);
	check(store_begin(store, &err), &err);
	fill();
	check(store_commit(store, &err), &err);
	return 0;
}

int made_report_teardown(void **state)
{
	(void)state;
	store_close(store);
	scratch_remove(dir);
	return 0;
}

void check_has(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	/* cmocka's own messages are cut. */
	fprintf(stderr, "no '%s' in:\n%s", part, text);
	fail();
}

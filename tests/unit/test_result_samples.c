/*
 * The recorded results of tests/data/logs, decoded, against what an independent
 * program made of them (expected.json of each sample).
 */
#include "result.h"

#include "digest.h"
#include "util/base64.h"
#include "util/mem.h"
#include "util/unpack.h"

#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#define LOGS TEST_DATA "/logs"

static const char *const samples[] = {"demo-x86_64", "failures", "flaky",     "cells",
				      "cells-lost",  "cut",	 "encodings", NULL};

/* "INSTANCE DIGEST" and "DIGEST" -> base64 */
static json_t *action_results, *blobs;

/* ---- reading ---- */

static void read_packed(const char *path, struct buf *out)
{
	struct unpack *unpack;
	struct err err = ERR_INIT;
	struct unpack_block block;
	int fd = open(path, O_RDONLY), more;

	assert_true(fd >= 0);
	assert_int_equal(unpack_open(&unpack, fd, path, &err), 0);
	do {
		more = unpack_next(unpack, 1 << 16, &block, &err);
		buf_add(out, block.data, block.len);
	} while (more > 0);
	assert_int_equal(unpack_ending(unpack), UNPACK_WHOLE);
	unpack_free(unpack);
}

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	assert_non_null(value);
	return value;
}

static void add_line(json_t *map, const json_t *line, bool by_instance, const char *value)
{
	char *key = by_instance ? xasprintf("%s %s", text(line, "instance"), text(line, "digest"))
				: xstrdup(text(line, "digest"));

	json_object_set(map, key, json_object_get(line, value));
	free(key);
}

static json_t *read_lines(const char *path, bool by_instance, const char *value)
{
	struct buf file = BUF_INIT;
	json_t *map = json_object();
	char *at, *end;

	read_packed(path, &file);
	for (at = file.data; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		json_t *line = json_loadb(at, (size_t)(end - at), 0, NULL);

		assert_non_null(line);
		add_line(map, line, by_instance, value);
		json_decref(line);
	}
	buf_release(&file);
	return map;
}

static int setup(void **state)
{
	(void)state;
	action_results = read_lines(LOGS "/cache/action_results.jsonl.gz", true, "action_result");
	blobs = read_lines(LOGS "/cache/blobs.jsonl.gz", false, "data");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(action_results);
	json_decref(blobs);
	return 0;
}

static json_t *read_expected(const char *sample)
{
	char *path = xasprintf(LOGS "/%s/expected.json", sample);
	json_t *expected = json_load_file(path, 0, NULL);

	assert_non_null(expected);
	free(path);
	return expected;
}

static void decode(const json_t *map, const char *key, struct buf *out)
{
	const char *base64 = text(map, key);

	assert_int_equal(base64_decode(base64, strlen(base64), out), 0);
}

/* ---- comparing ---- */

/* A member that is absent or null is unknown. */
static void assert_number(const json_t *want, const char *name, int64_t got)
{
	const json_t *value = json_object_get(want, name);
	int64_t number = json_is_integer(value) ? json_integer_value(value) : UNKNOWN;

	if (number != got)
		fail_msg("%s of %s: %lld, want %lld", name, text(want, "digest"), (long long)got,
			 (long long)number);
}

static void assert_text(const json_t *want, const char *name, struct str got)
{
	const char *value = json_string_value(json_object_get(want, name));

	if (value && *value ? !str_is(got, value) : got.data != NULL)
		fail_msg("%s of %s: %.*s", name, text(want, "digest"), (int)got.len, got.data);
}

static void assert_times(const json_t *want, const struct result *result)
{
	static const char *const names[TIME_COUNT] = {
		"queued",
		"worker_start",
		"worker_completed",
		"input_fetch_start",
		"input_fetch_completed",
		"execution_start",
		"execution_completed",
		"output_upload_start",
		"output_upload_completed",
	};
	const json_t *times = json_object_get(want, "times_ns");
	size_t i;

	assert_int_equal(json_object_size(times), TIME_COUNT);
	for (i = 0; i < TIME_COUNT; i++) {
		int64_t time = json_integer_value(json_object_get(times, names[i]));

		/* There 0 is written for none. */
		assert_true(result->time_ns[i] == (time ? time : UNKNOWN));
	}
}

static int64_t wall_ns(const struct result *result)
{
	if (result->virtual_ns != UNKNOWN)
		return result->virtual_ns;
	return result->time_ns[TIME_EXECUTION_COMPLETED] - result->time_ns[TIME_EXECUTION_START];
}

static void assert_usage(const json_t *want, const struct rusage *usage)
{
	assert_number(want, "user_ns", usage->user_ns);
	assert_number(want, "system_ns", usage->system_ns);
	assert_number(want, "max_rss_bytes", usage->max_rss_bytes);
	assert_number(want, "minor_faults", usage->minor_faults);
	assert_number(want, "major_faults", usage->major_faults);
	assert_number(want, "block_in", usage->block_in);
	assert_number(want, "block_out", usage->block_out);
	assert_number(want, "voluntary_ctx", usage->voluntary_ctx);
	assert_number(want, "involuntary_ctx", usage->involuntary_ctx);
	assert_text(want, "termination_signal", usage->termination_signal);
}

/* That program kept the file pool's message, always empty here, as an unknown one. */
static void assert_aux(const json_t *want, const struct result *result)
{
	size_t others = json_array_size(json_object_get(want, "other_aux"));

	assert_int_equal(result->aux_count, 0);
	assert_int_equal(result->has_file_pool, others == 1);
}

static void assert_result(const json_t *want, const struct result *result)
{
	assert_number(want, "wall_ns", wall_ns(result));
	assert_number(want, "exit_code", result->exit_code);
	assert_text(want, "worker", result->worker);
	assert_text(want, "invocation_id", result->request.tool_invocation_id);
	assert_times(want, result);
	assert_int_equal(result->has_rusage, json_object_get(want, "user_ns") != NULL);
	assert_usage(want, &result->rusage);
	assert_aux(want, result);
}

/* ---- the samples ---- */

static size_t check_cached(const json_t *expected, struct arena *arena)
{
	const char *instance = text(expected, "instance");
	const json_t *want;
	size_t index, checked = 0;

	json_array_foreach(json_object_get(expected, "results"), index, want)
	{
		const char *source = json_string_value(json_object_get(want, "source"));
		struct buf bytes = BUF_INIT;
		struct result result;
		struct err err;
		char *key;

		if (!source || strcmp(source, "action_cache") != 0)
			continue;
		key = xasprintf("%s %s", instance, text(want, "digest"));
		decode(action_results, key, &bytes);
		arena_reset(arena);
		assert_int_equal(result_parse_action((const uint8_t *)bytes.data, bytes.len, arena,
						     &result, &err),
				 0);
		assert_result(want, &result);
		free(key);
		buf_release(&bytes);
		checked++;
	}
	return checked;
}

static void test_cached(void **state)
{
	static const size_t counts[] = {1772, 3, 2, 121, 60, 1, 69};
	struct arena arena;
	size_t i;

	(void)state;
	arena_init(&arena, RESULT_ARENA_MAX);
	for (i = 0; samples[i]; i++) {
		json_t *expected = read_expected(samples[i]);

		assert_int_equal(check_cached(expected, &arena), counts[i]);
		json_decref(expected);
	}
	arena_release(&arena);
}

static void check_link(const json_t *attempt, struct arena *arena)
{
	json_t *want = json_object_get(attempt, "usage");
	char digest[DIGEST_TEXT_MAX];
	struct buf bytes = BUF_INIT;
	struct result result;
	struct err err;

	json_object_set(want, "digest", json_object_get(attempt, "digest"));
	decode(blobs, text(attempt, "link"), &bytes);
	arena_reset(arena);
	assert_int_equal(result_parse_historical((const uint8_t *)bytes.data, bytes.len, arena,
						 &result, &err),
			 0);
	digest_format(&result.action_digest, digest);
	assert_string_equal(digest, text(attempt, "digest"));
	assert_number(want, "status_code", result.status_code);
	assert_result(want, &result);
	buf_release(&bytes);
}

static void test_historical(void **state)
{
	static const size_t counts[] = {0, 9, 3, 0, 0, 0, 0};
	struct arena arena;
	size_t i, index;

	(void)state;
	arena_init(&arena, RESULT_ARENA_MAX);
	for (i = 0; samples[i]; i++) {
		json_t *expected = read_expected(samples[i]), *attempt;

		json_array_foreach(json_object_get(expected, "historical"), index, attempt)
			check_link(attempt, &arena);
		assert_int_equal(index, counts[i]);
		json_decref(expected);
	}
	arena_release(&arena);
}

/* Also those that no sample's log refers to. */
static void test_all_decode(void **state)
{
	struct arena arena;
	const char *key;
	json_t *value;
	size_t count = 0;

	(void)state;
	arena_init(&arena, RESULT_ARENA_MAX);
	json_object_foreach(action_results, key, value)
	{
		struct buf bytes = BUF_INIT;
		struct result result;
		struct err err;

		(void)value;
		decode(action_results, key, &bytes);
		arena_reset(&arena);
		assert_int_equal(result_parse_action((const uint8_t *)bytes.data, bytes.len, &arena,
						     &result, &err),
				 0);
		assert_int_equal(result.aux_count, 0);
		assert_true(wall_ns(&result) >= 0);
		buf_release(&bytes);
		count++;
	}
	assert_int_equal(count, 1904);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cached),
		cmocka_unit_test(test_historical),
		cmocka_unit_test(test_all_decode),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

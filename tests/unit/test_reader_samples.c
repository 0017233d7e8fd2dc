/* The real samples -> events, with the counts that an independent program found in them. */
#include "decode_testing.h"
#include "reader.h"
#include "scratch.h"
#include "util/mem.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include <jansson.h>

#include <cmocka.h>

#define LOGS TEST_DATA "/logs"

#define OPEN_MAX 2048

struct open_action {
	uint64_t span_id;
	int64_t start_ns;
	char label[128], digest[160];
};

struct counts {
	int64_t actions, tests, attempts, cache_hits, failed, historical_links, remote_digests;
	int64_t argc, start_ns;
	int64_t by_kind[16];
	bool complete;
	char trace_id[64], working_dir[256];
	json_t *config;
	struct open_action open[OPEN_MAX];
	size_t open_count;
};

static void copy_text(char *out, size_t size, struct str text)
{
	snprintf(out, size, "%.*s", (int)text.len, text.data ? text.data : "");
}

static struct open_action *find_open(struct counts *counts, uint64_t span_id)
{
	size_t i;

	for (i = 0; i < counts->open_count; i++)
		if (counts->open[i].span_id == span_id)
			return &counts->open[i];
	return NULL;
}

static void note_start(struct counts *counts, const struct event *event)
{
	struct open_action *open = &counts->open[counts->open_count++];

	assert_in_range(counts->open_count, 1, OPEN_MAX);
	open->span_id = event->span_id;
	open->start_ns = event->time_ns;
	snprintf(open->label, sizeof(open->label), "%.*s:%.*s",
		 (int)event->action.name.buck_package.len, event->action.name.buck_package.data,
		 (int)event->action.name.target.len, event->action.name.target.data);
	open->digest[0] = '\0';
}

static void note_stage(struct counts *counts, const struct event *event)
{
	struct open_action *open = find_open(counts, event->parent_id);
	const struct digest *digest = &event->stage.digest;
	size_t i;

	assert_non_null(open);
	for (i = 0; i < digest->hash_len; i++)
		snprintf(open->digest + 2 * i, 3, "%02x", digest->hash[i]);
	snprintf(open->digest + 2 * i, 24, ":%" PRId64, digest->size_bytes);
}

static void note_close(struct counts *counts, uint64_t span_id)
{
	struct open_action *open = find_open(counts, span_id);

	if (open)
		*open = counts->open[--counts->open_count];
}

static void note_end(struct counts *counts, const struct event *event)
{
	const struct action *action = &event->action;
	size_t i;

	if (action->type == ACTION_RUN) {
		counts->actions++;
		counts->failed += action->failed;
		assert_in_range(action->execution_kind, 0, 15);
		counts->by_kind[action->execution_kind]++;
	} else {
		counts->tests++;
	}
	for (i = 0; i < action->attempt_count; i++) {
		const struct attempt *attempt = &action->attempts[i];
		char message[1024];

		counts->attempts++;
		counts->cache_hits += attempt->cache_hit;
		counts->remote_digests +=
			attempt->kind == ATTEMPT_REMOTE && attempt->digest.hash_len != 0;
		copy_text(message, sizeof(message), attempt->additional_message);
		counts->historical_links +=
			strstr(message, "/historical_execute_response/") != NULL;
	}
	note_close(counts, event->span_id);
}

static void note_config(struct counts *counts, const struct event *event)
{
	size_t i;

	for (i = 0; i < event->config_count; i++) {
		const struct config_value *value = &event->config[i];
		char *name;

		if (!value->is_cli)
			continue;
		name = xasprintf("%.*s.%.*s", (int)value->section.len, value->section.data,
				 (int)value->key.len, value->key.data);
		json_object_set_new(counts->config, name,
				    json_stringn(value->value.data, value->value.len));
		free(name);
	}
}

/* A reader leaves starts and stages to those who need more than their heads. */
static void note_start_or_stage(struct counts *counts, const struct event *head)
{
	struct event *event;
	struct decoder *decoder = decode_rest(head, &event);

	if (event->kind == EVENT_STAGE)
		note_stage(counts, event);
	else
		note_start(counts, event);
	decoder_free(decoder);
}

static void note_event(struct counts *counts, const struct event *event)
{
	switch (event->kind) {
	case EVENT_INVOCATION:
		assert_int_equal(event->seq, 1);
		counts->argc = (int64_t)event->invocation.argc;
		counts->start_ns = event->invocation.start_ns;
		copy_text(counts->trace_id, sizeof(counts->trace_id), event->trace_id);
		copy_text(counts->working_dir, sizeof(counts->working_dir),
			  event->invocation.working_dir);
		break;
	case EVENT_CONFIG:
		note_config(counts, event);
		break;
	case EVENT_ACTION_START:
	case EVENT_STAGE:
		note_start_or_stage(counts, event);
		break;
	case EVENT_ACTION_END:
		note_end(counts, event);
		break;
	case EVENT_SPAN_CANCELLED:
		break; /* as expected.json counts: it did not end */
	case EVENT_COMMAND_RESULT:
		counts->complete = true;
		break;
	case EVENT_NONE:
		fail();
		break;
	case EVENT_COMMAND_START:
	case EVENT_COMMAND_END:
	case EVENT_REVISION:
	case EVENT_BUILD_GRAPH:
		break;
	}
}

static void count_file(const char *path, struct counts *counts)
{
	int fd = open(path, O_RDONLY);
	struct log_reader *reader;
	const struct event *event;
	struct err err = ERR_INIT;

	counts->config = json_object();
	assert_int_equal(log_reader_open(&reader, fd, path, true, &err), 0);
	while (log_reader_next(reader, &event, &err) > 0)
		note_event(counts, event);
	assert_int_equal(log_reader_tally(reader)->malformed, 0);
	assert_int_equal(log_reader_tally(reader)->too_large, 0);
	assert_int_equal(log_reader_ending(reader),
			 strstr(path, "/cut/") ? STREAM_CUT : STREAM_WHOLE);
	log_reader_free(reader);
}

/* ---- against expected.json ---- */

/* expected.json was made with floating point: times are good to a microsecond. */
static void expect_near(int64_t ns, int64_t expected)
{
	assert_true(ns - expected < 1000 && expected - ns < 1000);
}

static void expect_number(const json_t *run, const char *name, int64_t value)
{
	if (json_integer_value(json_object_get(run, name)) != value)
		fail_msg("%s: %s is %" PRId64, json_string_value(json_object_get(run, "file")),
			 name, value);
}

static void expect_kinds(const json_t *run, const struct counts *counts)
{
	static const char *const names[16] = {
		[1] = "local",
		[2] = "remote",
		[3] = "action_cache",
		[4] = "simple",
	};
	const json_t *kinds = json_object_get(run, "execution_kinds");
	size_t i, known = 0;

	for (i = 0; i < 16; i++) {
		if (!counts->by_kind[i])
			continue;
		assert_non_null(names[i]);
		expect_number(kinds, names[i], counts->by_kind[i]);
		known++;
	}
	assert_int_equal(known, json_object_size(kinds));
}

static void expect_in_flight(const json_t *run, const struct counts *counts)
{
	const json_t *list = json_object_get(run, "in_flight");
	size_t i;

	assert_int_equal(counts->open_count, json_array_size(list));
	for (i = 0; i < counts->open_count; i++) {
		const json_t *one = json_array_get(list, i);

		assert_string_equal(counts->open[i].label,
				    json_string_value(json_object_get(one, "label")));
		assert_string_equal(counts->open[i].digest,
				    json_string_value(json_object_get(one, "digest")));
		expect_near(counts->open[i].start_ns,
			    json_integer_value(json_object_get(one, "start_ns")));
	}
}

static void expect_run(const json_t *run, struct counts *counts)
{
	expect_number(run, "actions", counts->actions);
	expect_number(run, "tests", counts->tests);
	expect_number(run, "attempts", counts->attempts);
	expect_number(run, "cache_hits", counts->cache_hits);
	expect_number(run, "failed", counts->failed);
	expect_number(run, "historical_links", counts->historical_links);
	expect_number(run, "remote_digests", counts->remote_digests);
	expect_number(run, "argc", counts->argc);
	expect_near(counts->start_ns, json_integer_value(json_object_get(run, "start_ns")));
	assert_string_equal(counts->trace_id, json_string_value(json_object_get(run, "trace_id")));
	assert_string_equal(counts->working_dir,
			    json_string_value(json_object_get(run, "working_dir")));
	assert_int_equal(counts->complete, json_is_true(json_object_get(run, "complete")));
	assert_true(json_equal(counts->config, json_object_get(run, "config")));
	expect_kinds(run, counts);
	expect_in_flight(run, counts);
}

/* The file of that name in or below `dir`. Caller frees. */
static char *find_file(const char *dir, const char *name)
{
	char *const roots[] = {(char *)(uintptr_t)dir, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	char *path = NULL;

	while (!path && (entry = fts_read(walk)) != NULL)
		if (entry->fts_info == FTS_F && strcmp(entry->fts_name, name) == 0)
			path = xstrdup(entry->fts_path);
	fts_close(walk);
	assert_non_null(path);
	return path;
}

static size_t expect_sample(const char *dir)
{
	char *path = xasprintf("%s/expected.json", dir);
	json_t *expected = json_load_file(path, 0, NULL);
	const json_t *runs = json_object_get(expected, "runs");
	size_t i, count = json_array_size(runs);

	assert_true(count > 0);
	for (i = 0; i < count; i++) {
		const json_t *run = json_array_get(runs, i);
		char *file = find_file(dir, json_string_value(json_object_get(run, "file")));
		struct counts *counts = xcalloc(1, sizeof(*counts));

		count_file(file, counts);
		expect_run(run, counts);
		json_decref(counts->config);
		free(counts);
		free(file);
	}
	json_decref(expected);
	free(path);
	return count;
}

static void test_samples(void **state)
{
	static const char *const samples[] = {
		LOGS "/demo-x86_64", LOGS "/failures",	 LOGS "/flaky",	    LOGS "/cut",
		LOGS "/cells",	     LOGS "/cells-lost", LOGS "/encodings",
	};
	size_t i, runs = 0;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		runs += expect_sample(samples[i]);
	assert_int_equal(runs, 29);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "made.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers and texts out of a key ---- */

static uint64_t roll(uint64_t a, uint64_t b)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b;

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Texts live until the next ones of the same place. */
static struct str text(char *place, size_t size, const char *word, uint64_t number)
{
	snprintf(place, size, "%s-%llu", word, (unsigned long long)number);
	return str_of(place);
}

static void check(int result, const struct err *err)
{
	if (result < 0)
		fail_msg("%s", err->text);
}

/* ---- one log ---- */

enum { DIGESTS = 40, NAMES = 24, SPAN_RECORDS = 3, FIRST_SPAN = 5, FIRST_BLOB = 1000 };

struct log_state {
	struct store *store;
	const struct made_log *log;
	int64_t run_id;
	unsigned open_records; /* of the slice */
	bool in_slice;
	char path[64], project[32], trace[32];
};

static bool links_seen(unsigned run, unsigned records)
{
	return run % 4 != 3 && records > 60;
}

static void begin(struct log_state *state)
{
	struct err err = ERR_INIT;

	if (state->in_slice)
		return;
	check(store_begin(state->store, &err), &err);
	state->in_slice = true;
	state->open_records = 0;
}

static void end(struct log_state *state)
{
	struct err err = ERR_INIT;

	if (state->in_slice)
		check(store_commit(state->store, &err), &err);
	state->in_slice = false;
}

static void put_facts(struct log_state *state, const struct run_facts *facts)
{
	const struct made_log *log = state->log;
	struct run_facts whole = *facts;
	struct err err = ERR_INIT;
	struct sighting sighting = {
		.path = state->path,
		.project = state->project,
		.project_rank = (int)(log->copy % 3),
		.isolation_dir = log->copy % 2 ? NULL : "v2",
	};

	begin(state);
	whole.trace_id = str_of(state->trace);
	check(store_put_run(state->store, &whole, &sighting, &state->run_id, &err), &err);
}

/* Runs 6 and 7 begin at one time, run 5 at none that is known. */
static int64_t start_of(unsigned run)
{
	if (run % 8 == 5)
		return UNKNOWN;
	return INT64_C(1796000000000000000) +
	       (int64_t)(roll(run % 8 == 7 ? run - 1 : run, 1) % 1000000) * 1000000;
}

static void put_head(struct log_state *state)
{
	struct run_facts facts = RUN_FACTS_INIT;
	struct config_value values[] = {
		{STR_NULL, STR("br2"), STR("cache_salt"), STR("early"), true},
		{STR("root"), STR("a"), STR("b"), STR(""), true},
		{STR_NULL, STR("br2"), STR("cache_salt"), STR("wrapped-remote-0112030"), true},
	};
	struct instance_choice choice = {"", "made/first", ".buckconfig", false};
	struct err err = ERR_INIT;

	facts.command = STR("build");
	facts.argv_json = STR("[\"buck2\"]");
	facts.host = STR("host-1");
	facts.digest_function = DIGEST_SHA256;
	facts.start_ns = start_of(state->log->run);
	put_facts(state, &facts);
	check(store_put_config(state->store, state->run_id, values, 3, &err), &err);
	check(store_put_instance(state->store, state->run_id, &choice, &err), &err);
}

/* ---- actions ---- */

struct made_action {
	struct action action;
	struct attempt attempts[2];
	char texts[12][48];
	struct property property;
};

static void make_digest(struct digest *out, uint64_t number)
{
	size_t i;

	memset(out, 0, sizeof(*out));
	out->hash_len = 32;
	out->function = DIGEST_SHA256;
	out->size_bytes = 100 + (int64_t)number;
	for (i = 0; i < out->hash_len; i++)
		out->hash[i] = (uint8_t)roll(number, i);
}

/* Of a digest three executions, so that several attempts link the same one. */
static uint64_t blob_of(uint64_t key)
{
	return FIRST_BLOB + key % DIGESTS * 3 + key % 3;
}

static void make_attempt(struct made_action *made, size_t at, uint64_t key)
{
	struct attempt *attempt = &made->attempts[at];
	bool remote = at == 0 && key % 5 != 4;

	*attempt = (struct attempt){
		.kind = remote ? ATTEMPT_REMOTE : ATTEMPT_LOCAL,
		.status = key % 7 == 3 && at == 0 ? STATUS_FAILURE : STATUS_SUCCESS,
		.cache_hit = key % 2,
		.cache_hit_type = remote ? HIT_ACTION_CACHE : UNKNOWN,
		.exit_code = key % 7 == 3 && at == 0 ? 1 : 0,
		.queue_us = key % 3 ? (int64_t)(key % 1000) : UNKNOWN,
		.wall_us = (int64_t)(key % 100000),
		.execution_us = (int64_t)(key % 90000),
		.start_ns = INT64_C(1796000000000000000) + (int64_t)(key % 1000000000),
		.input_us = UNKNOWN,
		.server_queue_us = UNKNOWN,
		.memory_peak_bytes = remote ? UNKNOWN : 4096,
		.use_case = STR("buck2-default"),
		.properties = &made->property,
		.property_count = 1,
	};
	made->property = (struct property){STR("OSFamily"), STR("linux")};
	make_digest(&attempt->digest, key % DIGESTS);
	if (attempt->status != STATUS_SUCCESS) {
		attempt->stderr_text = text(made->texts[7], 48, "cc: fatal", key % DIGESTS);
		attempt->additional_message = STR("Action details (uncached result): …");
		if (remote)
			make_digest(&attempt->historical, blob_of(key));
	}
}

/* Action `index` of a run: of a few names, of a few digests, some failed at first. */
static void make_action(struct made_action *made, unsigned run, unsigned index)
{
	uint64_t key = roll(run, 1000 + index), name = key % NAMES;
	struct action *action = &made->action;
	bool fails;

	memset(made, 0, sizeof(*made));
	make_attempt(made, 0, key);
	fails = made->attempts[0].status != STATUS_SUCCESS;
	if (fails)
		make_attempt(made, 1, key);
	*action = (struct action){
		.type = index % 13 == 12 ? ACTION_TEST : ACTION_RUN,
		.kind = 2,
		.execution_kind = 1,
		.failed = fails && key % 2,
		.wall_us = (int64_t)(key % 100000),
		.duration_us = (int64_t)(key % 200000),
		.output_bytes = (int64_t)(key % 5000),
		.input_bytes = UNKNOWN,
		.upload_result = UNKNOWN,
		.dep_file_upload_result = UNKNOWN,
		.scheduling_mode = UNKNOWN,
		.rule_type = STR("br2_package"),
		.host = name % 2 ? STR("host-1") : STR("host-2"),
		.attempts = made->attempts,
		.attempt_count = fails ? 2 : 1,
	};
	action->name.buck_package = text(made->texts[0], 48, "root//package/p", name % 5);
	action->name.target = text(made->texts[1], 48, "t", name % 7);
	action->name.category = STR("br2_slice");
	action->name.identifier = text(made->texts[2], 48, "i", name);
	action->name.configuration = STR("cfg");
	if (action->failed)
		action->error_text = STR("command failed");
}

static void put_end(struct log_state *state, unsigned index, unsigned record)
{
	struct made_action made;
	struct err err = ERR_INIT;

	make_action(&made, state->log->run, index);
	begin(state);
	check(store_put_action(state->store, state->run_id, index + 1, record,
			       INT64_C(1796000000000000000) + record * 1000, &made.action, &err),
	      &err);
}

static void put_open(struct log_state *state, unsigned index, unsigned record, bool staged)
{
	struct made_action made;
	struct err err = ERR_INIT;
	struct started started = {.span_id = index + 1, .seq = record, .action = &made.action};

	make_action(&made, state->log->run, index);
	started.start_ns = INT64_C(1796000000000000000) + record * 1000;
	if (staged) {
		started.stage.name = STR("execute");
		started.stage.digest = made.attempts[0].digest;
		started.stage_seq = record + 1;
	}
	begin(state);
	check(store_put_in_flight(state->store, state->run_id, &started, &err), &err);
}

/* The run's paths, as record 80 and again, otherwise, as record 110 tell them. */
static void put_graph(struct log_state *state, unsigned record)
{
	struct made_action made[2];
	struct path_step steps[3];
	struct build_graph graph = {
		.nodes = record,
		.edges = UNKNOWN,
		.paths = {[PATH_CRITICAL] = {steps, 3}, [PATH_SLOWEST] = {steps, record % 3}},
	};
	struct err err = ERR_INIT;
	unsigned i;

	memset(steps, 0, sizeof(steps));
	steps[0] = (struct path_step){.kind = STEP_WAITING, .detail = STR("unknown")};
	for (i = 0; i < 2; i++) {
		make_action(&made[i], state->log->run, record + i);
		steps[i + 1].kind = i ? UNKNOWN : STEP_ACTION;
		steps[i + 1].name = made[i].action.name;
		steps[i + 1].digest = made[i].attempts[0].digest;
		steps[i + 1].rule_type = STR("br2_package");
		steps[i + 1].span_id = record + i;
		steps[i + 1].duration_us = record;
	}
	begin(state);
	check(store_put_graph(state->store, state->run_id, record, &graph, &err), &err);
}

/*
 * Record FIRST_SPAN + 3 i begins span i, the next one names its digest, and the
 * one after that ends it, unless it is cancelled (every ninth) or never ends
 * (every eleventh).
 */
static void put_record(struct log_state *state, unsigned record)
{
	unsigned index = (record - FIRST_SPAN) / SPAN_RECORDS;
	struct err err = ERR_INIT;

	if (record == 1)
		put_head(state);
	if (record == 80 || record == 110)
		put_graph(state, record);
	if (record < FIRST_SPAN || record == MADE_RECORDS ||
	    (record - FIRST_SPAN) % SPAN_RECORDS != SPAN_RECORDS - 1 || index % 11 == 10)
		return;
	if (index % 9 == 8) {
		begin(state);
		check(store_drop_in_flight(state->store, state->run_id, index + 1, &err), &err);
	} else {
		put_end(state, index, record);
	}
}

static void put_in_flight(struct log_state *state)
{
	unsigned record, last = state->log->records;

	for (record = FIRST_SPAN; record <= last; record += SPAN_RECORDS) {
		unsigned index = (record - FIRST_SPAN) / SPAN_RECORDS;

		if (record + SPAN_RECORDS - 1 > last || index % 11 == 10)
			put_open(state, index, record, record + 1 <= last);
	}
}

static void put_tail(struct log_state *state)
{
	struct instance_choice choices[2] = {{"", MADE_INSTANCE, "link", false},
					     {"", "made/first", ".buckconfig", false}};
	bool linked = links_seen(state->log->run, state->log->records);
	struct err err = ERR_INIT;

	begin(state);
	check(store_put_candidates(state->store, state->run_id, linked ? choices : choices + 1,
				   linked ? 2 : 1, &err),
	      &err);
	check(store_put_instance(state->store, state->run_id, linked ? choices : choices + 1, &err),
	      &err);
}

static void put_file(struct log_state *state)
{
	struct log_outcome outcome = {
		.path = state->path,
		.bytes = state->log->records * 100,
		.mtime_ns = 1000 + state->log->records,
		.ending = state->log->records == MADE_RECORDS ? "whole" : "cut",
		.records = state->log->records,
	};
	struct err err = ERR_INIT;

	begin(state);
	check(store_put_log(state->store, &outcome, &err), &err);
}

void made_ingest(struct store *store, const struct made_log *log)
{
	struct log_state state = {.store = store, .log = log};
	unsigned record;

	snprintf(state.path, sizeof(state.path), "/logs/%u/%u.pb.zst", log->copy, log->run);
	snprintf(state.project, sizeof(state.project), "project-%u", log->copy * 7 % 5);
	snprintf(state.trace, sizeof(state.trace), "trace-%llu",
		 (unsigned long long)roll(log->run, 2) % 1000);
	for (record = 1; record <= log->records; record++) {
		put_record(&state, record);
		if (log->slice && ++state.open_records >= log->slice)
			end(&state);
	}
	if (log->records == MADE_RECORDS) {
		struct run_facts facts = RUN_FACTS_INIT;

		facts.complete = true;
		facts.succeeded = log->run % 2;
		facts.duration_us = 1000 + log->run;
		put_facts(&state, &facts);
	} else {
		put_in_flight(&state);
	}
	put_tail(&state);
	put_file(&state);
	end(&state);
}

struct store *made_open(const char *path, enum store_access access)
{
	struct store *store = NULL;
	struct err err = ERR_INIT;

	check(store_open(&store, path, access, &err), &err);
	return store;
}

/* ---- the made cache ---- */

static void make_result(struct result *result, enum result_source source, uint64_t number,
			char worker[48])
{
	size_t i;

	*result = (struct result){
		.source = source,
		.worker = text(worker, 48, "{\"pool\":\"shared\"}", number % 3),
		.virtual_ns = number % 4 ? (int64_t)(roll(number, 3) % 90000000000) : UNKNOWN,
		.has_rusage = number % 6 != 5,
		.has_request = number % 2,
	};
	for (i = 0; i < TIME_COUNT; i++)
		result->time_ns[i] = INT64_C(1796000000000000000) +
				     (int64_t)(roll(number, 4) % 1000000000) + (int64_t)i * 1000000;
	result->rusage = (struct rusage){
		.user_ns = (int64_t)(roll(number, 5) % 90000000000),
		.system_ns = (int64_t)(roll(number, 6) % 9000000000),
		.max_rss_bytes = number % 8 ? (int64_t)(roll(number, 7) % 1000000000) : UNKNOWN,
		.termination_signal = number % 16 == 9 ? STR("KILL") : STR_NULL,
	};
	result->request.tool_invocation_id = number % 4 == 1 ? STR("trace-a") : STR("trace-b");
	result->request.tool_name = STR("buck2");
}

/* The digest's number, which its size tells. */
static void answer(struct store *store, const struct wanted *wanted)
{
	uint64_t number = (uint64_t)(wanted->digest.size_bytes - 100);
	struct result result;
	struct err err = ERR_INIT;
	char worker[48];

	if (strcmp(wanted->instance, MADE_INSTANCE) != 0 || number % 5 == 4) {
		check(store_put_state(store, wanted->lookup_id, STATE_NOT_FOUND, NULL, &err), &err);
		return;
	}
	make_result(&result, SOURCE_ACTION_CACHE, number, worker);
	check(store_put_result(store, wanted->lookup_id, &result, &err), &err);
}

static void answer_all(struct store *store)
{
	struct wanted wanted;
	struct err err = ERR_INIT;
	int64_t after_id = 0;
	int more;

	while ((more = store_next_wanted(store, "", after_id, 0, true, &wanted, &err)) > 0) {
		after_id = wanted.lookup_id;
		answer(store, &wanted);
	}
	check(more, &err);
}

/* Some blobs are gone, some are no result, some are refused under a wrong name. */
static void answer_blob(struct store *store, const struct wanted_blob *wanted)
{
	uint64_t number = (uint64_t)(wanted->digest.size_bytes - 100);
	enum lookup_state state = STATE_FOUND;
	struct result result;
	struct err err = ERR_INIT;
	char worker[48];

	if (number % 7 == 0)
		state = STATE_NOT_FOUND;
	else if (number % 7 == 1)
		state = STATE_MALFORMED;
	else if (number % 7 < 4 && strcmp(wanted->instance, MADE_INSTANCE) != 0)
		state = STATE_REFUSED;
	if (state != STATE_FOUND) {
		check(store_put_historical_state(store, &wanted->key, state,
						 state == STATE_NOT_FOUND ? NULL : "words", &err),
		      &err);
		return;
	}
	make_result(&result, SOURCE_HISTORICAL, number, worker);
	result.status_code = (int64_t)(number % 2 * 4);
	result.status_message = number % 2 ? STR("deadline exceeded") : STR_NULL;
	check(store_put_historical(store, &wanted->key, &result, &err), &err);
}

static void answer_blobs(struct store *store)
{
	struct attempt_key after = {0, 0, 0};
	struct wanted_blob wanted;
	struct err err = ERR_INIT;
	int more;

	while ((more = store_next_historical(store, "", &after, 0, true, &wanted, &err)) > 0) {
		after = wanted.key;
		answer_blob(store, &wanted);
	}
	check(more, &err);
}

void made_answer(struct store *store)
{
	struct err err = ERR_INIT;

	check(store_begin(store, &err), &err);
	answer_all(store);
	answer_blobs(store);
	check(store_commit(store, &err), &err);
	check(store_sum_packages(store, &err), &err);
	check(store_sum_invocations(store, &err), &err);
}

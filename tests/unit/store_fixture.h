/*
 * A database of a test's own, open and in a transaction, and the smallest run,
 * action and result to put into it.
 */
#ifndef BR2_STORE_FIXTURE_H
#define BR2_STORE_FIXTURE_H

#include "made.h"
#include "scratch.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define DAY INT64_C(86400000000000)
#define START INT64_C(1796000000000000000)

/* A fresh database, in a transaction. */
struct fixture {
	char *dir, *db;
	struct store *store;
	struct err err;
};

static inline int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->dir = scratch_new();
	f->db = scratch_path(f->dir, "br2.db");
	f->store = made_open(f->db, STORE_WRITE);
	assert_int_equal(store_begin(f->store, &f->err), 0);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->store);
	free(f->db);
	scratch_remove(f->dir);
	free(f);
	return 0;
}

static inline void assert_number(struct fixture *f, const char *sql, int64_t wanted)
{
	int64_t number = made_number(f->store, sql);

	if (number != wanted)
		fail_msg("%s: %lld, not %lld", sql, (long long)number, (long long)wanted);
}

static inline void assert_text(struct fixture *f, const char *sql, const char *wanted)
{
	char *text = made_text(f->store, sql);

	if (wanted) {
		assert_non_null(text);
		assert_string_equal(text, wanted);
	} else {
		assert_null(text);
	}
	free(text);
}

static inline void assert_return_of(struct fixture *f, int result, int wanted)
{
	if (result != wanted)
		fail_msg("%d, not %d: %s", result, wanted, f->err.text);
}
/* Of a call that takes &f->err. */
#define assert_return(call, wanted) assert_return_of(f, call, wanted)
#define assert_ok(call) assert_return(call, 0)

/* Sums are written at a COMMIT; the next transaction begins at once. */
static inline void assert_commits(struct fixture *f)
{
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_begin(f->store, &f->err));
}

/* ---- making ---- */

static inline int64_t put_run_at(struct fixture *f, const char *trace_id, int64_t start_ns,
				 const struct sighting *sighting)
{
	struct run_facts facts = RUN_FACTS_INIT;
	int64_t run_id = 0;

	facts.trace_id = str_of(trace_id);
	facts.start_ns = start_ns;
	assert_ok(store_put_run(f->store, &facts, sighting, &run_id, &f->err));
	return run_id;
}

static inline void choose(struct fixture *f, int64_t run_id, const char *name, const char *source,
			  bool proved)
{
	struct instance_choice choice = {"", name, source, proved};

	assert_ok(store_put_instance(f->store, run_id, &choice, &f->err));
}

static inline int64_t put_run(struct fixture *f, const char *trace_id, int64_t start_ns)
{
	struct sighting sighting = {"/p/buck-out/v2/log/a.pb", "p", 2, "v2"};
	int64_t run_id = put_run_at(f, trace_id, start_ns, &sighting);

	choose(f, run_id, "p", ".buckconfig", false);
	return run_id;
}

static inline struct digest digest_of(uint8_t number)
{
	struct digest digest = {.hash_len = 32, .function = DIGEST_SHA256, .size_bytes = 140};

	digest.hash[0] = number;
	return digest;
}

/* As digest_of(), for numbers that one byte does not hold. */
static inline struct digest numbered(int64_t number)
{
	struct digest digest = digest_of((uint8_t)(number >> 8));

	digest.hash[30] = (uint8_t)(number >> 16);
	digest.hash[31] = (uint8_t)number;
	return digest;
}

static inline struct attempt attempt_of(uint8_t number, enum attempt_status status)
{
	return (struct attempt){
		.kind = ATTEMPT_REMOTE,
		.status = status,
		.digest = digest_of(number),
		.cache_hit_type = UNKNOWN,
		.exit_code = UNKNOWN,
		.queue_us = UNKNOWN,
		.wall_us = UNKNOWN,
		.execution_us = UNKNOWN,
		.start_ns = UNKNOWN,
		.input_us = UNKNOWN,
		.server_queue_us = UNKNOWN,
		.memory_peak_bytes = UNKNOWN,
	};
}

static inline struct action action_of(const char *identifier, struct attempt *attempts,
				      size_t count)
{
	return (struct action){
		.type = ACTION_RUN,
		.name = {STR("root//p"), STR("gcc"), STR("br2_package"), str_of(identifier),
			 STR("cfg")},
		.kind = UNKNOWN,
		.execution_kind = UNKNOWN,
		.wall_us = UNKNOWN,
		.duration_us = UNKNOWN,
		.output_bytes = UNKNOWN,
		.input_bytes = UNKNOWN,
		.upload_result = UNKNOWN,
		.dep_file_upload_result = UNKNOWN,
		.scheduling_mode = UNKNOWN,
		.attempts = attempts,
		.attempt_count = count,
	};
}

/* One action with one remote attempt; its span is its record's number. */
static inline void put_action(struct fixture *f, int64_t run_id, uint64_t seq,
			      const char *identifier, uint8_t digest, enum attempt_status status)
{
	struct attempt attempt = attempt_of(digest, status);
	struct action action = action_of(identifier, &attempt, 1);

	assert_ok(store_put_action(f->store, run_id, seq, seq, START, &action, &f->err));
}

/* The largest figures that are believed: ingest/store_measured.h. */
#define WALL_NS_MAX (INT64_C(366) * 86400 * 1000000000)
#define RSS_BYTES_MAX (INT64_C(1) << 46)
#define CPUS_MAX 8192

static inline struct result result_of(int64_t virtual_ns)
{
	struct result result = {.source = SOURCE_ACTION_CACHE, .virtual_ns = virtual_ns};
	size_t i;

	for (i = 0; i < TIME_COUNT; i++)
		result.time_ns[i] = UNKNOWN;
	return result;
}

static inline int64_t lookup_of(struct fixture *f, const char *instance, uint8_t digest)
{
	struct digest wanted = digest_of(digest);
	enum lookup_state state;
	int64_t id = 0;

	assert_return(store_find_lookup(f->store, "", instance, &wanted, &id, &state, &f->err), 1);
	return id;
}

static inline void put_result(struct fixture *f, const char *instance, uint8_t digest)
{
	struct result result = result_of(5000000000);

	assert_ok(store_put_result(f->store, lookup_of(f, instance, digest), &result, &f->err));
}

#endif

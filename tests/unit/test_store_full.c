/*
 * Sums for which there is no more room in memory are written before the COMMIT. Where SQLite
 * fails at that, whatever was being stored ends, and nothing of its transaction stays.
 */
#include "store_db.h"
#include "store_fixture.h"
#include "store_prune.h"

#include <string.h>

#define ROWS_MAX 4096 /* as many are gathered: store_totals.c */
#define RESULTS 1200  /* of four such rows each */
#define WORKER "worker-shared-5b6dd8dff9-2bv88"

/* As many rows as are gathered but for so many; no table takes the first one. */
static void fill_but(struct fixture *f, int64_t left)
{
	struct total_row row = {TOTAL_SIZE, {UNKNOWN, 0, 1, 1, 0}, {1}};
	int64_t i;

	assert_ok(totals_add(f->store, &row, &f->err));
	for (i = 1; i < ROWS_MAX - left; i++) {
		row = (struct total_row){TOTAL_REQUEST, {1000000 + i}, {0}};
		assert_ok(totals_add(f->store, &row, &f->err));
	}
}

/* ---- what is stored ---- */

static int put_numbered(struct fixture *f, int64_t run_id, int64_t number, const char *category)
{
	struct attempt attempt = attempt_of(0, STATUS_SUCCESS);
	struct action action = action_of("i", &attempt, 1);

	attempt.digest = numbered(number);
	action.name.category = str_of(category);
	return store_put_action(f->store, run_id, (uint64_t)number, (uint64_t)number, START,
				&action, &f->err);
}

/* Of a size, of cores and of phases that no other one has. */
static int answer(struct fixture *f, int64_t number)
{
	struct result result = result_of(1000000000);
	struct digest digest = numbered(number);
	enum lookup_state state;
	int64_t lookup_id, i;

	for (i = 0; i < TIME_COUNT; i++)
		result.time_ns[i] = START + i;
	result.worker = STR(WORKER);
	result.has_request = true;
	result.request.tool_invocation_id = STR("t");
	result.has_rusage = true;
	result.rusage.user_ns = number * 10000000;
	result.rusage.max_rss_bytes = number << 20;
	assert_return(store_find_lookup(f->store, "", "p", &digest, &lookup_id, &state, &f->err),
		      1);
	return store_put_result(f->store, lookup_id, &result, &f->err);
}

static void put_answered(struct fixture *f)
{
	assert_ok(put_numbered(f, put_run(f, "t", START), 1, "c"));
	assert_ok(answer(f, 1));
}

static void put_earlier_run(struct fixture *f)
{
	put_answered(f);
	assert_int_equal(put_run(f, "s", START - 1), 2);
}

static void put_container_later(struct fixture *f)
{
	const struct container_spec spec = {
		.layer = LAYER_PODS,
		.namespace = STR("buildbarn"),
		.pod = STR(WORKER),
		.container = STR("runner"),
		.cpu_request_millicores = 1000,
		.cpu_limit_millicores = UNKNOWN,
		.memory_request_bytes = UNKNOWN,
		.memory_limit_bytes = 1 << 30,
		.restart_count = 0,
	};

	put_answered(f);
	assert_ok(store_put_container(f->store, &spec, &f->err));
}

static void put_wanted(struct fixture *f)
{
	assert_ok(put_numbered(f, put_run(f, "t", START), 1, "c"));
}

static int act_put_action(struct fixture *f)
{
	return put_numbered(f, 1, 2, "c");
}

static int act_put_result(struct fixture *f)
{
	return answer(f, 1);
}

static int act_move_run(struct fixture *f)
{
	const struct sighting better = {"/q/buck-out/v2/log/a.pb", "q", 3, "v2"};
	struct run_facts facts = RUN_FACTS_INIT;
	int64_t run_id;

	facts.trace_id = STR("t");
	facts.start_ns = START;
	return store_put_run(f->store, &facts, &better, &run_id, &f->err);
}

static int act_refer_earlier(struct fixture *f)
{
	return put_numbered(f, 2, 1, "other");
}

static int act_allot(struct fixture *f)
{
	return allot_again(f->store, 1, &f->err);
}

/* ---- laws ---- */

static const struct {
	const char *name;
	void (*prepare)(struct fixture *f);
	int (*act)(struct fixture *f);
	int64_t rows; /* that it adds to sums: each may be the one without room */
} cases[] = {
	{"an action", put_wanted, act_put_action, 1},
	{"a result", put_wanted, act_put_result, 12},
	{"a run that moves", put_answered, act_move_run, 8},
	{"an earlier reference", put_earlier_run, act_refer_earlier, 8},
	{"an allotment", put_container_later, act_allot, 10},
};

/* How many rows were added until there was room for all. */
static int64_t fail_each(struct fixture *f, int (*act)(struct fixture *f))
{
	int64_t left = 0;

	for (;; left++) {
		f->err = (struct err)ERR_INIT;
		fill_but(f, left);
		if (act(f) == 0)
			break;
		assert_non_null(strstr(f->err.text, "NOT NULL constraint failed"));
		assert_return(store_commit(f->store, &f->err), -1);
		assert_ok(store_begin(f->store, &f->err));
	}
	store_rollback(f->store);
	return left;
}

static void test_each_row_without_room(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = *state;
		char *before, *after;
		int64_t rows;

		print_message("%s\n", cases[i].name);
		cases[i].prepare(f);
		assert_commits(f);
		before = made_dump(f->db);
		rows = fail_each(f, cases[i].act);
		after = made_dump(f->db);
		made_assert_same(after, before);
		if (rows != cases[i].rows)
			fail_msg("%s: %lld rows", cases[i].name, (long long)rows);
		free(before);
		free(after);
		teardown(state);
		setup(state);
	}
}

/* A table that takes the worker's sums only when they are whole. */
static void test_sums_made_anew(void **state)
{
	const struct prune_options options = {START - 1, NULL, false};
	struct fixture *f = *state;
	struct prune_tally tally;
	size_t before_len, after_len;
	char *before, *after;
	int64_t run_id, i;

	put_run(f, "old", START - DAY);
	run_id = put_run(f, "t", START);
	for (i = 1; i <= RESULTS; i++) {
		assert_ok(put_numbered(f, run_id, i, "c"));
		assert_ok(answer(f, i));
	}
	assert_commits(f);
	assert_number(f, "SELECT results FROM worker", RESULTS);
	assert_ok(db_exec(f->store,
			  "ALTER TABLE worker ADD COLUMN x INTEGER CHECK (results IN (0, 1200))",
			  &f->err));
	assert_ok(store_commit(f->store, &f->err));
	before = made_bytes(f->db, &before_len);
	assert_return(store_prune(f->store, &options, &tally, &f->err), -1);
	assert_non_null(strstr(f->err.text, "CHECK constraint failed"));
	after = made_bytes(f->db, &after_len);
	assert_int_equal(after_len, before_len);
	assert_memory_equal(after, before, before_len);
	free(before);
	free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_row_without_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sums_made_anew, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

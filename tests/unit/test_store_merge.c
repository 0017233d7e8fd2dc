/* Merging rows that no recorded log has: what the other side lacks, and what both say differently.
 */
#include "store_merge.h"

#include "store_db.h"
#include "store_fixture.h"

#include <string.h>

/* Two databases; rows of `from` go into `into`. */
struct pair {
	struct fixture *into, *from;
};

static int setup_pair(void **state)
{
	struct pair *pair = xcalloc(1, sizeof(*pair));
	void *into, *from;

	setup(&into);
	setup(&from);
	*pair = (struct pair){into, from};
	*state = pair;
	return 0;
}

static int teardown_pair(void **state)
{
	struct pair *pair = *state;
	void *into = pair->into, *from = pair->from;

	teardown(&into);
	teardown(&from);
	free(pair);
	return 0;
}

static void ignore(void *context, const struct merge_tally *tally)
{
	(void)context;
	(void)tally;
}

/* 0; -1: what could not be merged is in pair->into->err. */
static int try_merge(struct pair *pair)
{
	static const struct merge_watch watch = {ignore, NULL};
	struct fixture *f = pair->into;
	struct merge_tally tally = {0};
	struct store *source = NULL;
	int rc;

	assert_ok(store_commit(pair->from->store, &f->err));
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_open_source(&source, pair->from->db, &f->err));
	rc = store_merge(f->store, source, &watch, &tally, &f->err);
	store_close(source);
	assert_ok(store_begin(f->store, &f->err));
	assert_ok(store_begin(pair->from->store, &f->err));
	return rc;
}

static void merge(struct pair *pair)
{
	struct fixture *f = pair->into;

	assert_ok(try_merge(pair));
}

/* ---- what the other side lacks ---- */

static void test_a_run_that_no_file_shows(void **state)
{
	struct pair *pair = *state;
	struct fixture *f = pair->from;
	int round;

	put_action(f, put_run(f, "t", START), 1, "i", 1, STATUS_SUCCESS);
	assert_ok(db_exec(f->store, "DELETE FROM run_log; DELETE FROM log_file", &f->err));
	for (round = 0; round < 2; round++) {
		merge(pair);
		f = pair->into;
		assert_text(f,
			    "SELECT group_concat(trace_id || ' ' || name || ' ' || isolation_dir)"
			    " FROM run JOIN project USING (project_id)",
			    "t p v2");
		assert_number(f, "SELECT count(*) FROM action", 1);
		assert_number(f, "SELECT count(*) FROM run_log", 0);
	}
}

/* It was killed before it came to that. */
static void test_a_run_without_an_instance(void **state)
{
	struct pair *pair = *state;
	struct fixture *f = pair->from;

	put_run_at(f, "t", START, &(struct sighting){"/p/buck-out/v2/log/a.pb", "p", 2, "v2"});
	merge(pair);
	f = pair->into;
	assert_number(f, "SELECT count(*) FROM run WHERE instance_id IS NULL", 1);
	assert_number(f, "SELECT count(*) FROM run_log", 1);
	choose(pair->into, 1, "ours", "flag", true);
	merge(pair);
	assert_text(f, "SELECT name FROM run JOIN instance USING (instance_id)", "ours");
}

/* ---- what both say ---- */

/* A run with one digest of this function. */
static void put_digest(struct fixture *f, enum digest_function function, bool proved)
{
	int64_t run_id = put_run(f, "t", START);
	struct attempt attempt = attempt_of(1, STATUS_SUCCESS);
	struct action action = action_of("i", &attempt, 1);

	attempt.digest.function = (uint8_t)function;
	assert_ok(store_put_action(f->store, run_id, 1, 1, START, &action, &f->err));
	choose(f, run_id, "p", ".buckconfig", proved);
}

static void test_which_function_stays(void **state)
{
	static const struct {
		enum digest_function ours, theirs;
		bool ours_proved, theirs_proved;
		enum digest_function wanted;
	} cases[] = {
		{DIGEST_BLAKE3, DIGEST_SHA256, false, false, DIGEST_BLAKE3},
		{DIGEST_SHA256, DIGEST_BLAKE3, false, false, DIGEST_BLAKE3},
		{DIGEST_SHA256, DIGEST_BLAKE3, true, false, DIGEST_SHA256},
		{DIGEST_BLAKE3, DIGEST_SHA256, false, true, DIGEST_SHA256},
		{DIGEST_BLAKE3, DIGEST_SHA256, true, true, DIGEST_BLAKE3},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair *pair = *state;

		put_digest(pair->into, cases[i].ours, cases[i].ours_proved);
		put_digest(pair->from, cases[i].theirs, cases[i].theirs_proved);
		merge(pair);
		assert_number(pair->into, "SELECT count(*) FROM attempt", 1);
		assert_number(pair->into,
			      "SELECT function FROM lookup JOIN attempt USING (lookup_id)",
			      cases[i].wanted);
		teardown_pair(state);
		setup_pair(state);
	}
}

/* Both asked in vain: the same one stays, whoever is merged into whom. */
static void test_which_vain_answer_stays(void **state)
{
	static const enum lookup_state states[][2] = {
		{STATE_REFUSED, STATE_UNREACHABLE}, {STATE_UNREACHABLE, STATE_REFUSED},
		{STATE_ERROR, STATE_ERROR},	    {STATE_WANTED, STATE_ERROR},
		{STATE_ERROR, STATE_WANTED},
	};
	size_t i, side;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct pair *pair = *state;
		struct fixture *const sides[] = {pair->into, pair->from};
		enum lookup_state wanted =
			states[i][0] > states[i][1] ? states[i][0] : states[i][1];

		for (side = 0; side < 2; side++) {
			struct fixture *f = sides[side];

			put_digest(f, DIGEST_SHA256, false);
			if (states[i][side] != STATE_WANTED)
				assert_ok(store_put_state(f->store, lookup_of(f, "p", 1),
							  states[i][side], side ? "b" : "a",
							  &f->err));
		}
		merge(pair);
		assert_number(pair->into, "SELECT state FROM lookup", wanted);
		assert_text(pair->into, "SELECT message FROM lookup",
			    wanted == states[i][1] ? "b" : "a");
		teardown_pair(state);
		setup_pair(state);
	}
}

/* ---- what no record holds ---- */

#define ARENA_MAX ((size_t)48 << 20) /* of a record's rows in memory: store_merge.c */

/* So many rows of one action or result that they alone would fill that memory. */
static void test_too_many_for_a_record(void **state)
{
	static const struct {
		const char *insert;
		size_t size; /* of one in memory */
	} cases[] = {
		{"INSERT INTO attempt (run_id, span_id, idx, kind, status)"
		 " SELECT 1, 1, i, 1, 2 FROM n",
		 sizeof(struct attempt)},
		{"INSERT INTO expense SELECT 1, printf('%07d', i), '', 1 FROM n",
		 sizeof(struct expense)},
		{"INSERT INTO aux_message SELECT 1, i, '', x'' FROM n", sizeof(struct aux_message)},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair *pair = *state;
		struct fixture *f = pair->from;
		char *sql = xasprintf("WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL"
				      " SELECT i + 1 FROM n LIMIT %zu) %s",
				      ARENA_MAX / cases[i].size, cases[i].insert);

		put_digest(f, DIGEST_SHA256, false);
		put_result(f, "p", 1);
		assert_ok(db_exec(f->store, sql, &f->err));
		free(sql);
		f = pair->into;
		assert_return(try_merge(pair), -1);
		assert_int_equal(f->err.kind, ERR_LIMIT);
		assert_non_null(strstr(f->err.text, pair->from->db));
		assert_non_null(strstr(f->err.text, "a row of it is larger than any log"));
		assert_number(f, "SELECT count(*) FROM result", 0);
		teardown_pair(state);
		setup_pair(state);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_pair, teardown_pair)
	const struct CMUnitTest tests[] = {
		TEST(test_a_run_that_no_file_shows), TEST(test_a_run_without_an_instance),
		TEST(test_which_function_stays),     TEST(test_which_vain_answer_stays),
		TEST(test_too_many_for_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Merging rows that no recorded log has: what the other side lacks, and what both say differently.
 */
#include "store_merge.h"

#include "store_db.h"
#include "store_fixture.h"

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

/* ---- what both say ---- */

/* A run with one digest of this function. */
static void put_digest(struct fixture *f, enum digest_function function, bool proved)
{
	int64_t run_id = put_run(f, "t", START);
	struct attempt attempt = attempt_of(1, STATUS_SUCCESS);
	struct action action = action_of("i", &attempt, 1);

	attempt.digest.function = function;
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_pair, teardown_pair)
	const struct CMUnitTest tests[] = {
		TEST(test_a_run_that_no_file_shows),
		TEST(test_which_function_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What configuration says of runs that were read before: their instance and their digests'
 * function. */
#include "store_fixture.h"

#define FILE_A "/p/buck-out/v2/log/a.pb" /* where put_run() saw its run */
#define CHOSEN                                                                         \
	"SELECT group_concat(x, ' ') FROM (SELECT trace_id || '=' || i.name || ',' ||" \
	" instance_source AS x FROM run LEFT JOIN instance i USING (instance_id)"      \
	" ORDER BY trace_id)"
#define CANDIDATES                                                                   \
	"SELECT group_concat(x, ' ') FROM (SELECT trace_id || '=' || name || ',' ||" \
	" rank AS x FROM instance_candidate JOIN run USING (run_id)"                 \
	" ORDER BY trace_id, rank, name)"
#define FUNCTIONS                                                                     \
	"SELECT group_concat(x, ' ') FROM (SELECT trace_id || '=' || l.function AS x" \
	" FROM attempt t JOIN lookup l USING (lookup_id) JOIN run r USING (run_id)"   \
	" ORDER BY trace_id, t.span_id)"

static void propose(struct fixture *f, const char *name, const char *source)
{
	struct instance_choice choice = {"", name, source, false};

	assert_ok(store_name_instance(f->store, FILE_A, &choice, &f->err));
}

static void name_function(struct fixture *f, enum digest_function function)
{
	assert_ok(store_name_function(f->store, FILE_A, function, &f->err));
}

static int64_t rows_written(struct fixture *f)
{
	return made_number(f->store, "SELECT total_changes()");
}

/* Nothing is written for what is stored as it is. */
#define assert_idle(f, call)                                   \
	do {                                                   \
		int64_t before = rows_written(f);              \
                                                               \
		call;                                          \
		assert_int_equal(rows_written(f) - before, 0); \
	} while (0)

/* ---- the instance ---- */

static void test_a_proposal_adds_up(void **state)
{
	struct fixture *f = *state;

	put_run(f, "t", START); /* p of .buckconfig, but no candidate yet */
	propose(f, "p", ".buckconfig");
	assert_text(f, CANDIDATES, "t=p,2");
	propose(f, "other", "project.json");
	assert_text(f, CANDIDATES, "t=p,2 t=other,3");
	assert_text(f, CHOSEN, "t=p,.buckconfig");
	propose(f, "mended", "flag");
	assert_text(f, CANDIDATES, "t=mended,0 t=p,2 t=other,3");
	assert_text(f, CHOSEN, "t=mended,flag");
	/* The same name of a better source. */
	propose(f, "other", "link");
	assert_text(f, CANDIDATES, "t=mended,0 t=other,1 t=p,2");
	assert_idle(f, propose(f, "mended", "flag"));
	assert_idle(f, propose(f, "other", "link"));
	assert_idle(f, propose(f, "other", "project.json"));
	assert_idle(f, propose(f, "p", ".buckconfig"));
}

/* A candidate of that rank alone is not enough. */
static void test_a_better_source_of_the_chosen_name(void **state)
{
	static const struct instance_choice linked = {"", "p", "link", false};
	struct fixture *f = *state;

	assert_ok(store_put_candidates(f->store, put_run(f, "t", START), &linked, 1, &f->err));
	assert_text(f, CHOSEN, "t=p,.buckconfig");
	propose(f, "p", "link");
	assert_text(f, CHOSEN, "t=p,link");
	assert_idle(f, propose(f, "p", "link"));
}

static void test_a_run_without_an_instance(void **state)
{
	static const struct sighting sighting = {FILE_A, "p", 2, "v2"};
	struct fixture *f = *state;
	static const struct instance_choice known = {"", "p", "log", false};
	int64_t run_id = put_run_at(f, "t", START, &sighting);

	assert_ok(store_put_candidates(f->store, run_id, &known, 1, &f->err));
	propose(f, "p", "log");
	assert_text(f, CHOSEN, "t=p,log");
	assert_idle(f, propose(f, "p", "log"));
}

static void test_each_run_of_the_file_for_itself(void **state)
{
	static const struct sighting elsewhere = {"/p/buck-out/v2/log/b.pb", "p", 2, "v2"};
	struct fixture *f = *state;
	int64_t other;

	put_run(f, "a", START);
	choose(f, put_run(f, "b", START), "proved", "log", true);
	choose(f, put_run(f, "c", START), "better", "flag", false);
	put_run(f, "d", START);
	other = put_run_at(f, "e", START, &elsewhere);
	choose(f, other, "p", ".buckconfig", false);
	propose(f, "q", "link");
	assert_text(f, CHOSEN, "a=q,link b=proved,log c=better,flag d=q,link e=p,.buckconfig");
	assert_text(f, CANDIDATES, "a=q,1 c=q,1 d=q,1");
	/* The last one alone was read anew since. */
	put_run(f, "f", START);
	propose(f, "q", "link");
	assert_text(f, CANDIDATES, "a=q,1 c=q,1 d=q,1 f=q,1");
	assert_idle(f, propose(f, "q", "link"));
}

static void test_another_cluster_of_that_name(void **state)
{
	static const struct instance_choice there = {"far", "p", ".buckconfig", false};
	struct fixture *f = *state;

	put_run(f, "t", START);
	propose(f, "p", ".buckconfig");
	assert_ok(store_name_instance(f->store, FILE_A, &there, &f->err));
	assert_number(f, "SELECT count(*) FROM instance_candidate WHERE cache = 'far'", 1);
	assert_idle(f, assert_ok(store_name_instance(f->store, FILE_A, &there, &f->err)));
}

/* ---- what need not be proposed again ---- */

static void test_what_was_proposed(void **state)
{
	struct fixture *f = *state;

	put_run(f, "t", START);
	assert_return(store_has_proposed(f->store, FILE_A, 7, &f->err), 0);
	assert_ok(store_note_proposed(f->store, FILE_A, 7, &f->err));
	assert_return(store_has_proposed(f->store, FILE_A, 7, &f->err), 1);
	assert_return(store_has_proposed(f->store, FILE_A, 8, &f->err), 0);
	assert_return(store_has_proposed(f->store, "/p/other.pb", 7, &f->err), 0);
	assert_ok(store_note_proposed(f->store, FILE_A, 8, &f->err));
	assert_return(store_has_proposed(f->store, FILE_A, 7, &f->err), 0);
	assert_return(store_has_proposed(f->store, FILE_A, 8, &f->err), 1);
	/* More of the run: whichever file showed it. */
	put_run(f, "t", START);
	assert_return(store_has_proposed(f->store, FILE_A, 8, &f->err), 0);
}

/* ---- the digest function ---- */

static void put_short_digest(struct fixture *f, int64_t run_id, uint64_t seq)
{
	struct attempt attempt = attempt_of(9, STATUS_SUCCESS);
	struct action action = action_of("s", &attempt, 1);

	attempt.digest.hash_len = 20;
	attempt.digest.function = DIGEST_SHA1;
	assert_ok(store_put_action(f->store, run_id, seq, seq, START, &action, &f->err));
}

static void test_digests_move(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
	put_short_digest(f, run_id, 2); /* of another length: it stays */
	put_action(f, run_id, 3, "j", 2, STATUS_FAILURE);
	assert_idle(f, name_function(f, DIGEST_SHA256));
	name_function(f, DIGEST_BLAKE3);
	assert_text(f, FUNCTIONS, "t=9 t=2 t=9");
	assert_idle(f, name_function(f, DIGEST_BLAKE3));
	/* An ingest that was killed: a later digest of the run is of another function. */
	put_action(f, run_id, 4, "k", 3, STATUS_SUCCESS);
	assert_text(f, FUNCTIONS, "t=9 t=2 t=9 t=1");
	name_function(f, DIGEST_BLAKE3);
	assert_text(f, FUNCTIONS, "t=9 t=2 t=9 t=9");
	name_function(f, DIGEST_SHA256);
	assert_text(f, FUNCTIONS, "t=1 t=2 t=1 t=1");
}

static void test_whose_digests_stay(void **state)
{
	const struct config_value own = {STR_NULL, STR("buck2"), STR("digest_algorithms"),
					 STR("SHA256"), true};
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "named", START);

	put_action(f, run_id, 1, "i", 1, STATUS_SUCCESS);
	assert_ok(store_put_config(f->store, run_id, &own, 1, &f->err));
	run_id = put_run(f, "proved", START);
	put_action(f, run_id, 1, "i", 2, STATUS_SUCCESS);
	choose(f, run_id, "p", ".buckconfig", true);
	put_action(f, put_run(f, "taken", START), 1, "i", 3, STATUS_SUCCESS);
	name_function(f, DIGEST_BLAKE3);
	assert_text(f, FUNCTIONS, "named=1 proved=1 taken=9");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_a_proposal_adds_up),
		TEST(test_a_better_source_of_the_chosen_name),
		TEST(test_a_run_without_an_instance),
		TEST(test_each_run_of_the_file_for_itself),
		TEST(test_another_cluster_of_that_name),
		TEST(test_what_was_proposed),
		TEST(test_digests_move),
		TEST(test_whose_digests_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

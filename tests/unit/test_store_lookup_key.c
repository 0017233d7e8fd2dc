/*
 * Digests are found in whatever batch their lookup is, and whether or not its key is in table
 * lookup_key yet: none is stored twice. Batches are made by leaving numbers out.
 */
#include "store_fixture.h"

#include "store_prune.h"

#include <sqlite3.h>

#define KEYED "SELECT until_batch || ' ' || due_batch FROM lookup_keyed"
/* Digests that are stored twice; lookups without the key that they should have; keys of none. */
#define TWICE "SELECT count(*) - count(DISTINCT digest) FROM lookup"
#define KEYLESS                                                                                   \
	"SELECT count(*) FROM lookup l WHERE l.batch < (SELECT until_batch FROM lookup_keyed)"    \
	" AND NOT EXISTS (SELECT 1 FROM lookup_key k WHERE (k.key, k.lookup_id) = (l.digest_key," \
	" l.lookup_id))"
#define OF_NONE                                                                            \
	"SELECT count(*) FROM lookup_key k WHERE NOT EXISTS (SELECT 1 FROM lookup l WHERE" \
	" (k.key, k.lookup_id) = (l.digest_key, l.lookup_id))"

static void put_digest(struct fixture *f, int64_t number)
{
	uint64_t seq = (uint64_t)made_number(f->store, "SELECT count(*) + 1 FROM action");
	struct attempt attempt = attempt_of(0, STATUS_SUCCESS);
	struct action action = action_of("a", &attempt, 1);

	attempt.digest = numbered(number);
	assert_ok(store_put_action(f->store, made_number(f->store, "SELECT max(run_id) FROM run"),
				   seq, seq, START, &action, &f->err));
}

static int64_t find_digest(struct fixture *f, int64_t number)
{
	struct digest digest = numbered(number);
	enum lookup_state state;
	int64_t id = 0;

	assert_return(store_find_lookup(f->store, "", "p", &digest, &id, &state, &f->err), 1);
	return id;
}

/* What nobody but a test does: in the file, between two transactions. */
static void edit(struct fixture *f, const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	assert_ok(store_commit(f->store, &f->err));
	assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
	sqlite3_exec(db, sql, NULL, NULL, &message);
	if (message)
		fail_msg("%s: %s", sql, message);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_ok(store_begin(f->store, &f->err));
}

/* The newest lookup becomes the last one before this batch. */
static void go_on_in_batch(struct fixture *f, int batch)
{
	char *sql = xasprintf("UPDATE attempt SET lookup_id = (%d << 17) - 1 WHERE lookup_id ="
			      " (SELECT max(lookup_id) FROM lookup);"
			      "UPDATE lookup SET lookup_id = (%d << 17) - 1 WHERE lookup_id ="
			      " (SELECT max(lookup_id) FROM lookup)",
			      batch, batch);

	edit(f, sql);
	free(sql);
}

static void assert_keys(struct fixture *f)
{
	assert_commits(f);
	assert_number(f, TWICE, 0);
	assert_number(f, KEYLESS, 0);
	assert_number(f, OF_NONE, 0);
}

static void key_lookups(struct fixture *f)
{
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_key_lookups(f->store, &f->err));
	assert_ok(store_begin(f->store, &f->err));
}

/* Digests as far from each other as it takes for their keys to be of all portions. */
static int64_t number_of(int i)
{
	return i * INT64_C(2741) % 65536;
}

/* Two digests in each batch. */
static void fill(struct fixture *f, int batches)
{
	int i;

	put_run(f, "t", START);
	for (i = 0; i < 2 * batches; i++) {
		if (i && i % 2 == 0)
			go_on_in_batch(f, i / 2);
		put_digest(f, number_of(i));
	}
	assert_number(f, "SELECT max(batch) FROM lookup", batches - 1);
}

/* They are found, and not stored again. */
static void assert_known(struct fixture *f, int digests)
{
	int64_t lookups = made_number(f->store, "SELECT count(*) FROM lookup");
	int i;

	for (i = 0; i < digests; i++) {
		find_digest(f, number_of(i));
		put_digest(f, number_of(i));
	}
	assert_number(f, "SELECT count(*) FROM lookup", lookups);
	assert_keys(f);
}

/* ---- batches ---- */

/* More than are searched at once: as a database is whose ingests were killed again and again. */
static void test_batches_without_keys(void **state)
{
	struct fixture *f = *state;

	fill(f, 11);
	assert_number(f, "SELECT count(*) FROM lookup_key", 0);
	assert_known(f, 22);
}

static void test_few_batches_are_left(void **state)
{
	struct fixture *f = *state;

	fill(f, 3);
	key_lookups(f);
	assert_text(f, KEYED, "0 0");
	assert_number(f, "SELECT count(*) FROM lookup_key", 0);
	assert_known(f, 6);
}

static void test_complete_batches_are_keyed(void **state)
{
	struct fixture *f = *state;

	fill(f, 6);
	key_lookups(f);
	assert_text(f, KEYED, "5 5");
	assert_number(f, "SELECT count(*) FROM lookup_key", 10);
	assert_known(f, 12);
	key_lookups(f);
	assert_text(f, KEYED, "5 5");

	go_on_in_batch(f, 8);
	put_digest(f, number_of(12));
	key_lookups(f);
	assert_text(f, KEYED, "8 8");
	assert_number(f, "SELECT count(*) FROM lookup_key", 12);
	assert_known(f, 13);
}

/* Whatever byte they begin with. */
static void test_every_key_is_put(void **state)
{
	struct fixture *f = *state;
	int i;

	put_run(f, "t", START);
	for (i = 0; i < 256; i++)
		put_digest(f, i << 8);
	go_on_in_batch(f, 3);
	put_digest(f, 1);
	key_lookups(f);
	assert_text(f, KEYED, "3 3");
	assert_number(f, "SELECT count(*) FROM lookup_key", 256);
	assert_keys(f);
}

/* Keys that are equal where their digests are not, and the same digest in two instances. */
static void test_the_whole_digest_counts(void **state)
{
	struct fixture *f = *state;
	struct digest twin = numbered(0);
	enum lookup_state found;
	int64_t id;

	fill(f, 5);
	key_lookups(f);
	twin.hash[16] = 1;
	assert_return(store_find_lookup(f->store, "", "p", &twin, &id, &found, &f->err), 0);
	twin.hash[16] = 0;
	assert_return(store_find_lookup(f->store, "", "q", &twin, &id, &found, &f->err), 0);
	assert_return(store_find_lookup(f->store, "", "p", &twin, &id, &found, &f->err), 1);
	assert_int_equal(id, 1);
	twin.size_bytes++;
	assert_return(store_find_lookup(f->store, "", "p", &twin, &id, &found, &f->err), 0);
}

/* ---- kills, and others at the same time ---- */

/* A kill after any portion: half of the keys are there, and what is added meanwhile adds its own.
 */
static void test_a_kill_meanwhile(void **state)
{
	struct fixture *f = *state;

	fill(f, 6);
	edit(f, "UPDATE lookup_keyed SET due_batch = 5;"
		"INSERT INTO lookup_key SELECT digest_key, lookup_id FROM lookup"
		" WHERE batch < 5 AND digest_key < '80'");
	assert_known(f, 12);
	put_digest(f, number_of(12));
	key_lookups(f);
	assert_text(f, KEYED, "5 5");
	assert_number(f, "SELECT count(*) FROM lookup_key", 10);
	assert_known(f, 13);
}

/* A lookup that was dropped gives its number to the next, whose batch is done or about to be. */
static void test_numbers_that_are_given_again(void **state)
{
	static const char *const keyed[] = {"5 5", "0 5"};
	struct fixture *f = *state;
	size_t i;

	fill(f, 6);
	key_lookups(f);
	for (i = 0; i < sizeof(keyed) / sizeof(*keyed); i++) {
		edit(f, "DELETE FROM attempt WHERE lookup_id >= (4 << 17) + 1;"
			"DELETE FROM lookup_key WHERE lookup_id >= (4 << 17) + 1;"
			"DELETE FROM lookup WHERE lookup_id >= (4 << 17) + 1");
		put_digest(f, 65000 + (int64_t)i);
		assert_number(f, "SELECT max(lookup_id) - (4 << 17) FROM lookup", 1);
		assert_text(f, KEYED, keyed[i]);
		assert_number(f, "SELECT count(*) FROM lookup_key WHERE lookup_id = (4 << 17) + 1",
			      1);
		find_digest(f, 65000 + (int64_t)i);
		assert_known(f, 9);
		edit(f, "UPDATE lookup_keyed SET until_batch = 0");
	}
}

/* Another process adds a batch between two transactions of this one. */
static void test_another_process_adds(void **state)
{
	struct fixture *f = *state;

	fill(f, 4);
	edit(f, "INSERT INTO lookup (lookup_id, instance_id, function, hash, size_bytes,"
		" first_run_id, first_seq, name_id) SELECT 7 << 17, instance_id, function,"
		" randomblob(32), size_bytes, first_run_id, first_seq, name_id"
		" FROM lookup WHERE lookup_id = 1");
	put_digest(f, number_of(8));
	assert_number(f, "SELECT max(lookup_id) - (7 << 17) FROM lookup", 1);
	key_lookups(f);
	assert_text(f, KEYED, "7 7");
	assert_known(f, 9);
}

/* ---- lookups that go ---- */

static void test_a_moved_run_takes_its_keys_along(void **state)
{
	struct fixture *f = *state;

	fill(f, 5);
	key_lookups(f);
	assert_number(f, "SELECT count(*) FROM lookup_key", 8);
	choose(f, made_number(f->store, "SELECT max(run_id) FROM run"), "q", "link", false);
	assert_number(f, "SELECT count(*) FROM lookup", 10);
	assert_number(f, "SELECT count(*) FROM lookup_key", 0);
	assert_keys(f);
}

static void test_pruned_runs_take_their_keys_along(void **state)
{
	const struct prune_options options = {.before_ns = START + DAY};
	struct fixture *f = *state;
	struct prune_tally tally;

	fill(f, 5);
	key_lookups(f);
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_prune(f->store, &options, &tally, &f->err));
	assert_ok(store_begin(f->store, &f->err));
	assert_number(f, "SELECT count(*) FROM lookup", 0);
	assert_number(f, "SELECT count(*) FROM lookup_key", 0);
	assert_text(f, KEYED, "0 0");
	put_run(f, "u", START + 2 * DAY);
	put_digest(f, 1);
	assert_number(f, "SELECT lookup_id FROM lookup", 1);
	assert_keys(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_batches_without_keys),
		TEST(test_few_batches_are_left),
		TEST(test_complete_batches_are_keyed),
		TEST(test_every_key_is_put),
		TEST(test_the_whole_digest_counts),
		TEST(test_a_kill_meanwhile),
		TEST(test_numbers_that_are_given_again),
		TEST(test_another_process_adds),
		TEST(test_a_moved_run_takes_its_keys_along),
		TEST(test_pruned_runs_take_their_keys_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

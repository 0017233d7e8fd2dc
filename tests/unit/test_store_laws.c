/* The laws of store.h over made runs (made.h). */
#include "made.h"
#include "scratch.h"
#include "store_db.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

struct place {
	char *dir, *db;
};

static int setup(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));

	place->dir = scratch_new();
	place->db = scratch_path(place->dir, "br2.db");
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	free(place->db);
	scratch_remove(place->dir);
	free(place);
	return 0;
}

/* Logs of eight runs: whole ones, copies elsewhere, cut ones; run 4 only cut. */
static const struct made_log logs[] = {
	{0, MADE_RECORDS, 0, 7},
	{0, 40, 1, 0},
	{1, MADE_RECORDS, 1, 11},
	{2, 90, 0, 0},
	{2, 33, 3, 4},
	{2, MADE_RECORDS, 5, 0},
	{3, MADE_RECORDS, 0, 0},
	{3, 77, 2, 9},
	{4, 50, 0, 0},
	{4, 97, 4, 13},
	{4, 62, 1, 0},
	{5, MADE_RECORDS, 0, 5},
	{6, MADE_RECORDS, 0, 50},
	{6, 12, 2, 0},
	{7, MADE_RECORDS, 2, 3},
	{7, 100, 5, 0},
	{0, 127, 6, 2},
	{5, 3, 1, 0},
};
#define LOG_COUNT (sizeof(logs) / sizeof(*logs))

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 8;
}

static void shuffle(size_t *order, size_t count, unsigned *seed)
{
	size_t i;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = count - 1; i > 0; i--) {
		size_t other = next_random(seed) % (i + 1), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

/* The first logs in an order of the seed's, in slices of its choice, asking now and then. */
static void ingest_some(const char *db, size_t count, unsigned seed)
{
	struct store *store = made_open(db, STORE_WRITE);
	size_t order[LOG_COUNT], i;

	shuffle(order, count, &seed);
	for (i = 0; i < count; i++) {
		struct made_log log = logs[order[i]];

		if (seed)
			log.slice = next_random(&seed) % 40;
		made_ingest(store, &log);
		if (next_random(&seed) % 4 == 0)
			made_answer(store);
	}
	made_answer(store);
	store_close(store);
}

static void ingest_all(const char *db, unsigned seed)
{
	ingest_some(db, LOG_COUNT, seed);
}

static void assert_sound(const char *db)
{
	struct store *store = made_open(db, STORE_READ);
	char *verdict = made_text(store, "SELECT group_concat(integrity_check, ';')"
					 " FROM pragma_integrity_check");

	assert_string_equal(verdict, "ok");
	free(verdict);
	assert_int_equal(made_number(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	store_close(store);
}

static void assert_dump(const char *db, const char *wanted)
{
	char *rows = made_dump(db);

	made_assert_same(rows, wanted);
	free(rows);
	assert_sound(db);
}

/* The made runs are worth something: each table that a store writes has rows. */
static void test_made_rows(void **state)
{
	static const char *const tables[] = {"run",
					     "run_config",
					     "log_file",
					     "run_log",
					     "lookup",
					     "action",
					     "action_text",
					     "attempt",
					     "in_flight",
					     "attempt_digest",
					     "attempt_text",
					     "attempt_stderr",
					     "cancelled_span",
					     "result",
					     "result_time",
					     "rusage",
					     "request",
					     "worker",
					     "instance_candidate",
					     "historical"};
	struct place *place = *state;
	struct store *store;
	size_t i;

	ingest_all(place->db, 1);
	store = made_open(place->db, STORE_READ);
	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		char *sql = xasprintf("SELECT count(*) FROM %s", tables[i]);

		if (made_number(store, sql) == 0)
			fail_msg("no rows in %s", tables[i]);
		free(sql);
	}
	assert_int_equal(made_number(store, "SELECT count(*) FROM run"), 8);
	assert_true(made_number(store, "SELECT count(*) FROM lookup WHERE state = 1") > 10);
	assert_true(made_number(store, "SELECT count(*) FROM lookup WHERE state = 2") > 10);
	assert_true(made_number(store, "SELECT count(DISTINCT state) FROM historical") == 4);
	assert_true(made_number(store, "SELECT count(*) - count(DISTINCT hash) FROM historical"
				       " WHERE state = 1") > 0);
	assert_int_equal(made_number(store, "SELECT count(*) FROM historical WHERE state = 1"),
			 made_number(store, "SELECT count(*) FROM result WHERE source = 2"));
	/* A digest that was killed and succeeded has both. */
	assert_true(made_number(store, "SELECT count(*) FROM result a JOIN result b USING"
				       " (lookup_id) WHERE a.source = 1 AND b.source = 2") > 0);
	/* An execution that several attempts link is one. */
	assert_int_equal(made_number(store, "SELECT (SELECT count(*) FROM result WHERE source = 1)"
					    " + (SELECT count(DISTINCT hash) FROM historical"
					    " WHERE state = 1)"),
			 made_number(store, "SELECT sum(results) FROM worker"));
	store_close(store);
	assert_sound(place->db);
}

static int check_column(void *context, const struct row *row, struct err *err)
{
	const char *sql = context;
	char *table = xmemdup0(row->values[0].text.data, row->values[0].text.len);
	char *column = xmemdup0(row->values[1].text.data, row->values[1].text.len);
	char *heading = xasprintf("-- %s\n", table), *from = strstr(sql, heading), *select;

	(void)err;
	/* Names that are stored once have no SELECT of their own: any may show them. */
	select = from ? xmemdup0(from, (size_t)(strstr(from, ";\n") - from)) : xstrdup(sql);
	if (!strstr(select, "SELECT *") && !strstr(select, column))
		fail_msg("dump_rows.sql: %s.%s is not among the rows", table, column);
	free(select);
	free(heading);
	free(column);
	free(table);
	return 0;
}

/* A table or column that the dumps leave out would be no part of "equal rows". */
static void test_dumps_are_whole(void **state)
{
	struct place *place = *state;
	struct store *store = made_open(place->db, STORE_WRITE);
	char *sql = made_bytes(TEST_DATA "/../dump_rows.sql", NULL);
	struct err err = ERR_INIT;

	assert_int_equal(store_query(store,
				     "SELECT m.name, c.name FROM sqlite_schema m"
				     " JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table'"
				     " AND (c.name NOT LIKE '%\\_id' ESCAPE '\\'"
				     " OR c.name IN ('trace_id', 'span_id')) AND c.hidden = 0",
				     NULL, 0, check_column, sql, &err),
			 0);
	free(sql);
	store_close(store);
}

static void test_twice_changes_no_byte(void **state)
{
	struct place *place = *state;
	size_t before_len, after_len;
	char *before, *after;
	unsigned seed;

	ingest_all(place->db, 1);
	before = made_bytes(place->db, &before_len);
	for (seed = 1; seed <= 3; seed++) {
		ingest_all(place->db, seed);
		after = made_bytes(place->db, &after_len);
		assert_int_equal(before_len, after_len);
		assert_memory_equal(before, after, before_len);
		free(after);
	}
	free(before);
}

static void test_any_order(void **state)
{
	struct place *place = *state;
	unsigned seed;
	char *wanted;

	ingest_all(place->db, 0);
	wanted = made_dump(place->db);
	for (seed = 1; seed <= 12; seed++) {
		char *name = xasprintf("order-%u.db", seed), *db = scratch_path(place->dir, name);

		ingest_all(db, seed * 7919);
		assert_dump(db, wanted);
		free(name);
		free(db);
	}
	free(wanted);
}

static char *dump_of(struct place *place, const struct made_log *list, size_t count)
{
	char *db = scratch_path(place->dir, "of.db"), *rows;
	struct store *store = made_open(db, STORE_WRITE);
	size_t i;

	for (i = 0; i < count; i++)
		made_ingest(store, &list[i]);
	store_close(store);
	rows = made_dump(db);
	assert_int_equal(unlink(db), 0);
	free(db);
	return rows;
}

/* A log that is read, grows and is read again gives the rows of the whole. */
static void test_grown_log(void **state)
{
	struct made_log whole = {1, MADE_RECORDS, 0, 0};
	char *wanted = dump_of(*state, &whole, 1);
	unsigned cut;

	for (cut = 1; cut + 3 <= MADE_RECORDS; cut += 6) {
		struct made_log grown[] = {{1, cut, 0, 10}, {1, cut + 3, 0, 0}, whole};
		char *rows = dump_of(*state, grown, 3);

		made_assert_same(rows, wanted);
		free(rows);
	}
	free(wanted);
}

/* An older copy that comes late changes nothing but the rows of files. */
static void test_cut_copy_after_the_whole(void **state)
{
	struct place *place = *state;
	struct store *store = made_open(place->db, STORE_WRITE);
	struct made_log whole = {2, MADE_RECORDS, 2, 0};
	char *wanted, *rows;
	unsigned cut;

	made_ingest(store, &whole);
	made_answer(store);
	wanted = made_dump_rows(place->db);
	for (cut = 1; cut < MADE_RECORDS; cut += 9) {
		struct made_log copy = {2, cut, 3, 0};

		made_ingest(store, &copy);
		rows = made_dump_rows(place->db);
		made_assert_same(rows, wanted);
		free(rows);
	}
	store_close(store);
	free(wanted);
}

/* A cut log that did not grow is known, too: it is not opened again. */
static void test_known_files(void **state)
{
	struct place *place = *state;
	struct store *store = made_open(place->db, STORE_WRITE);
	struct made_log cut = {2, 50, 0, 0};
	struct err err = ERR_INIT;

	made_ingest(store, &cut);
	assert_int_equal(store_knows_file(store, "/logs/0/2.pb.zst", 5000, 1050, &err), 1);
	assert_int_equal(store_knows_file(store, "/logs/0/2.pb.zst", 5001, 1050, &err), 0);
	assert_int_equal(store_knows_file(store, "/logs/0/2.pb.zst", 5000, 1051, &err), 0);
	assert_int_equal(store_knows_file(store, "/logs/1/2.pb.zst", 5000, 1050, &err), 0);
	store_close(store);
}

/* ---- processes ---- */

static pid_t start_ingest(const char *db, size_t count, unsigned seed)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		ingest_some(db, count, seed);
		_exit(0);
	}
	return child;
}

static void test_two_at_once(void **state)
{
	struct place *place = *state;
	char *together = scratch_path(place->dir, "together.db"), *wanted;
	pid_t children[3];
	size_t i;

	ingest_all(place->db, 5);
	wanted = made_dump(place->db);
	for (i = 0; i < 3; i++)
		children[i] = start_ingest(together, LOG_COUNT, 11 + (unsigned)i);
	for (i = 0; i < 3; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	/* One of them may have asked before another stored: one more pass asks the rest. */
	ingest_all(together, 5);
	assert_dump(together, wanted);
	free(wanted);
	free(together);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_kill_at_any_moment(void **state)
{
	struct place *place = *state;
	char *killed = scratch_path(place->dir, "killed.db"), *wanted;
	double started = seconds(), whole;
	size_t count = 6;
	int kills = 24, i, in_time = 0;

	ingest_some(place->db, count, 3);
	whole = seconds() - started;
	wanted = made_dump(place->db);
	for (i = 0; i < kills; i++) {
		pid_t child = start_ingest(killed, count, 3);
		long wait_us = (long)(whole * 1e6 * (i + 1) / (kills + 1));
		struct timespec nap = {wait_us / 1000000, wait_us % 1000000 * 1000};
		int status;

		nanosleep(&nap, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		in_time += WIFSIGNALED(status);
		ingest_some(killed, count, 3);
		assert_dump(killed, wanted);
		assert_int_equal(unlink(killed), 0);
	}
	/* The first come at a twentieth of the time: some hit, however loaded the machine. */
	assert_true(in_time > 0);
	free(wanted);
	free(killed);
}

/* Ids that the first one holds may be those of other rows since: it stops. */
static void test_another_drops_rows(void **state)
{
	struct place *place = *state;
	struct err err = ERR_INIT;
	struct store *store = made_open(place->db, STORE_WRITE), *other;

	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
	other = made_open(place->db, STORE_WRITE);
	assert_int_equal(store_begin(other, &err), 0);
	assert_int_equal(db_exec(other, "INSERT INTO dropping DEFAULT VALUES", &err), 0);
	assert_int_equal(store_commit(other, &err), 0);
	store_close(other);
	assert_int_equal(store_begin(store, &err), -1);
	assert_int_equal(err.kind, ERR_DB);
	assert_non_null(strstr(err.text, "has dropped rows meanwhile: run this once more"));
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_made_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dumps_are_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_twice_changes_no_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grown_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_copy_after_the_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_known_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_drops_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kill_at_any_moment, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

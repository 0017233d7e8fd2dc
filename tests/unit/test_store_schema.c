/* Whose file it is, taking it forward, and the views. */
#include "schema_fixture.h"

#include <fcntl.h>
#include <sqlite3.h>

/* As a user's sqlite3 shell would. */
static void shell(const char *path, const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, sql, NULL, NULL, &message);
	if (message)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
}

static int keep_text(void *context, const struct row *row, struct err *err)
{
	struct buf *all = context;
	size_t i;

	(void)err;
	for (i = 0; i < row->count; i++) {
		const struct value *value = &row->values[i];

		if (all->len)
			buf_addch(all, ' ');
		if (value->type == VALUE_INTEGER)
			buf_addf(all, "%lld", (long long)value->integer);
		else
			buf_add(all, value->text.data, value->text.len);
	}
	return 0;
}

static void assert_answer(struct store *store, const char *sql, const char *wanted)
{
	struct buf all = BUF_INIT;
	struct err err = ERR_INIT;

	if (store_query(store, sql, NULL, 0, keep_text, &all, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(all.data, wanted);
	buf_release(&all);
}

static void assert_stored(const char *path, const char *sql, const char *wanted)
{
	struct store *store = open_ok(path, STORE_WRITE);

	assert_answer(store, sql, wanted);
	store_close(store);
}

static char *bytes_of(const char *path, size_t *out_len)
{
	FILE *file = fopen(path, "rb");
	char *bytes = xmalloc(1 << 20);

	assert_non_null(file);
	*out_len = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* Opening and closing leaves the file as it is, to the byte. */
static void assert_untouched_by_open(const char *path)
{
	size_t before_len, after_len;
	char *before = bytes_of(path, &before_len), *after;

	store_close(open_ok(path, STORE_WRITE));
	after = bytes_of(path, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
}

#define ALL_VIEWS "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name"

/* ---- the file ---- */

static void test_makes_file_and_folders(void **state)
{
	struct place *place = *state;
	char *db = xasprintf("%s/a b/ü/br2.db", place->dir), *folder;
	struct stat stat_of;
	mode_t mask = umask(022);

	store_close(open_ok(db, STORE_WRITE));
	assert_int_equal(stat(db, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 07777, 0600);
	folder = xasprintf("%s/a b", place->dir);
	assert_int_equal(stat(folder, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 07777, 0700);
	free(folder);
	free(db);
	umask(0277);
	db = scratch_path(place->dir, "masked.db");
	/* Nobody but root may write what the umask forbids to write. */
	if (geteuid() == 0)
		store_close(open_ok(db, STORE_WRITE));
	else
		refused(db, STORE_WRITE, ERR_IO, "no write access");
	umask(mask);
	assert_int_equal(stat(db, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 07777, 0400);
	free(db);
}

static void test_fresh_database(void **state)
{
	struct place *place = *state;
	struct store *store = open_ok(place->db, STORE_WRITE);
	const char *const *names;

	assert_string_equal(store_path(store), place->db);
	assert_int_equal(store_foreign_views(store, &names), 0);
	assert_answer(store,
		      "SELECT application_id, user_version FROM pragma_application_id,"
		      " pragma_user_version",
		      "1112683081 2");
	assert_answer(store, "SELECT a, b FROM t", "1 2");
	assert_answer(store,
		      "SELECT journal_mode, foreign_keys FROM pragma_journal_mode,"
		      " pragma_foreign_keys",
		      "delete 0");
	assert_answer(store, ALL_VIEWS, "one one_by two");
	assert_answer(store, "SELECT a FROM one", "x;'y1");
	store_close(store);
	assert_untouched_by_open(place->db);
}

static void test_names_that_sqlite_would_take_for_others(void **state)
{
	static const char *const names[] = {":memory:", "file:x?mode=memory", "a?b#c%20d"};
	struct place *place = *state;
	char *cwd = getcwd(NULL, 0);
	size_t i;

	assert_int_equal(chdir(place->dir), 0);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		store_close(open_ok(names[i], STORE_WRITE));
		assert_int_equal(access(names[i], F_OK), 0);
		store_close(open_ok(names[i], STORE_READ));
	}
	assert_int_equal(chdir(cwd), 0);
	free(cwd);
}

static void test_empty_file_is_taken(void **state)
{
	struct place *place = *state;

	scratch_write(place->dir, "br2.db", "");
	refused(place->db, STORE_READ, ERR_DB, "empty");
	assert_stored(place->db, "SELECT count(*) FROM t", "1");
}

/* ---- refused ---- */

static void test_files_that_are_not_ours(void **state)
{
	struct place *place = *state;
	char *folder = xasprintf("%s/folder", place->dir);
	char *inside = xasprintf("%s/br2.db/x.db", place->dir);
	char *deeper = xasprintf("%s/br2.db/folder/x.db", place->dir);
	struct store *store = NULL;
	struct err err = ERR_INIT;

	scratch_write(place->dir, "br2.db",
		      "This is no database, but long enough to be looked at: "
		      "a header has one hundred bytes, and this has more.");
	refused(place->db, STORE_WRITE, ERR_DB, "not an SQLite database");
	refused(place->db, STORE_READ, ERR_DB, "not an SQLite database");
	refused(inside, STORE_WRITE, ERR_IO, "Not a directory");
	assert_int_equal(store_open(&store, deeper, STORE_WRITE, &err), -1);
	assert_non_null(strstr(err.text, "br2.db/folder: cannot make the folder: Not a directory"));
	assert_int_equal(err.kind, ERR_IO);
	assert_int_equal(unlink(place->db), 0);
	refused(place->db, STORE_READ, ERR_IO, "No such file");
	assert_int_equal(access(place->db, F_OK), -1);

	shell(place->db, "CREATE TABLE cookies (a)");
	refused(place->db, STORE_WRITE, ERR_DB, "another program's");
	shell(place->db, "PRAGMA application_id = 77");
	refused(place->db, STORE_WRITE, ERR_DB, "0x0000004d");
	refused(place->db, STORE_READ, ERR_DB, "another program's");
	scratch_mkdir(place->dir, "folder");
	refused(folder, STORE_WRITE, ERR_IO, "Is a directory");
	free(folder);
	free(inside);
	free(deeper);
}

static void test_newer_and_older(void **state)
{
	struct place *place = *state;

	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "PRAGMA user_version = 3");
	refused(place->db, STORE_WRITE, ERR_DB, "made by a newer br2-ingest");
	refused(place->db, STORE_READ, ERR_DB, "made by a newer br2-ingest");
	shell(place->db, "PRAGMA user_version = 1");
	refused(place->db, STORE_READ, ERR_DB, "made by an older br2-ingest");
	shell(place->db, "PRAGMA user_version = -1");
	refused(place->db, STORE_WRITE, ERR_DB, "made by a newer br2-ingest");
}

static void test_locked_for_writing(void **state)
{
	struct place *place = *state;
	struct store *first = open_ok(place->db, STORE_WRITE);
	struct store *second = open_ok(place->db, STORE_WRITE);
	struct err err = ERR_INIT;

	assert_int_equal(store_begin(first, &err), 0);
	assert_answer(second, "PRAGMA busy_timeout", "60000");
	assert_answer(second, "PRAGMA busy_timeout = 10", "10");
	assert_int_equal(store_begin(second, &err), -1);
	assert_non_null(strstr(err.text, "locked"));
	assert_int_equal(err.kind, ERR_DB);
	assert_answer(second, "SELECT a FROM t", "1");
	store_rollback(first);
	assert_int_equal(store_begin(second, &err), 0);
	assert_int_equal(store_commit(second, &err), 0);
	store_close(first);
	store_close(second);
}

/* ---- steps ---- */

static void test_older_schema_goes_forward(void **state)
{
	struct place *place = *state;

	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "ALTER TABLE t DROP COLUMN b; PRAGMA user_version = 1;"
			 "INSERT INTO t VALUES (7); CREATE TABLE mine (x)");
	assert_stored(place->db, "SELECT group_concat(a || '-' || b) FROM t", "1-2,7-2");
	assert_stored(place->db, "SELECT user_version FROM pragma_user_version", "2");
	assert_stored(place->db, "SELECT count(*) FROM mine", "0");
}

/* All steps are one transaction: a number between the first and the last is never seen. */
static void test_steps_are_one_transaction(void **state)
{
	struct place *place = *state;

	set_text(step_2,
		 "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 2; INSERT INTO nowhere VALUES (1)");
	refused(place->db, STORE_WRITE, ERR_DB, "0002_more");
	refused(place->db, STORE_READ, ERR_DB, "empty");
	set_text(step_2, STEP_2);
	assert_stored(place->db, "SELECT a, b FROM t", "1 2");
}

/* A step that fails leaves the schema before it, whole. */
static void test_failing_step(void **state)
{
	struct place *place = *state;

	set_text(step_2, "CREATE TABLE half (a); ALTER TABLE t ADD COLUMN a INTEGER");
	refused(place->db, STORE_WRITE, ERR_DB, "0002_more");
	set_text(step_2, STEP_2);
	assert_stored(place->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'", "0");
	assert_stored(place->db, "SELECT a, b FROM t", "1 2");
}

/* ---- views ---- */

static void test_views_follow_their_text(void **state)
{
	struct place *place = *state;

	store_close(open_ok(place->db, STORE_WRITE));
	set_text(views_2, "CREATE VIEW two AS SELECT a + 1 AS a FROM t;"
			  "CREATE VIEW three AS SELECT 3 AS c;");
	assert_stored(place->db, "SELECT a, c FROM two, three", "2 3");
	assert_untouched_by_open(place->db);
	set_text(views_1, "");
	assert_stored(place->db, ALL_VIEWS, "three two");
	assert_stored(place->db, "SELECT group_concat(name) FROM canned_view", "three,two");
	assert_untouched_by_open(place->db);
}

static void test_views_of_the_user(void **state)
{
	struct place *place = *state;
	struct store *store;
	const char *const *names;

	shell(place->db, "");
	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "CREATE VIEW mine AS SELECT a FROM one; DROP VIEW two;"
			 "CREATE VIEW TWO AS SELECT 'user' AS a; DROP VIEW one_by;"
			 "CREATE TABLE one_by (a)");
	store = open_ok(place->db, STORE_WRITE);
	assert_int_equal(store_foreign_views(store, &names), 2);
	assert_string_equal(names[0], "one_by");
	assert_string_equal(names[1], "two");
	/* The user's stay, and the program asks its own. */
	assert_answer(store, "SELECT a FROM two", "1");
	assert_answer(store, "SELECT a FROM main.two", "user");
	assert_answer(store, "SELECT \"b;c\" FROM one_by", "x;'y1");
	assert_answer(store, "SELECT a FROM mine", "x;'y1");
	assert_answer(store, "SELECT name FROM canned_view", "one");
	store_close(store);
	assert_untouched_by_open(place->db);
	/* Ours is gone from the program: the user's of that name stays. */
	set_text(views_2, "");
	assert_stored(place->db, "SELECT a FROM main.two", "user");
	/* The user's are gone: ours come back. */
	set_text(views_2, VIEWS_2);
	shell(place->db, "DROP VIEW two; DROP TABLE one_by; DROP VIEW one");
	store = open_ok(place->db, STORE_WRITE);
	assert_int_equal(store_foreign_views(store, &names), 0);
	assert_answer(store, ALL_VIEWS, "mine one one_by two");
	store_close(store);
}

static void test_changed_by_the_user(void **state)
{
	struct place *place = *state;

	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "DROP VIEW two; CREATE VIEW two AS SELECT 'edited' AS a");
	assert_stored(place->db, "SELECT o.a || t.a FROM two o, main.two t", "1edited");
	set_text(views_2, "CREATE VIEW two AS SELECT 'newer' AS a");
	assert_stored(place->db, "SELECT o.a || t.a FROM two o, main.two t", "neweredited");
	assert_untouched_by_open(place->db);
}

/* What is written down of a view that is as the program has it decides nothing; that it is, does.
 */
static void test_claims_that_somebody_changed(void **state)
{
	struct place *place = *state;
	struct store *store;
	const char *const *names;

	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "UPDATE canned_view SET sql = 'SELECT 9' WHERE name = 'two'");
	store = open_ok(place->db, STORE_WRITE);
	assert_int_equal(store_foreign_views(store, &names), 0);
	assert_answer(store, "SELECT a FROM two", "1");
	store_close(store);
	assert_untouched_by_open(place->db);
	shell(place->db, "DELETE FROM canned_view WHERE name = 'two'");
	store = open_ok(place->db, STORE_WRITE);
	assert_int_equal(store_foreign_views(store, &names), 1);
	assert_string_equal(names[0], "two");
	store_close(store);
}

/* A stored view can only refer to stored ones: where one is not ours, none of them is asked. */
static void test_no_view_leads_to_one_of_the_user(void **state)
{
	static const enum store_access accesses[] = {STORE_READ, STORE_WRITE};
	struct place *place = *state;
	struct store *store;
	size_t i;

	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "DROP VIEW one; CREATE VIEW one AS SELECT 'user' AS a");
	for (i = 0; i < sizeof(accesses) / sizeof(*accesses); i++) {
		store = open_ok(place->db, accesses[i]);
		assert_answer(store, "SELECT \"b;c\" FROM one_by", "x;'y1");
		assert_answer(store, "SELECT \"b;c\" FROM main.one_by", "user");
		store_close(store);
	}
}

static void test_what_is_no_view(void **state)
{
	struct place *place = *state;

	set_text(views_2, "CREATE VIEW two AS SELECT a FROM t; DROP TABLE t");
	refused(place->db, STORE_WRITE, ERR_DB, "queries/second.sql: not a CREATE VIEW");
	set_text(views_2, "CREATE VIEW two AS SELECT a FROM");
	refused(place->db, STORE_WRITE, ERR_DB, "queries/second.sql");
	set_text(views_2, VIEWS_2);
	assert_stored(place->db, "SELECT a FROM t", "1");
}

/* ---- readers ---- */

static void test_reader(void **state)
{
	struct place *place = *state;
	struct store *store;
	size_t before_len, after_len;
	char *before, *after;

	store_close(open_ok(place->db, STORE_WRITE));
	set_text(views_2, "CREATE VIEW two AS SELECT a + 10 AS a FROM t;"
			  "CREATE VIEW three AS SELECT 3 AS c;");
	before = bytes_of(place->db, &before_len);
	assert_int_equal(chmod(place->db, 0400), 0);
	assert_int_equal(chmod(place->dir, 0500), 0);
	store = open_ok(place->db, STORE_READ);
	/* The views of this program, though the file has older ones. */
	assert_answer(store, "SELECT a, c FROM two, three", "11 3");
	store_close(store);
	assert_int_equal(chmod(place->dir, 0700), 0);
	assert_int_equal(chmod(place->db, 0600), 0);
	after = bytes_of(place->db, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
}

/* ---- a stranger's file ---- */

/* What each statement spoils, and what the refusal says. */
static void test_tables_are_compared(void **state)
{
	static const char *const spoils[][2] = {
		{"ALTER TABLE t ADD COLUMN c INTEGER AS (a + 1)",
		 "table t is not as br2-ingest makes it"},
		{"DROP TABLE setting_default", "table setting_default of br2-ingest is missing"},
		{"CREATE INDEX i ON t (a + 1)", "index i is not br2-ingest's"},
		{"CREATE INDEX i ON t (a) WHERE a > 1", "index i is not br2-ingest's"},
		{"CREATE UNIQUE INDEX i ON t (a)", "index i is not br2-ingest's"},
		{"CREATE VIEW pragma_user_version AS SELECT 2 AS user_version", "part of SQLite"},
		{"CREATE TABLE Json_Each (value)", "part of SQLite"},
	};
	struct place *place = *state;
	size_t i;

	for (i = 0; i < sizeof(spoils) / sizeof(*spoils); i++) {
		store_close(open_ok(place->db, STORE_WRITE));
		shell(place->db, spoils[i][0]);
		refused(place->db, STORE_WRITE, ERR_DB, spoils[i][1]);
		refused(place->db, STORE_READ, ERR_DB, spoils[i][1]);
		assert_int_equal(unlink(place->db), 0);
	}
	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "CREATE INDEX i ON t (a DESC); CREATE TABLE u (x UNIQUE);"
			 "CREATE INDEX j ON u (x + 1)");
	assert_stored(place->db, "SELECT count(*) FROM t", "1");
}

static void test_nothing_of_a_stranger_runs(void **state)
{
	struct place *place = *state;
	struct store *store;
	struct err err = ERR_INIT;

	store_close(open_ok(place->db, STORE_WRITE));
	shell(place->db, "CREATE TABLE seen (a);"
			 "CREATE TRIGGER spy AFTER INSERT ON canned_view BEGIN"
			 " INSERT INTO seen VALUES (1); END;"
			 "CREATE VIEW evil AS SELECT load_extension('x.so')");
	set_text(views_2, "CREATE VIEW four AS SELECT 4 AS d");
	store = open_ok(place->db, STORE_WRITE);
	assert_answer(store, "SELECT count(*) FROM canned_view", "3");
	assert_answer(store, "SELECT count(*) FROM seen", "0");
	assert_int_equal(store_query(store, "SELECT * FROM evil", NULL, 0, NULL, NULL, &err), -1);
	store_close(store);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_makes_file_and_folders),
		TEST(test_fresh_database),
		TEST(test_names_that_sqlite_would_take_for_others),
		TEST(test_empty_file_is_taken),
		TEST(test_files_that_are_not_ours),
		TEST(test_newer_and_older),
		TEST(test_locked_for_writing),
		TEST(test_older_schema_goes_forward),
		TEST(test_steps_are_one_transaction),
		TEST(test_failing_step),
		TEST(test_views_follow_their_text),
		TEST(test_views_of_the_user),
		TEST(test_changed_by_the_user),
		TEST(test_claims_that_somebody_changed),
		TEST(test_no_view_leads_to_one_of_the_user),
		TEST(test_what_is_no_view),
		TEST(test_reader),
		TEST(test_tables_are_compared),
		TEST(test_nothing_of_a_stranger_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

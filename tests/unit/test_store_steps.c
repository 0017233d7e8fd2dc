/*
 * What the steps make, as store_tables.c follows them through their text, to compare a file's
 * tables with it. A step that it cannot follow is the program's own mistake: no file is opened.
 */
#include "schema_fixture.h"

/* The file is of SQLite's making, and goes with the step before. */
static void assert_not_followed(struct place *place, const char *step, const char *words)
{
	set_text(step_2, step);
	refused(place->db, STORE_WRITE, ERR_DB, words);
	refused(place->db, STORE_READ, ERR_DB, words);
}

static void test_steps_that_are_not_followed(void **state)
{
	static const char *const steps[] = {
		"CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
		"CREATE VIRTUAL TABLE v USING fts5(a)",
		"CREATE VIEW v AS SELECT 1",
		"CREATE INDEX IF NOT EXISTS i ON t (a)",
		"CREATE UNIQUE INDEX IF NOT EXISTS i ON t (a)",
		"ALTER TABLE t RENAME TO u",
		"ALTER TABLE t ADD b INTEGER",
		"ALTER TABLE t DROP COLUMN b",
		"ALTER TABLE nowhere ADD COLUMN b INTEGER",
		"ALTER INDEX t ADD COLUMN b INTEGER",
		"DROP TABLE t",
		"DROP INDEX nowhere",
		"DROP VIEW nowhere",
		"VACUUM",
	};
	struct place *place = *state;
	size_t i;

	store_close(open_ok(place->db, STORE_WRITE));
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		char *words = xasprintf("schema/0002_more.sql: not followed: %.40s", steps[i]);

		assert_not_followed(place, steps[i], words);
		free(words);
	}
	set_text(step_2, STEP_2);
	store_close(open_ok(place->db, STORE_WRITE));
}

/* SQLite keeps no such table; one without parentheses has no place for a column. */
static void test_a_table_without_columns(void **state)
{
	struct place *place = *state;

	store_close(open_ok(place->db, STORE_WRITE));
	assert_not_followed(place,
			    "CREATE TABLE u AS SELECT 1 AS a; ALTER TABLE u ADD COLUMN b INTEGER",
			    "not followed: ALTER TABLE u ADD COLUMN b INTEGER");
}

/* All that steps may do, in one step; SQLite and the text agree on what comes of it. */
static void test_steps_that_are_followed(void **state)
{
	struct place *place = *state;

	set_text(step_2, STEP_2 "CREATE TABLE u (a INTEGER, b TEXT) STRICT;"
				"CREATE INDEX i ON u (a); CREATE UNIQUE INDEX j ON u (b);"
				"ALTER TABLE u ADD COLUMN c INTEGER NOT NULL DEFAULT 0;"
				"ALTER TABLE u ADD COLUMN d TEXT; DROP INDEX i;"
				"CREATE INDEX k ON u (c, d); INSERT INTO u (a) VALUES (1);"
				"UPDATE u SET a = 2; DELETE FROM u");
	store_close(open_ok(place->db, STORE_WRITE));
	store_close(open_ok(place->db, STORE_WRITE));
	store_close(open_ok(place->db, STORE_READ));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_steps_that_are_not_followed),
		TEST(test_a_table_without_columns),
		TEST(test_steps_that_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

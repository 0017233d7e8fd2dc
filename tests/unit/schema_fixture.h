/*
 * A program with steps and views of a test's own in place of the shipped ones (embedded.h), and
 * opening a file with it. Only for one test program: it defines them.
 */
#ifndef BR2_SCHEMA_FIXTURE_H
#define BR2_SCHEMA_FIXTURE_H

#include "embedded.h"
#include "scratch.h"
#include "store.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

/* ---- the program of this test, which can be another one from test to test ---- */

#define TEXT_MAX 1024
static char step_1[TEXT_MAX], step_2[TEXT_MAX], views_1[TEXT_MAX], views_2[TEXT_MAX];

const struct embedded_sql schema_steps[] = {
	{"0001_init", step_1, TEXT_MAX}, {"0002_more", step_2, TEXT_MAX}, {NULL, NULL, 0}};
const struct embedded_sql canned_views[] = {
	{"first", views_1, TEXT_MAX}, {"second", views_2, TEXT_MAX}, {NULL, NULL, 0}};

#define SETTINGS(table) \
	"CREATE TABLE " table " (key TEXT NOT NULL PRIMARY KEY, value ANY, about TEXT) STRICT;"
#define STEP_1                                                                                 \
	"CREATE TABLE canned_view (name TEXT NOT NULL PRIMARY KEY, sql TEXT NOT NULL) STRICT," \
	" WITHOUT ROWID;" SETTINGS("setting") SETTINGS(                                        \
		"setting_default") "CREATE TABLE dropping (dropping_id INTEGER PRIMARY KEY) "  \
				   "STRICT;"                                                   \
				   "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1);"
#define STEP_2 "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 2;"
#define VIEWS_1                                                                         \
	"-- lost; this one\nCREATE VIEW one(\n    a -- kept; ';\n) AS\n/* [ */\nSELECT" \
	" 'x;''y' || a FROM t;\n\nCREATE VIEW one_by AS SELECT \"a\" AS [b;c] FROM one;\n"
#define VIEWS_2 "CREATE VIEW two AS SELECT a FROM t"

static inline void set_text(char place[TEXT_MAX], const char *text)
{
	assert_true(strlen(text) < TEXT_MAX);
	snprintf(place, TEXT_MAX, "%s", text);
}

struct place {
	char *dir, *db;
};

static inline int setup(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));

	place->dir = scratch_new();
	place->db = scratch_path(place->dir, "br2.db");
	set_text(step_1, STEP_1);
	set_text(step_2, STEP_2);
	set_text(views_1, VIEWS_1);
	set_text(views_2, VIEWS_2);
	*state = place;
	return 0;
}

static inline int teardown(void **state)
{
	struct place *place = *state;

	free(place->db);
	scratch_remove(place->dir);
	free(place);
	return 0;
}

/* ---- looking and touching ---- */

static inline struct store *open_ok(const char *path, enum store_access access)
{
	struct store *store = NULL;
	struct err err = ERR_INIT;

	if (store_open(&store, path, access, &err) < 0)
		fail_msg("%s", err.text);
	return store;
}

static inline void refused(const char *path, enum store_access access, enum err_kind kind,
			   const char *words)
{
	struct store *store = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(store_open(&store, path, access, &err), -1);
	assert_null(store);
	if (!strstr(err.text, words) || !strstr(err.text, strrchr(path, '/') + 1))
		fail_msg("'%s' does not say '%s'", err.text, words);
	assert_int_equal(err.kind, kind);
}

#endif

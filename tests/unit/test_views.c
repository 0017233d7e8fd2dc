/* The documentation that `views` shows, against what SQLite makes of the same statements. */
#include "made.h"
#include "scratch.h"
#include "util/file.h"
#include "views.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static struct store *store;
static char *dir;

static int open_new(void **state)
{
	char *path;

	(void)state;
	dir = scratch_new();
	path = scratch_path(dir, "br2.db");
	store = made_open(path, STORE_WRITE);
	free(path);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	store_close(store);
	scratch_remove(dir);
	return 0;
}

static int add_value(void *context, const struct row *row, struct err *err)
{
	(void)err;
	buf_add(context, row->values[0].text.data, row->values[0].text.len);
	buf_addch(context, '\n');
	return 0;
}

/* The texts that a query about :name gives, a line each. */
static char *lines_of(const char *sql, struct str name)
{
	struct param param = {":name", {.type = VALUE_TEXT, .text = name}};
	struct buf buf = BUF_INIT;
	struct err err = ERR_INIT;

	if (store_query(store, sql, &param, 1, add_value, &buf, &err) < 0)
		fail_msg("%s", err.text);
	return buf_detach(&buf);
}

static void add_column(void *context, const struct view_column *column)
{
	buf_add(context, column->name.data, column->name.len);
	buf_addch(context, '\n');
}

static void test_columns_are_those_of_sqlite(void **state)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;
	struct view view;
	size_t count = 0;

	(void)state;
	for (; views_next(&cursor, &view); count++) {
		struct buf parsed = BUF_INIT;
		char *known = lines_of("SELECT name FROM pragma_table_info(:name)", view.name);

		view_columns(&view, add_column, &parsed);
		if (strcmp(parsed.data, known) != 0)
			fail_msg("%.*s: parsed\n%s, SQLite has\n%s", (int)view.name.len,
				 view.name.data, parsed.data, known);
		buf_release(&parsed);
		free(known);
	}
	assert_true(count > 10);
}

static void test_statements_are_whole(void **state)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;
	struct view view;

	(void)state;
	while (views_next(&cursor, &view)) {
		char *stored =
			lines_of("SELECT sql FROM sqlite_schema WHERE name = :name", view.name);

		assert_int_equal(strlen(stored), view.statement.len + 1);
		assert_memory_equal(stored, view.statement.data, view.statement.len);
		free(stored);
	}
}

static void test_every_view_is_found_and_no_other(void **state)
{
	char *names = lines_of("SELECT name FROM canned_view WHERE :name IS NOT NULL ORDER BY 1",
			       STR("any"));
	char *name, *rest = names;
	struct view view;
	size_t count = 0;

	(void)state;
	while ((name = strsep(&rest, "\n")) && *name) {
		assert_true(views_find(name, &view));
		assert_true(str_is(view.name, name));
		count++;
	}
	assert_true(count > 10);
	assert_false(views_find("no_such_view", &view));
	assert_false(views_find("", &view));
	free(names);
}

static void test_every_public_view_says_what_a_row_is(void **state)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;
	struct view view;

	(void)state;
	while (views_next(&cursor, &view)) {
		struct buf about = BUF_INIT;

		view_add_about(&view, &about);
		if (about.len < 10 || strchr(about.data, '\n'))
			fail_msg("%.*s: '%s'", (int)view.name.len, view.name.data, about.data);
		buf_release(&about);
	}
}

/* ---- against what sql_docs.py made of the same texts ---- */

/* As Markdown has it in a cell of a table. */
static void add_cell(struct buf *buf, struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (text.data[i] == '<')
			buf_addstr(buf, "&lt;");
		else if (text.data[i] == '|')
			buf_addstr(buf, "\\|");
		else
			buf_addch(buf, text.data[i]);
	}
}

static void add_line(void *context, const struct view_column *column)
{
	if (!column->about.len)
		fail_msg("no words on %.*s", (int)column->name.len, column->name.data);
	buf_addf(context, "| `%.*s` | ", (int)column->name.len, column->name.data);
	add_cell(context, (struct str){column->about.data, column->about.len});
	buf_addstr(context, " |\n");
}

static void add_section(struct buf *buf, const struct view *view)
{
	struct buf about = BUF_INIT;

	view_add_about(view, &about);
	buf_addf(buf, "### `%.*s`\n\n", (int)view->name.len, view->name.data);
	add_cell(buf, (struct str){about.data, about.len});
	buf_addstr(buf, "\n\n| column | |\n|---|---|\n");
	view_columns(view, add_line, buf);
	buf_addch(buf, '\n');
	buf_release(&about);
}

static void test_words_are_those_of_the_readme(void **state)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;
	struct buf readme = BUF_INIT, section = BUF_INIT;
	struct err err = ERR_INIT;
	struct view view;

	(void)state;
	if (file_read(QUERIES "/README.md", SIZE_MAX, &readme, &err) < 0)
		fail_msg("%s", err.text);
	while (views_next(&cursor, &view)) {
		buf_clear(&section);
		if (!view_is_private(&view))
			add_section(&section, &view);
		if (section.len && !strstr(readme.data, section.data))
			fail_msg("queries/README.md has not:\n%s", section.data);
	}
	buf_release(&section);
	buf_release(&readme);
}

/* ---- the parser's own cases, on a text of our own ---- */

static const char made[] = "-- a comment; in front\n"
			   "CREATE VIEW odd (\n"
			   "    -- What one row is;\n"
			   "    -- and more (of it).\n"
			   "    a,         -- first, with a comma\n"
			   "    b, c,      -- last of two\n"
			   "               -- goes on; here\n"
			   "    -- Above it,\n"
			   "    -- in two lines.\n"
			   "    d, e,      -- behind e\n"
			   "    -- Above f;\n"
			   "    f          -- behind f\n"
			   ") AS\n"
			   "SELECT ';', '--', \"x;\" /* ; */, 1 FROM t;\n"
			   "CREATE TABLE t (x);\n"
			   "CREATE VIEW odd_by_run (\n"
			   "    -- Short.\n"
			   "    run -- it\n"
			   ") AS SELECT 1";

static struct views_cursor made_cursor(void)
{
	static const struct embedded_sql files[] = {{"made", made, sizeof(made) - 1}, {0}};

	return (struct views_cursor){files, 0};
}

static void add_documented(void *context, const struct view_column *column)
{
	buf_addf(context, "%.*s=%s|", (int)column->name.len, column->name.data, column->about.data);
}

static void test_comments_belong_to_the_name_beside_or_below_them(void **state)
{
	struct views_cursor cursor = made_cursor();
	struct buf about = BUF_INIT, columns = BUF_INIT;
	struct view view;

	(void)state;
	assert_true(views_next(&cursor, &view));
	assert_true(str_is(view.name, "odd"));
	view_add_about(&view, &about);
	assert_string_equal(about.data, "What one row is; and more (of it).");
	view_columns(&view, add_documented, &columns);
	assert_string_equal(columns.data,
			    "a=first, with a comma|b=|c=last of two goes on; here|"
			    "d=Above it, in two lines.|e=behind e|f=Above f; behind f|");
	buf_release(&about);
	buf_release(&columns);
}

static void test_semicolons_in_strings_end_nothing(void **state)
{
	struct views_cursor cursor = made_cursor();
	struct view view;

	(void)state;
	assert_true(views_next(&cursor, &view));
	assert_memory_equal(view.statement.data + view.statement.len - 4, "OM t", 4);
	assert_false(view_is_form(&view));
	assert_true(views_next(&cursor, &view));
	assert_true(str_is(view.name, "odd_by_run"));
	assert_true(view_is_form(&view));
	assert_false(view_is_private(&view));
	assert_memory_equal(view.statement.data + view.statement.len - 1, "1", 1);
	assert_false(views_next(&cursor, &view));
	assert_false(views_next(&cursor, &view));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_those_of_sqlite),
		cmocka_unit_test(test_statements_are_whole),
		cmocka_unit_test(test_every_view_is_found_and_no_other),
		cmocka_unit_test(test_every_public_view_says_what_a_row_is),
		cmocka_unit_test(test_words_are_those_of_the_readme),
		cmocka_unit_test(test_comments_belong_to_the_name_beside_or_below_them),
		cmocka_unit_test(test_semicolons_in_strings_end_nothing),
	};

	return cmocka_run_group_tests(tests, open_new, close_it);
}

#include "made.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int result, const struct err *err)
{
	if (result < 0)
		fail_msg("%s", err->text);
}

char *made_bytes(const char *path, size_t *out_len)
{
	FILE *file = fopen(path, "rb");
	struct buf bytes = BUF_INIT;
	size_t got;

	assert_non_null(file);
	while ((got = fread(buf_reserve(&bytes, 65536), 1, 65536, file)) > 0)
		buf_grew(&bytes, got);
	fclose(file);
	if (out_len)
		*out_len = bytes.len;
	return buf_detach(&bytes);
}

struct lines {
	char **lines;
	size_t count;
	const char *table;
};

static void add_value(struct buf *line, const struct value *value)
{
	switch (value->type) {
	case VALUE_INTEGER:
		buf_addf(line, "%lld", (long long)value->integer);
		break;
	case VALUE_REAL:
		buf_addf(line, "%.17g", value->real);
		break;
	case VALUE_TEXT:
	case VALUE_BLOB:
		buf_addch(line, '\'');
		buf_add(line, value->text.data, value->text.len);
		buf_addch(line, '\'');
		break;
	case VALUE_NULL:
		buf_addstr(line, "NULL");
		break;
	}
}

static int add_line(void *context, const struct row *row, struct err *err)
{
	struct lines *lines = context;
	struct buf line = BUF_INIT;
	size_t i;

	(void)err;
	buf_addstr(&line, lines->table);
	for (i = 0; i < row->count; i++) {
		buf_addf(&line, "\t%s=", row->names[i]);
		add_value(&line, &row->values[i]);
	}
	lines->lines = xreallocarray(lines->lines, lines->count + 1, sizeof(*lines->lines));
	lines->lines[lines->count++] = buf_detach(&line);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Runs the SELECT that follows "-- table\n" at `at`; returns what is behind it. */
static char *dump_table(struct store *store, char *at, bool with_files, struct lines *lines)
{
	char *table = at + strlen("-- "), *sql = strchr(table, '\n'), *rest = strstr(at, ";\n");
	struct err err = ERR_INIT;

	assert_non_null(sql);
	assert_non_null(rest);
	*sql++ = '\0';
	*rest = '\0';
	lines->table = table;
	if (with_files || (strcmp(table, "log_file") != 0 && strcmp(table, "run_log") != 0))
		check(store_query(store, sql, NULL, 0, add_line, lines, &err), &err);
	return rest + 2;
}

static char *dump(const char *path, bool with_files)
{
	struct store *store = made_open(path, STORE_READ);
	char *sql = made_bytes(TEST_DATA "/../dump_rows.sql", NULL), *at = strstr(sql, "\n\n") + 2;
	struct lines lines = {NULL, 0, NULL};
	struct buf all = BUF_INIT;
	size_t i;

	while (*at)
		at = dump_table(store, at, with_files, &lines);
	qsort(lines.lines, lines.count, sizeof(*lines.lines), by_text);
	for (i = 0; i < lines.count; i++) {
		buf_addf(&all, "%s\n", lines.lines[i]);
		free(lines.lines[i]);
	}
	free(lines.lines);
	free(sql);
	store_close(store);
	return buf_detach(&all);
}

char *made_dump(const char *path)
{
	return dump(path, true);
}

char *made_dump_rows(const char *path)
{
	return dump(path, false);
}

static const char *skip_line(const char *line)
{
	return line + strcspn(line, "\n") + 1;
}

void made_assert_same(const char *rows, const char *wanted)
{
	while (*rows && *wanted) {
		size_t len = strcspn(rows, "\n"), wanted_len = strcspn(wanted, "\n");

		if (len != wanted_len || memcmp(rows, wanted, len) != 0)
			break;
		rows = skip_line(rows);
		wanted = skip_line(wanted);
	}
	if (*rows || *wanted)
		fail_msg("rows differ:\n  %.*s\nwanted:\n  %.*s", (int)strcspn(rows, "\n"), rows,
			 (int)strcspn(wanted, "\n"), wanted);
}

static int take_number(void *context, const struct row *row, struct err *err)
{
	(void)err;
	assert_int_equal(row->count, 1);
	assert_int_equal(row->values[0].type, VALUE_INTEGER);
	*(int64_t *)context = row->values[0].integer;
	return 0;
}

int64_t made_number(struct store *store, const char *sql)
{
	int64_t number = UNKNOWN;
	struct err err = ERR_INIT;

	check(store_query(store, sql, NULL, 0, take_number, &number, &err), &err);
	return number;
}

static int take_text(void *context, const struct row *row, struct err *err)
{
	const struct value *value = &row->values[0];

	(void)err;
	if (value->type != VALUE_NULL)
		*(char **)context = xmemdup0(value->text.data, value->text.len);
	return 0;
}

char *made_text(struct store *store, const char *sql)
{
	char *found = NULL;
	struct err err = ERR_INIT;

	check(store_query(store, sql, NULL, 0, take_text, &found, &err), &err);
	return found;
}

/* Questions: one SELECT, its rows through a callback. */
#include "store_db.h"

#include "util/mem.h"

#include <sqlite3.h>
#include <stdlib.h>

void store_quote_name(struct buf *buf, const char *name)
{
	buf_addch(buf, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_addch(buf, '"');
		buf_addch(buf, *name);
	}
	buf_addch(buf, '"');
}

/* As the tables hold texts: else one that came from outside would not be found there. */
static int bind_clean(sqlite3_stmt *stmt, int place, struct str text)
{
	struct buf scratch = BUF_INIT;
	struct str clean = text_clean(text, &scratch);
	int rc = sqlite3_bind_text64(stmt, place, clean.data, clean.len,
				     clean.data == text.data ? SQLITE_STATIC : SQLITE_TRANSIENT,
				     SQLITE_UTF8);

	buf_release(&scratch);
	return rc;
}

/* Parameters that this SELECT does not have are passed over: many share one set. */
static int bind_param(sqlite3_stmt *stmt, const struct param *param)
{
	const struct value *value = &param->value;
	int place = sqlite3_bind_parameter_index(stmt, param->name);

	if (!place)
		return SQLITE_OK;
	switch (value->type) {
	case VALUE_INTEGER:
		return sqlite3_bind_int64(stmt, place, value->integer);
	case VALUE_REAL:
		return sqlite3_bind_double(stmt, place, value->real);
	case VALUE_TEXT:
		return bind_clean(stmt, place, value->text);
	case VALUE_BLOB:
		return sqlite3_bind_blob64(stmt, place, value->text.data, value->text.len,
					   SQLITE_STATIC);
	case VALUE_NULL:
		break;
	}
	return sqlite3_bind_null(stmt, place);
}

static void read_value(sqlite3_stmt *stmt, int column, struct value *out)
{
	*out = (struct value){.type = VALUE_NULL};
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		out->type = VALUE_INTEGER;
		out->integer = sqlite3_column_int64(stmt, column);
		break;
	case SQLITE_FLOAT:
		out->type = VALUE_REAL;
		out->real = sqlite3_column_double(stmt, column);
		break;
	case SQLITE_TEXT:
		out->type = VALUE_TEXT;
		out->text.data = (const char *)sqlite3_column_text(stmt, column);
		out->text.len = (size_t)sqlite3_column_bytes(stmt, column);
		break;
	case SQLITE_BLOB:
		out->type = VALUE_BLOB;
		out->text.data = sqlite3_column_blob(stmt, column);
		out->text.len = (size_t)sqlite3_column_bytes(stmt, column);
		break;
	default:
		break;
	}
}

static void read_names(sqlite3_stmt *stmt, const char ***out_names, struct value **out_values)
{
	int i, count = sqlite3_column_count(stmt);

	*out_names = xcalloc((size_t)count + 1, sizeof(**out_names));
	*out_values = xcalloc((size_t)count + 1, sizeof(**out_values));
	for (i = 0; i < count; i++)
		(*out_names)[i] = sqlite3_column_name(stmt, i);
}

static int each_row(struct store *store, sqlite3_stmt *stmt, store_row_fn *row, void *context,
		    struct err *err)
{
	const char **names = NULL;
	struct value *values = NULL;
	int i, count, code, verdict = 0;

	while (!verdict && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (!names) /* the first step may have prepared it anew */
			read_names(stmt, &names, &values);
		count = sqlite3_column_count(stmt);
		for (i = 0; i < count; i++)
			read_value(stmt, i, &values[i]);
		if (row)
			verdict = row(context, &(struct row){names, values, (size_t)count}, err);
	}
	if (!verdict && code != SQLITE_DONE)
		verdict = db_error(store, "cannot answer", err);
	free(names);
	free(values);
	return verdict < 0 ? -1 : 0;
}

int store_query(struct store *store, const char *sql, const struct param *params, size_t count,
		store_row_fn *row, void *context, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	size_t i;
	int failed = -1;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		db_error(store, "cannot answer", err);
		goto out;
	}
	if (!stmt || !sqlite3_stmt_readonly(stmt)) {
		err_set(err, ERR_USAGE, "%s: not a question: %.200s", store->path, sql);
		goto out;
	}
	for (i = 0; i < count; i++)
		if (bind_param(stmt, &params[i]) != SQLITE_OK) {
			db_error(store, "cannot answer", err);
			goto out;
		}
	failed = each_row(store, stmt, row, context, err);
out:
	sqlite3_finalize(stmt);
	return failed;
}

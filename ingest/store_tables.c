#include "store_tables.h"

#include "embedded.h"
#include "store_db.h"
#include "store_sql.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* A table or index that a step makes. */
struct object {
	struct str name, table; /* an index's; a table's own name */
	struct str sql;
	char *amended; /* what sql borrows once a step has added a column; NULL: the step */
	bool is_index, seen;
};

struct tables {
	struct object *objects;
	size_t count;
	size_t next; /* the one that the file's next row should be: as a rule it is */
};

static void tables_release(struct tables *tables)
{
	size_t i;

	for (i = 0; i < tables->count; i++)
		free(tables->objects[i].amended);
	free(tables->objects);
}

static struct object *find(struct tables *tables, struct str name)
{
	size_t i;

	for (i = 0; i < tables->count; i++) {
		size_t at = (tables->next + i) % tables->count;

		if (str_equal(tables->objects[at].name, name)) {
			tables->next = at + 1;
			return &tables->objects[at];
		}
	}
	return NULL;
}

/* ---- what the steps make ---- */

static void add(struct tables *tables, struct object object)
{
	tables->objects =
		xreallocarray(tables->objects, tables->count + 1, sizeof(*tables->objects));
	tables->objects[tables->count++] = object;
}

static bool drop(struct tables *tables, struct str name)
{
	struct object *object = find(tables, name);

	if (!object)
		return false;
	free(object->amended);
	*object = tables->objects[--tables->count];
	return true;
}

/* As SQLite does it: in front of the parenthesis that ends the columns. */
static bool add_column(struct tables *tables, struct str name, struct str column)
{
	struct object *object = find(tables, name);
	struct buf sql = BUF_INIT;
	size_t end;

	if (!object)
		return false;
	for (end = object->sql.len; end && object->sql.data[end - 1] != ')'; end--)
		;
	if (!end)
		return false;
	buf_add(&sql, object->sql.data, end - 1);
	buf_addstr(&sql, ", ");
	buf_add(&sql, column.data, column.len);
	buf_add(&sql, object->sql.data + end - 1, object->sql.len - end + 1);
	free(object->amended);
	object->sql.len = sql.len;
	object->sql.data = object->amended = buf_detach(&sql);
	return true;
}

static bool create(struct tables *tables, struct str sql, struct str rest)
{
	struct object object = {.sql = sql};
	struct str word = sql_word(&rest);

	if (str_is(word, "UNIQUE"))
		word = sql_word(&rest);
	object.is_index = str_is(word, "INDEX");
	if (!object.is_index && !str_is(word, "TABLE"))
		return false;
	object.name = object.table = sql_word(&rest);
	if (object.is_index) {
		if (!str_is(sql_word(&rest), "ON"))
			return false;
		object.table = sql_word(&rest);
	}
	add(tables, object);
	return true;
}

/* "result ADD COLUMN …" */
static bool alter(struct tables *tables, struct str rest)
{
	struct str name = sql_word(&rest);

	if (!str_is(sql_word(&rest), "ADD") || !str_is(sql_word(&rest), "COLUMN"))
		return false;
	return add_column(tables, name, (struct str){rest.data + 1, rest.len - 1});
}

/* Follows one statement; false: it is of no kind that is known here. */
static bool follow(struct tables *tables, struct str sql)
{
	struct str rest = sql, word = sql_word(&rest), object;

	if (str_is(word, "CREATE"))
		return create(tables, sql, rest);
	if (str_is(word, "INSERT") || str_is(word, "UPDATE") || str_is(word, "DELETE") ||
	    str_is(word, "ANALYZE"))
		return true;
	object = sql_word(&rest);
	if (str_is(word, "ALTER") && str_is(object, "TABLE"))
		return alter(tables, rest);
	return str_is(word, "DROP") && str_is(object, "INDEX") && drop(tables, sql_word(&rest));
}

static int follow_steps(struct store *store, int64_t version, struct tables *tables,
			struct err *err)
{
	int64_t i;

	for (i = 0; i < version; i++) {
		const char *at = schema_steps[i].text;
		struct str sql;

		while ((sql = sql_next(&at)).len)
			if (!follow(tables, sql))
				return err_set(err, ERR_DB,
					       "%s: schema/%s.sql: not followed: %.40s",
					       store->path, schema_steps[i].name, sql.data);
	}
	tables->next = 0;
	return 0;
}

/* ---- what the file has ---- */

#define SHOWN 40 /* bytes of each side where they differ */

static int say_difference(struct store *store, const struct object *ours, struct str sql,
			  struct err *err)
{
	size_t at = 0;

	while (at < ours->sql.len && at < sql.len && ours->sql.data[at] == sql.data[at])
		at++;
	return err_set(err, ERR_DB,
		       "%s: not opened: %s %.*s is not as br2-ingest makes it: '%.*s' in place of"
		       " '%.*s'; choose another file with --db",
		       store->path, ours->is_index ? "index" : "table", (int)ours->name.len,
		       ours->name.data, (int)(sql.len - at < SHOWN ? sql.len - at : SHOWN),
		       sql.data ? sql.data + at : "",
		       (int)(ours->sql.len - at < SHOWN ? ours->sql.len - at : SHOWN),
		       ours->sql.data + at);
}

static bool stands_before_sqlite(struct str name)
{
	struct buf lower = BUF_INIT;
	size_t i;
	bool does;

	for (i = 0; i < name.len; i++)
		buf_addch(&lower, name.data[i] >= 'A' && name.data[i] <= 'Z'
					  ? (char)(name.data[i] - 'A' + 'a')
					  : name.data[i]);
	does = strncmp(lower.data, "pragma_", 7) == 0 || strcmp(lower.data, "json_each") == 0 ||
	       strcmp(lower.data, "json_tree") == 0;
	buf_release(&lower);
	return does;
}

/* 1: it only helps to find rows; 0: it computes or refuses; -1. */
static int is_plain_index(struct store *store, struct str name, struct err *err)
{
	struct statement *s = db_use(
		store, ST_INDEX_PLAIN,
		"SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema m, pragma_index_list(m.tbl_name) l"
		" WHERE m.name = :name AND l.name = m.name"
		" AND (l.\"unique\" OR l.partial))"
		" AND NOT EXISTS (SELECT 1 FROM pragma_index_info(:name) WHERE name IS NULL)");
	int plain;

	bind_text(s, ":name", name);
	if (db_row(s, err) < 0)
		return -1;
	plain = column_int(s, 0) == 1;
	db_reset(s);
	return plain;
}

static int check_row(struct store *store, struct tables *tables, struct statement *s,
		     struct err *err)
{
	struct str name = column_text(s, 1), sql = column_text(s, 3);
	struct object *ours = find(tables, name);

	if (ours) {
		if (!str_is(column_text(s, 0), ours->is_index ? "index" : "table") ||
		    !str_equal(column_text(s, 2), ours->table) || !str_equal(sql, ours->sql))
			return say_difference(store, ours, sql, err);
		ours->seen = true;
		return 0;
	}
	if (stands_before_sqlite(name))
		return err_set(err, ERR_DB,
			       "%s: not opened: '%.*s' in it has the name of a part of SQLite;"
			       " choose another file with --db",
			       store->path, (int)(name.len < 64 ? name.len : 64), name.data);
	return 0;
}

static int check_seen(struct store *store, const struct tables *tables, struct err *err)
{
	size_t i;

	for (i = 0; i < tables->count; i++)
		if (!tables->objects[i].seen)
			return err_set(err, ERR_DB,
				       "%s: not opened: %s %.*s of br2-ingest is missing in it;"
				       " choose another file with --db",
				       store->path, tables->objects[i].is_index ? "index" : "table",
				       (int)tables->objects[i].name.len,
				       tables->objects[i].name.data);
	return 0;
}

/*
 * SQLite's own indexes have no SQL; views are compared where they are made. Here a letter's
 * case counts: SQLite itself takes a row's RUN for run.
 */
static int check_rows(struct store *store, struct tables *tables, struct err *err)
{
	struct statement *s =
		db_use(store, ST_OBJECTS,
		       "SELECT type, name, tbl_name, CASE WHEN type <> 'view' THEN sql"
		       " END FROM main.sqlite_schema WHERE sql IS NOT NULL");
	int more;

	while ((more = db_step(s, err)) > 0)
		if (check_row(store, tables, s, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more < 0 ? -1 : check_seen(store, tables, err);
}

/* Somebody's index on a table of ours. Asked last: only now no name stands before SQLite's. */
static int check_indexes(struct store *store, struct tables *tables, struct err *err)
{
	struct statement *s = db_use(store, ST_INDEXES,
				     "SELECT name, lower(tbl_name) FROM main.sqlite_schema"
				     " WHERE lower(type) = 'index' AND sql IS NOT NULL");
	int more, plain = 1;

	while ((more = db_step(s, err)) > 0) {
		struct str name = column_text(s, 0);

		if (find(tables, name) || !find(tables, column_text(s, 1)))
			continue;
		plain = is_plain_index(store, name, err);
		if (plain == 0)
			err_set(err, ERR_DB,
				"%s: not opened: index %.*s is not br2-ingest's, and would decide "
				"or"
				" compute when it writes; DROP it, or choose another file with "
				"--db",
				store->path, (int)(name.len < 64 ? name.len : 64), name.data);
		if (plain <= 0)
			break;
	}
	db_reset(s);
	return plain <= 0 || more < 0 ? -1 : 0;
}

int tables_check(struct store *store, int64_t version, struct err *err)
{
	struct tables tables = {NULL, 0, 0};
	int rc = follow_steps(store, version, &tables, err);

	if (rc == 0)
		rc = check_rows(store, &tables, err);
	if (rc == 0)
		rc = check_indexes(store, &tables, err);
	tables_release(&tables);
	return rc;
}

/*
 * What people wrote or listed: rows of tables that are the user's to change,
 * project.json's lists, and the files that were read.
 */
#include "store_merge_db.h"

#include "util/mem.h"

#include <sqlite3.h>
#include <stdlib.h>

/* ---- rows that are the user's ---- */

/* Tables of which a source's rows are taken where the database has none of that key. */
static const struct users_table {
	const char *name, *key, *columns;
	int keys; /* the first columns */
} users_tables[] = {
	{"pool_spec", "(cache, pool, valid_from_ns) = (?1, ?2, ?3)",
	 "cache, pool, valid_from_ns, enabled, instance_prefix, concurrency, cpu_request_milli,"
	 " cpu_limit_milli, memory_request_bytes, memory_limit_bytes, workers_min, workers_max,"
	 " cooldown_s",
	 3},
	{"shape", "shape = ?1", "shape, cpu_milli, memory_request_bytes, memory_limit_bytes", 1},
	{"mode", "mode = ?1",
	 "mode, remote_cache, cache_uploads, remote_execution, local_execution", 1},
	{"variant", "variant = ?1", "variant", 1},
	{"oom_pattern", "pattern = ?1", "pattern, about", 1},
	{"tail_pattern", "pattern = ?1", "pattern, about", 1},
};

/* Statements over one table: of the source, of the shipped tables, of the database. */
struct copying {
	struct sqlite3_stmt *rows, *shipped, *known, *put;
	int columns;
};

static void add_places(struct buf *sql, int count)
{
	int i;

	for (i = 1; i <= count; i++)
		buf_addf(sql, "%s?%d", i > 1 ? ", " : "", i);
}

static int prepare(struct sqlite3 *db, const struct buf *sql, struct sqlite3_stmt **out)
{
	return sqlite3_prepare_v2(db, sql->data, (int)sql->len, out, NULL);
}

/* SQLite's code. */
static int prepare_all(struct merge *merge, const struct users_table *table, struct copying *out)
{
	struct buf sql = BUF_INIT;
	int code;

	buf_addf(&sql, "SELECT %s FROM %s", table->columns, table->name);
	code = prepare(merge->from->db, &sql, &out->rows);
	out->columns = sqlite3_column_count(out->rows);
	buf_clear(&sql);
	/* A row that is there as shipped, or was and has been dropped by its user. */
	buf_addf(&sql, "SELECT 1 FROM %s WHERE %s", table->name, table->key);
	if (code == SQLITE_OK)
		code = prepare(merge->from->shipped, &sql, &out->shipped);
	buf_clear(&sql);
	buf_addf(&sql, "SELECT (%s) IS (", table->columns);
	add_places(&sql, out->columns);
	buf_addf(&sql, ") FROM %s WHERE %s", table->name, table->key);
	if (code == SQLITE_OK)
		code = prepare(merge->into->db, &sql, &out->known);
	buf_clear(&sql);
	buf_addf(&sql, "INSERT INTO %s (%s) VALUES (", table->name, table->columns);
	add_places(&sql, out->columns);
	buf_addch(&sql, ')');
	if (code == SQLITE_OK)
		code = prepare(merge->into->db, &sql, &out->put);
	buf_release(&sql);
	return code;
}

static void finalize_all(struct copying *copying)
{
	sqlite3_finalize(copying->rows);
	sqlite3_finalize(copying->shipped);
	sqlite3_finalize(copying->known);
	sqlite3_finalize(copying->put);
}

/* The source's row goes into the first `count` places; SQLite's code of the step. */
static int step_with(const struct copying *copying, struct sqlite3_stmt *statement, int count)
{
	int i;

	sqlite3_reset(statement);
	for (i = 0; i < count; i++)
		sqlite3_bind_value(statement, i + 1, sqlite3_column_value(copying->rows, i));
	return sqlite3_step(statement);
}

static int copy_row(struct merge *merge, const struct users_table *table,
		    const struct copying *copying, struct err *err)
{
	int code = step_with(copying, copying->shipped, table->keys);

	if (code == SQLITE_ROW)
		return 0;
	code = step_with(copying, copying->known, copying->columns);
	if (code == SQLITE_ROW) {
		merge->tally->kept += !sqlite3_column_int(copying->known, 0);
		return 0;
	}
	if (code == SQLITE_DONE)
		code = step_with(copying, copying->put, copying->columns);
	return code == SQLITE_DONE ? 0 : db_error(merge->into, table->name, err);
}

static int copy_table(struct merge *merge, const struct users_table *table, struct err *err)
{
	struct copying copying = {0};
	int rc = 0, code;

	if (prepare_all(merge, table, &copying) != SQLITE_OK) {
		finalize_all(&copying);
		return err_set(err, ERR_DB, "%s: cannot merge its table %s", merge->from->path,
			       table->name);
	}
	while (rc == 0 && (code = sqlite3_step(copying.rows)) != SQLITE_DONE)
		rc = code == SQLITE_ROW ? copy_row(merge, table, &copying, err)
					: db_error(merge->from, table->name, err);
	finalize_all(&copying);
	return rc;
}

/* ---- project.json's lists ---- */

struct listed {
	const char **packages;
	size_t count;
};

static int read_listed(struct merge *merge, int64_t project_id, struct listed *out, struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_LISTED,
				     "SELECT package FROM listed_package"
				     " WHERE project_id = :project ORDER BY position");
	struct str name;
	int more;

	bind_int(s, ":project", project_id);
	while ((more = db_step(s, err)) > 0) {
		if (keep_text(merge, &merge->arena, column_text(s, 0), &name, err) < 0) {
			db_reset(s);
			return -1;
		}
		out->packages =
			xreallocarray(out->packages, out->count + 1, sizeof(*out->packages));
		out->packages[out->count++] = name.data;
	}
	return more;
}

/* 1: the database's list of the project is as young, or younger; 0; -1. */
static int is_outranked(struct merge *merge, struct str project, struct str path, int64_t mtime_ns,
			struct err *err)
{
	struct statement *s = db_use(merge->into, ST_INTO_LISTING,
				     "SELECT 1 FROM project_file f JOIN project p USING"
				     " (project_id) WHERE p.name = :project"
				     " AND (f.mtime_ns, f.path) >= (:mtime, :path)");
	int found;

	bind_text(s, ":project", project);
	bind_int(s, ":mtime", mtime_ns);
	bind_text(s, ":path", path);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

static int merge_listing(struct merge *merge, struct statement *s, struct err *err)
{
	struct str project = column_text(s, 1), path = column_text(s, 2);
	int64_t mtime_ns = column_int(s, 3);
	int outranked = is_outranked(merge, project, path, mtime_ns, err), rc;
	struct listed listed = {NULL, 0};

	if (outranked)
		return outranked < 0 ? -1 : 0;
	arena_reset(&merge->arena);
	rc = read_listed(merge, column_int(s, 0), &listed, err);
	if (rc == 0) {
		const struct listing listing = {project.data, path.data, mtime_ns, listed.packages,
						listed.count};

		rc = store_put_listing(merge->into, &listing, err);
	}
	free(listed.packages);
	return rc;
}

static int merge_listings(struct merge *merge, struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_LISTINGS,
				     "SELECT f.project_id, p.name, f.path, f.mtime_ns"
				     " FROM project_file f JOIN project p USING (project_id)");
	int more;

	while ((more = db_step(s, err)) > 0)
		if (merge_listing(merge, s, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

int merge_user(struct merge *merge, struct err *err)
{
	size_t i;

	for (i = 0; i < sizeof(users_tables) / sizeof(*users_tables); i++)
		if (copy_table(merge, &users_tables[i], err) < 0)
			return -1;
	return merge_listings(merge, err);
}

/* ---- files ---- */

/* 1: the database knows the path; 0; -1. */
static int knows_path(struct merge *merge, struct str path, struct err *err)
{
	struct statement *s =
		db_use(merge->into, ST_INTO_FILE_KNOWN,
		       "SELECT 1 FROM log_file WHERE path = :path AND bytes IS NOT NULL");
	int found;

	bind_text(s, ":path", path);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

/* What is known of a file is of one moment: the younger one is taken whole. */
static int put_file(struct merge *merge, struct columns *c, struct err *err)
{
#define OF(row)                                                                                \
	"(ifnull(" row "mtime_ns, -1), ifnull(" row "bytes, -1), ifnull(" row "records, -1), " \
	"ifnull(" row "malformed, -1), ifnull(" row "too_large, -1), ifnull(" row              \
	"ending, ''), ifnull(" row "note, ''))"
	struct statement *s =
		db_use(merge->into, ST_INTO_FILE,
		       "INSERT INTO log_file (path, bytes, mtime_ns, ending, records, malformed,"
		       " too_large, note) VALUES (:path, :bytes, :mtime_ns, :ending, :records,"
		       " :malformed, :too_large, :note) ON CONFLICT (path) DO UPDATE SET"
		       " bytes = excluded.bytes, mtime_ns = excluded.mtime_ns,"
		       " ending = excluded.ending, records = excluded.records,"
		       " malformed = excluded.malformed, too_large = excluded.too_large,"
		       " note = excluded.note WHERE " OF("excluded.") " > " OF("log_file."));
#undef OF

	bind_text(s, ":path", next_text(c));
	bind_int(s, ":bytes", next_int(c));
	bind_int(s, ":mtime_ns", next_int(c));
	bind_text(s, ":ending", next_text(c));
	bind_int(s, ":records", next_int(c));
	bind_int(s, ":malformed", next_int(c));
	bind_int(s, ":too_large", next_int(c));
	bind_text(s, ":note", next_text(c));
	return db_done(s, err);
}

static int merge_file(struct merge *merge, struct statement *s, struct err *err)
{
	struct columns c = {s, 0};
	int known = knows_path(merge, column_text(s, 0), err);

	if (known < 0 || put_file(merge, &c, err) < 0)
		return -1;
	merge->tally->files += !known;
	merge->tally->files_known += known;
	return merge_rows(merge, 1, err);
}

int merge_files(struct merge *merge, struct err *err)
{
	struct statement *s = db_use(merge->from, ST_FROM_FILES,
				     "SELECT path, bytes, mtime_ns, ending, records, malformed,"
				     " too_large, note FROM log_file ORDER BY log_file_id");
	int more;

	while ((more = db_step(s, err)) > 0)
		if (merge_file(merge, s, err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

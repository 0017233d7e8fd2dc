/*
 * Opening another database to merge it. It may be a stranger's: as with every file
 * that is opened, its tables are compared with the shipped steps; then plain columns
 * of these are read. Its views and triggers are never touched.
 */
#include "store_source.h"

#include "embedded.h"
#include "store_merge.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Byte 18 of the header: the file format's write version. 2: the database is in WAL mode. */
#define WRITE_VERSION_AT 18
#define WRITE_VERSION_WAL 2

/* ---- the file ---- */

/* 1: its header says WAL; 0: it does not; -1. */
static int is_wal(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	unsigned char version = 0;
	ssize_t got;

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "%s: cannot read the database", path);
	got = pread(fd, &version, 1, WRITE_VERSION_AT);
	close(fd);
	return got == 1 && version == WRITE_VERSION_WAL;
}

static int check_no_wal(const char *path, struct err *err)
{
	char *wal = xasprintf("%s-wal", path);
	struct stat st;
	bool full = stat(wal, &st) == 0 && st.st_size > 0;

	free(wal);
	if (!full)
		return 0;
	return err_set(err, ERR_DB,
		       "%s: its newest rows are still in %s-wal: another program has it open, or"
		       " was killed; close that, or run: sqlite3 %s 'PRAGMA wal_checkpoint"
		       "(TRUNCATE)'",
		       path, path, path);
}

/* A path as a URI has it. */
static char *uri_of(const char *path)
{
	struct buf uri = BUF_INIT;

	buf_addstr(&uri, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_addf(&uri, "%%%02X", (unsigned)*path);
		else
			buf_addch(&uri, *path);
	buf_addstr(&uri, "?immutable=1");
	return buf_detach(&uri);
}

/*
 * Reading a file in WAL mode makes two more beside it, even where that is all
 * that is asked for; so it is opened as one that nobody changes, and
 * source_unchanged() sees to it that nobody did.
 */
int source_name(const char *path, char **out_name, int *out_flags, struct err *err)
{
	int wal = is_wal(path, err);

	*out_flags = SQLITE_OPEN_READONLY;
	if (wal < 0 || (wal && check_no_wal(path, err) < 0))
		return -1;
	*out_name = wal ? uri_of(path) : xstrdup(path);
	if (wal)
		*out_flags |= SQLITE_OPEN_URI;
	return 0;
}

static int stamp_of(const char *path, struct source_stamp *out, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_errno(err, ERR_IO, errno, "%s: cannot read the database", path);
	*out = (struct source_stamp){st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
	return 0;
}

int source_unchanged(struct store *source, struct err *err)
{
	struct source_stamp now;

	if (check_no_wal(source->path, err) < 0 || stamp_of(source->path, &now, err) < 0)
		return -1;
	if (memcmp(&now, &source->stamp, sizeof(now)) == 0)
		return 0;
	return err_set(err, ERR_DB, "%s: changed while it was read: merge it again", source->path);
}

/* What the steps make: to know which rows are as shipped. */
static int make_shipped(struct store *source, struct err *err)
{
	const struct embedded_sql *step = schema_steps;
	int code = sqlite3_open(":memory:", &source->shipped);

	for (; code == SQLITE_OK && step->name; step++)
		code = sqlite3_exec(source->shipped, step->text, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		return 0;
	return err_set(err, ERR_DB, "the shipped schema: %s", sqlite3_errmsg(source->shipped));
}

/* ---- its rows ---- */

/* A row 'ok', or one for each fault: the first is enough. */
static int check_pages(struct store *source, const char *table, struct err *err)
{
	char *sql = xasprintf("PRAGMA integrity_check(%s)", table);
	struct sqlite3_stmt *statement = NULL;
	const char *said = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(source->db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		said = (const char *)sqlite3_column_text(statement, 0);
	if (!said)
		rc = db_error(source, "cannot read it", err);
	else if (strcmp(said, "ok") != 0)
		rc = err_set(err, ERR_DB, "%s: damaged: %s: nothing of it is merged", source->path,
			     said);
	sqlite3_finalize(statement);
	free(sql);
	return rc;
}

static int check_references(struct store *source, const char *table, struct err *err)
{
	struct statement *s = db_use(source, ST_SOURCE_REFERENCES,
				     "SELECT parent FROM pragma_foreign_key_check(:table) LIMIT 1");
	int found;

	bind_text(s, ":table", str_of(table));
	found = db_step(s, err);
	if (found > 0)
		err_set(err, ERR_DB,
			"%s: damaged: a row of its table %s refers to one of %s that is not"
			" there: nothing of it is merged",
			source->path, table, column_text(s, 0).data);
	db_reset(s);
	return found ? -1 : 0;
}

/* Runs a check for each table that is shipped. */
static int each_table(struct store *source,
		      int (*check)(struct store *source, const char *table, struct err *err),
		      struct err *err)
{
	struct sqlite3_stmt *tables = NULL;
	int rc = -1, code;

	if (sqlite3_prepare_v2(source->shipped,
			       "SELECT name FROM sqlite_schema WHERE type = 'table'"
			       " AND name NOT GLOB 'sqlite_*'",
			       -1, &tables, NULL) != SQLITE_OK) {
		err_set(err, ERR_DB, "the shipped schema: %s", sqlite3_errmsg(source->shipped));
		return -1;
	}
	while ((code = sqlite3_step(tables)) == SQLITE_ROW)
		if (check(source, (const char *)sqlite3_column_text(tables, 0), err) < 0)
			goto out;
	if (code == SQLITE_DONE)
		rc = 0;
	else
		err_set(err, ERR_DB, "the shipped schema: %s", sqlite3_errmsg(source->shipped));
out:
	sqlite3_finalize(tables);
	return rc;
}

int source_verify(struct store *source, struct err *err)
{
	if (db_exec(source, "PRAGMA query_only = ON; PRAGMA cache_size = -4096; BEGIN", err) < 0 ||
	    stamp_of(source->path, &source->stamp, err) < 0 || make_shipped(source, err) < 0 ||
	    each_table(source, check_pages, err) < 0)
		return -1;
	return each_table(source, check_references, err);
}

int store_open_source(struct store **out_store, const char *path, struct err *err)
{
	return store_open(out_store, path, STORE_SOURCE, err);
}

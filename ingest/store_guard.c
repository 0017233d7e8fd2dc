#include "store_guard.h"

#include <sqlite3.h>
#include <sys/stat.h>

#define BUSY_MS 60000
/*
 * Of SQLite's cache: one slice of a log, or one batch of results, with the index
 * pages that it touches, and nothing near the 64 MB that the whole program may use.
 */
#define CACHE_SIZE "PRAGMA cache_size = -20480;" /* KiB */

/* Opening a pipe would wait for whoever holds its other end. */
int guard_path(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(err, ERR_IO, "%s: not a file, so no database", path);
	return 0;
}

/* The largest text or blob: several times a record or reply, which have 16 MiB at most. */
#define VALUE_MAX (64 << 20)
#define SQL_MAX (1 << 20)
#define GLOB_MAX 1000 /* bytes of a pattern: GLOB takes time in a power of its stars */

static void set_limits(sqlite3 *db)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, GLOB_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

/*
 * The file may be a stranger's: its triggers do not run, functions in its schema
 * are the harmless ones only, no code is loaded, and nothing of SQLite's own tables
 * can be written. Its tables are compared with ours (store_tables.h), its views stand
 * behind ours (store_views.h), its journal names no other file (store_vfs.h).
 * The journal is a file beside it, deleted at each commit, unless the user has
 * turned the database to WAL.
 */
static int configure(struct store *store, struct err *err)
{
	static const struct {
		int option, value;
	} options[] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		{SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
	};
	size_t i;

	set_limits(store->db);
	for (i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (sqlite3_db_config(store->db, options[i].option, options[i].value, NULL) !=
		    SQLITE_OK)
			return db_error(store, "cannot use the database", err);
	if (sqlite3_busy_timeout(store->db, BUSY_MS) != SQLITE_OK)
		return db_error(store, "cannot use the database", err);
	/* The first statement reads the schema. */
	return db_exec(store,
		       "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
		       "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;" CACHE_SIZE
		       "SELECT 1 FROM main.sqlite_schema LIMIT 1",
		       err);
}

/*
 * Reading the schema takes memory for each object in it. SQLite calls this once in so many
 * steps; it takes about eight of them for an object.
 */
#define SCHEMA_STEPS 1000
#define SCHEMA_CALLS 100 /* about 12,000 objects: ours are 300 */

static int count_call(void *calls)
{
	return ++*(int *)calls > SCHEMA_CALLS;
}

int guard_open(struct store *store, struct err *err)
{
	int calls = 0, rc;

	sqlite3_progress_handler(store->db, SCHEMA_STEPS, count_call, &calls);
	rc = configure(store, err);
	sqlite3_progress_handler(store->db, 0, NULL, NULL);
	return rc;
}

/* Opening: whose file it is, which schema it has, and taking it forward. */
#include "store_db.h"

#include "embedded.h"
#include "store_source.h"
#include "store_guard.h"
#include "store_memory.h"
#include "store_tables.h"
#include "store_vfs.h"
#include "store_views.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "BR2I": what `file` shows, and how another program's database is told apart. */
#define APPLICATION_ID INT64_C(0x42523249)
#define NAMES_MAX 16384
#define NAMES_BYTES ((size_t)2 << 20)

/* ---- the file ---- */

/* A name that SQLite would take for a URI or a database in memory is a file, too. */
static char *plain_path(const char *path)
{
	return path[0] == '/' ? xstrdup(path) : xasprintf("./%s", path);
}

/* Makes the folders that lead to the file, for their owner only. */
static int make_folders(const char *path, struct err *err)
{
	char *copy = xstrdup(path), *slash;
	int failed = 0;

	for (slash = strchr(copy + 1, '/'); slash && !failed; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST && access(copy, F_OK) < 0)
			failed = err_errno(err, ERR_IO, errno, "%s: cannot make the folder", copy);
		*slash = '/';
	}
	free(copy);
	return failed;
}

/* SQLite would create it 0644: what is in it is the user's alone, until he says otherwise. */
static int make_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "%s: cannot write the database", path);
	close(fd);
	return 0;
}

static int open_file(struct store *store, struct err *err)
{
	bool write = store->access == STORE_WRITE;
	int flags = write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, code;
	char *name = NULL;

	if (write && (make_folders(store->path, err) < 0 || make_file(store->path, err) < 0))
		return -1;
	if (!write && access(store->path, F_OK) < 0)
		return err_errno(err, ERR_IO, errno, "%s: no database", store->path);
	if (guard_path(store->path, err) < 0)
		return -1;
	store_memory();
	if (store->access == STORE_SOURCE && source_name(store->path, &name, &flags, err) < 0)
		return -1;
	code = sqlite3_open_v2(name ? name : store->path, &store->db,
			       flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, store_vfs());
	free(name);
	if (code != SQLITE_OK)
		return db_error(store, "cannot open the database", err);
	if (write && sqlite3_db_readonly(store->db, "main"))
		return err_set(err, ERR_IO, "%s: no write access to the database", store->path);
	return 0;
}

/* ---- whose it is ---- */

struct identity {
	int64_t application_id, version, objects;
};

static int64_t newest_version(void)
{
	int64_t version = 0;

	while (schema_steps[version].name)
		version++;
	return version;
}

static int read_number(struct store *store, enum statement_id id, const char *sql, int64_t *out,
		       struct err *err)
{
	struct statement *s = db_use(store, id, sql);

	if (db_row(s, err) < 0)
		return -1;
	*out = column_int(s, 0);
	db_reset(s);
	return 0;
}

/* PRAGMA as statements: a stranger's table can stand before the functions of these names. */
static int read_identity(struct store *store, struct identity *out, struct err *err)
{
	if (read_number(store, ST_OBJECT_COUNT, "SELECT count(*) FROM main.sqlite_schema",
			&out->objects, err) < 0 ||
	    read_number(store, ST_APPLICATION_ID, "PRAGMA main.application_id",
			&out->application_id, err) < 0)
		return -1;
	return read_number(store, ST_USER_VERSION, "PRAGMA main.user_version", &out->version, err);
}

static bool is_empty(const struct identity *identity)
{
	return !identity->application_id && !identity->version && !identity->objects;
}

static int check_identity(struct store *store, const struct identity *identity, struct err *err)
{
	int64_t newest = newest_version();

	if (is_empty(identity)) {
		if (store->access == STORE_WRITE)
			return 0;
		return err_set(err, ERR_DB, "%s: an empty file: nothing was ingested into it yet",
			       store->path);
	}
	if (identity->application_id != APPLICATION_ID)
		return err_set(err, ERR_DB,
			       "%s: another program's database (application_id 0x%08llx):"
			       " left alone; choose another file with --db",
			       store->path,
			       (unsigned long long)identity->application_id & 0xffffffff);
	if (identity->version > newest || identity->version < 1)
		return err_set(err, ERR_DB,
			       "%s: made by a newer br2-ingest (its schema is number %lld, this"
			       " program knows %lld): left alone",
			       store->path, (long long)identity->version, (long long)newest);
	if (identity->version < newest && store->access != STORE_WRITE)
		return err_set(err, ERR_DB,
			       "%s: made by an older br2-ingest (its schema is number %lld, this"
			       " program's %lld): an ingest takes it forward",
			       store->path, (long long)identity->version, (long long)newest);
	return 0;
}

/* ---- taking it forward ---- */

/* What the file is, and that its tables are those of its version. */
static int examine(struct store *store, struct identity *out, struct err *err)
{
	if (read_identity(store, out, err) < 0 || check_identity(store, out, err) < 0)
		return -1;
	return is_empty(out) ? 0 : tables_check(store, out->version, err);
}

static int apply_step(struct store *store, const struct embedded_sql *step, struct err *err)
{
	if (db_exec(store, step->text, err) < 0)
		/* A full disk is nothing that its text could help. */
		return err->kind == ERR_IO ? -1 : err_prefix(err, "schema/%s.sql", step->name);
	return 0;
}

static int put_identity(struct store *store, int64_t version, struct err *err)
{
	char numbers[96];

	snprintf(numbers, sizeof(numbers),
		 "PRAGMA application_id = %lld; PRAGMA user_version = %lld",
		 (long long)APPLICATION_ID, (long long)version);
	return db_exec(store, numbers, err);
}

/*
 * All steps and the number in one transaction: a kill, or a step that fails, leaves the
 * file as it was. Another process may have made them meanwhile.
 */
static int take_forward(struct store *store, struct err *err)
{
	struct identity identity;
	int64_t newest = newest_version(), version;

	if (store_begin(store, err) < 0)
		return -1;
	if (examine(store, &identity, err) < 0)
		goto fail;
	for (version = identity.version; version < newest; version++)
		if (apply_step(store, &schema_steps[version], err) < 0)
			goto fail;
	if (identity.version < newest && put_identity(store, newest, err) < 0)
		goto fail;
	return store_commit(store, err);
fail:
	store_rollback(store);
	return -1;
}

static int migrate(struct store *store, struct err *err)
{
	struct identity identity;

	if (examine(store, &identity, err) < 0)
		return -1;
	return identity.version < newest_version() ? take_forward(store, err) : 0;
}

/* A setting whose row somebody deleted is again as it was shipped. As a rule there is none. */
static int restore_settings(struct store *store, struct err *err)
{
	struct statement *s;
	bool complete;

	if (store->access != STORE_WRITE)
		return 0;
	s = db_use(store, ST_SETTING_GONE,
		   "SELECT NOT EXISTS (SELECT 1 FROM setting_default d"
		   " WHERE NOT EXISTS (SELECT 1 FROM setting s WHERE s.key = d.key))");
	if (db_row(s, err) < 0)
		return -1;
	complete = column_int(s, 0);
	db_reset(s);
	if (complete)
		return 0;
	return db_exec(store,
		       "INSERT OR IGNORE INTO setting (key, value, about)"
		       " SELECT key, value, about FROM setting_default",
		       err);
}

/* ---- the handle ---- */

static int settle(struct store *store, struct err *err)
{
	if (store->access == STORE_SOURCE)
		return source_verify(store, err);
	if (restore_settings(store, err) < 0 || views_refresh(store, err) < 0)
		return -1;
	droppings_watch(store);
	return 0;
}

int store_open(struct store **out_store, const char *path, enum store_access access_mode,
	       struct err *err)
{
	struct store *store = xcalloc(1, sizeof(*store));
	size_t i;

	store->path = plain_path(path);
	store->access = access_mode;
	store->droppings = DROPPINGS_IGNORED;
	hashmap_init(&store->names, NAMES_MAX, NAMES_BYTES);
	buf_init(&store->key);
	buf_init(&store->text);
	buf_init(&store->label);
	buf_init(&store->wanted.names);
	for (i = 0; i < sizeof(store->borrowed) / sizeof(*store->borrowed); i++)
		buf_init(&store->borrowed[i]);
	if (open_file(store, err) < 0 || guard_open(store, err) < 0 || migrate(store, err) < 0 ||
	    settle(store, err) < 0) {
		store_close(store);
		return -1;
	}
	*out_store = store;
	return 0;
}

void store_close(struct store *store)
{
	size_t i;

	if (!store)
		return;
	allot_free(store);
	totals_free(store);
	db_finalize(store);
	sqlite3_close(store->db);
	sqlite3_close(store->shipped);
	hashmap_release(&store->names);
	buf_release(&store->key);
	buf_release(&store->text);
	buf_release(&store->label);
	buf_release(&store->wanted.names);
	for (i = 0; i < sizeof(store->borrowed) / sizeof(*store->borrowed); i++)
		buf_release(&store->borrowed[i]);
	for (i = 0; i < store->foreign_count; i++)
		free(store->foreign_views[i]);
	free(store->foreign_views);
	free(store->candidates);
	free(store->digests);
	free(store->path);
	free(store);
}

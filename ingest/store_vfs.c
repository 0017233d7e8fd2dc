#include "store_vfs.h"

#include "store_journal.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define NAME "br2-ingest"

static sqlite3_vfs *usual;
static sqlite3_vfs ours;
static const sqlite3_io_methods *usual_methods; /* of databases; the same for each */
static sqlite3_io_methods our_methods;
static _Thread_local bool has_no_locks;

/* "DATABASE-mjNNNNNN9NN", as sqlite3VdbeHalt()'s commit of several files names it. */
static bool is_super_journal(const char *name)
{
	size_t len = name ? strlen(name) : 0;
	const char *end = len > 12 ? name + len - 12 : NULL;

	return end && memcmp(end, "-mj", 3) == 0 && end[9] == '9' &&
	       strspn(end + 3, "0123456789ABCDEF") == 9;
}

bool store_vfs_has_no_locks(void)
{
	return has_no_locks;
}

/* os_unix.c: sqliteErrorFromPosixError() makes SQLITE_BUSY of ENOLCK, and keeps no errno then. */
static int lock_ours(sqlite3_file *file, int level)
{
	int rc;

	errno = 0;
	rc = usual_methods->xLock(file, level);
	has_no_locks = rc == SQLITE_BUSY && errno == ENOLCK;
	return rc;
}

static int write_ours(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	int rc = store_journal_put();

	return rc == SQLITE_OK ? usual_methods->xWrite(file, data, len, at) : rc;
}

/* A file that got other methods is left as it is: none but databases are locked. */
static void watch_database(sqlite3_file *file)
{
	if (!usual_methods) {
		usual_methods = file->pMethods;
		our_methods = *usual_methods;
		our_methods.xLock = lock_ours;
		our_methods.xWrite = write_ours;
	}
	if (file->pMethods == usual_methods)
		file->pMethods = &our_methods;
}

/* SQLITE_AUTH is what db_error() knows it by: SQLite itself never gives it here. */
static int open_ours(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	int rc;

	if ((flags & SQLITE_OPEN_SUPER_JOURNAL) && !is_super_journal(name)) {
		file->pMethods = NULL;
		return SQLITE_AUTH;
	}
	rc = usual->xOpen(vfs, name, file, flags, out_flags);
	if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB))
		watch_database(file);
	if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_JOURNAL))
		store_journal_gather(file);
	return rc;
}

const char *store_vfs(void)
{
	if (!usual) {
		usual = sqlite3_vfs_find(NULL);
		if (!usual)
			abort(); /* SQLite was built without one */
		ours = *usual;
		ours.zName = NAME;
		ours.xOpen = open_ours;
		if (sqlite3_vfs_register(&ours, 0) != SQLITE_OK)
			abort(); /* out of memory */
	}
	return NAME;
}

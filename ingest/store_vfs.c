#include "store_vfs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME "br2-ingest"

static sqlite3_vfs *usual;
static sqlite3_vfs ours;

/* "DATABASE-mjNNNNNN9NN", as sqlite3VdbeHalt()'s commit of several files names it. */
static bool is_super_journal(const char *name)
{
	size_t len = name ? strlen(name) : 0;
	const char *end = len > 12 ? name + len - 12 : NULL;

	return end && memcmp(end, "-mj", 3) == 0 && end[9] == '9' &&
	       strspn(end + 3, "0123456789ABCDEF") == 9;
}

/* SQLITE_AUTH is what db_error() knows it by: SQLite itself never gives it here. */
static int open_ours(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	if ((flags & SQLITE_OPEN_SUPER_JOURNAL) && !is_super_journal(name)) {
		file->pMethods = NULL;
		return SQLITE_AUTH;
	}
	return usual->xOpen(vfs, name, file, flags, out_flags);
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

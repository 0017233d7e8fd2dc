#include "store_journal.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#define GATHER_MAX (64 << 10) /* SQLite's file system takes less than 128 KiB at once */

static const sqlite3_io_methods *usual; /* of journals; the same for each */
static sqlite3_io_methods ours;
static int last_errno;

/* What is not in the file yet: `len` bytes from `at` on. All before `at` are there. */
static struct {
	sqlite3_file *file; /* NULL: nobody's */
	sqlite3_int64 at;
	int len;
	char bytes[GATHER_MAX];
} kept;

static sqlite3_int64 kept_end(void)
{
	return kept.at + kept.len;
}

/* Where that fails all is still kept: a rollback reads what it was told is written. */
int store_journal_put(void)
{
	int rc = kept.len ? usual->xWrite(kept.file, kept.bytes, kept.len, kept.at) : SQLITE_OK;

	if (rc == SQLITE_OK)
		kept.len = 0;
	else
		last_errno = errno;
	return rc;
}

static int write_ours(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	if (at != kept_end() || len > GATHER_MAX - kept.len) {
		int rc = store_journal_put();

		if (rc != SQLITE_OK)
			return rc;
	}
	if (len > GATHER_MAX)
		return usual->xWrite(file, data, len, at);
	if (!kept.len)
		kept.at = at;
	memcpy(kept.bytes + kept.len, data, (size_t)len);
	kept.len += len;
	return SQLITE_OK;
}

/* The file's bytes, zeros after its end, and what is kept laid over them. */
static int read_ours(sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
	int rc = usual->xRead(file, data, len, at);
	sqlite3_int64 from = at > kept.at ? at : kept.at;
	sqlite3_int64 to = at + len < kept_end() ? at + len : kept_end();

	if (from >= to || (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ))
		return rc;
	memcpy((char *)data + (from - at), kept.bytes + (from - kept.at), (size_t)(to - from));
	return to == at + len ? SQLITE_OK : rc;
}

static int size_ours(sqlite3_file *file, sqlite3_int64 *out_size)
{
	int rc = usual->xFileSize(file, out_size);

	if (rc == SQLITE_OK && kept.len && *out_size < kept_end())
		*out_size = kept_end();
	return rc;
}

static int sync_ours(sqlite3_file *file, int flags)
{
	int rc = store_journal_put();

	return rc == SQLITE_OK ? usual->xSync(file, flags) : rc;
}

static int truncate_ours(sqlite3_file *file, sqlite3_int64 size)
{
	int rc = store_journal_put();

	return rc == SQLITE_OK ? usual->xTruncate(file, size) : rc;
}

static int close_ours(sqlite3_file *file)
{
	int rc = store_journal_put(), closed = usual->xClose(file);

	kept.file = NULL;
	kept.len = 0;
	return rc == SQLITE_OK ? closed : rc;
}

void store_journal_gather(struct sqlite3_file *file)
{
	if (!usual) {
		usual = file->pMethods;
		ours = *usual;
		ours.xWrite = write_ours;
		ours.xRead = read_ours;
		ours.xFileSize = size_ours;
		ours.xSync = sync_ours;
		ours.xTruncate = truncate_ours;
		ours.xClose = close_ours;
	}
	if (kept.file || file->pMethods != usual)
		return;
	kept.file = file;
	last_errno = 0;
	file->pMethods = &ours;
}

int store_journal_errno(void)
{
	return last_errno;
}

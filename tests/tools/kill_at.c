/*
 * Preloaded into br2-ingest, it counts the calls by which SQLite changes files, and kills the
 * process at one of them: the same moment each time, inside COMMIT too.
 *
 *   BR2_KILL_NOTE  file that gets a line for a call: "COMMIT" or "-", the call, the file's name
 *   BR2_KILL_AT    number of the call, from 1, before which the process dies; only this one is
 *                  noted. 0: no death, every call is noted
 *   BR2_KILL_HALF  set: where that call writes, half of the bytes are written first
 *
 * Who has noted a death does not die again: processes that one of them forks count on from there,
 * and the next one would die at the same call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sqlite3_stmt;

int sqlite3_step(struct sqlite3_stmt *stmt);

static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_unlink)(const char *);
static int (*real_step)(struct sqlite3_stmt *);
static const char *(*sql_of)(struct sqlite3_stmt *);

static const char *note_path;
static bool half;
static long deadly, calls;
static _Thread_local bool committing;

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("BR2_KILL_AT");

	*(void **)&real_pwrite64 = next("pwrite64");
	*(void **)&real_ftruncate64 = next("ftruncate64");
	*(void **)&real_unlink = next("unlink");
	*(void **)&real_step = next("sqlite3_step");
	*(void **)&sql_of = next("sqlite3_sql");
	note_path = getenv("BR2_KILL_NOTE");
	half = getenv("BR2_KILL_HALF") != NULL;
	deadly = at ? atol(at) : 0;
}

static void note(const char *call, const char *path)
{
	const char *name = strrchr(path, '/');
	int fd = open(note_path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0)
		abort();
	dprintf(fd, "%s %s %s\n", committing ? "COMMIT" : "-", call, name ? name + 1 : path);
	close(fd);
}

/* Is this the process's last call? */
static bool is_last(const char *call, const char *path)
{
	long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	struct stat st;

	if (!note_path)
		return false;
	if (deadly && (number != deadly || stat(note_path, &st) == 0))
		return false;
	note(call, path);
	return deadly != 0;
}

static bool is_last_of(const char *call, int fd)
{
	char link[40], path[4096] = "";

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) < 0)
		abort();
	return is_last(call, path);
}

/* ---- the calls ---- */

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	if (is_last_of("pwrite", fd)) {
		if (half && real_pwrite64(fd, data, size / 2, at) < 0)
			abort();
		raise(SIGKILL);
	}
	return real_pwrite64(fd, data, size, at);
}

/* What was written stays when a process is killed: waiting for the disk would only take time. */
int fdatasync(int fd)
{
	if (is_last_of("fdatasync", fd))
		raise(SIGKILL);
	return 0;
}

int ftruncate64(int fd, off64_t size)
{
	if (is_last_of("ftruncate", fd))
		raise(SIGKILL);
	return real_ftruncate64(fd, size);
}

int unlink(const char *path)
{
	if (is_last("unlink", path))
		raise(SIGKILL);
	return real_unlink(path);
}

/* While a COMMIT runs, what is called lies inside it. */
int sqlite3_step(struct sqlite3_stmt *stmt)
{
	const char *sql = sql_of(stmt);
	int rc;

	committing = sql && strncmp(sql, "COMMIT", 6) == 0;
	rc = real_step(stmt);
	committing = false;
	return rc;
}

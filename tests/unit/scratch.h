/*
 * A folder of a test's own, with files in it, gone at the end. Only for tests:
 * whatever fails ends the test program.
 */
#ifndef BR2_SCRATCH_H
#define BR2_SCRATCH_H

#include "util/mem.h"

#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void scratch_check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

/* A fresh folder, as realpath() names it. The caller hands it to scratch_remove(). */
static inline char *scratch_new(void)
{
	const char *base = getenv("TMPDIR");
	char *path = xasprintf("%s/br2-test-XXXXXX", base ? base : "/tmp");
	char *real;

	scratch_check(mkdtemp(path) != NULL, path);
	real = realpath(path, NULL);
	scratch_check(real != NULL, path);
	free(path);
	return real;
}

/* "dir/name", the folders before the last component made. Caller frees. */
static inline char *scratch_path(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *slash;

	for (slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	return path;
}

static inline void scratch_mkdir(const char *dir, const char *name)
{
	char *path = scratch_path(dir, name);

	mkdir(path, 0755);
	free(path);
}

static inline void scratch_write(const char *dir, const char *name, const char *text)
{
	char *path = scratch_path(dir, name);
	FILE *file = fopen(path, "w");

	scratch_check(file != NULL, path);
	fputs(text, file);
	scratch_check(fclose(file) == 0, path);
	free(path);
}

/* Removes and frees it. */
static inline void scratch_remove(char *dir)
{
	char *const roots[] = {dir, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	scratch_check(walk != NULL, dir);
	while ((entry = fts_read(walk)) != NULL)
		if (entry->fts_info != FTS_D)
			scratch_check(remove(entry->fts_path) == 0, entry->fts_path);
	fts_close(walk);
	free(dir);
}

#endif

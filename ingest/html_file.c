#include "html_file.h"

#include "util/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

int html_file_check(const char *path, const char *db, struct err *err)
{
	struct stat there, database;

	if (!*path)
		return err_set(err, ERR_USAGE, "--html wants a file, or - for standard output");
	if (is_stdout(path) || stat(path, &there) != 0)
		return 0;
	if (!S_ISREG(there.st_mode))
		return err_set(err, ERR_USAGE, "--html %s: not a regular file", path);
	if (stat(db, &database) == 0 && there.st_dev == database.st_dev &&
	    there.st_ino == database.st_ino)
		return err_set(err, ERR_USAGE, "--html %s: that is the database", path);
	return 0;
}

/* A file_fill_fn. */
static int fill(void *context, FILE *out, struct err *err)
{
	const struct buf *page = context;

	if (fwrite(page->data, 1, page->len, out) != page->len)
		return err_errno(err, ERR_IO, errno, "cannot write");
	return 0;
}

static int print(const struct buf *page, struct err *err)
{
	if (fwrite(page->data, 1, page->len, stdout) != page->len || fflush(stdout) != 0)
		return err_errno(err, ERR_IO, errno, "cannot write the page");
	return 0;
}

int html_file_write(const char *path, const struct buf *page, struct err *err)
{
	/* Through a link, so that the link stays. */
	char *real;
	int rc;

	if (is_stdout(path))
		return print(page, err);
	real = realpath(path, NULL);
	rc = file_replace(real ? real : path, fill, (void *)(uintptr_t)page, err);
	free(real);
	return rc;
}

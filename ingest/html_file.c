#include "html_file.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Writes to `fd` (taken over) and makes sure that it reached the disk. */
static int write_all(int fd, const struct buf *page, struct err *err)
{
	size_t done = 0;
	int rc = 0;

	while (done < page->len && rc == 0) {
		ssize_t n = write(fd, page->data + done, page->len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			rc = err_errno(err, ERR_IO, errno, "cannot write");
	}
	if (rc == 0 && fsync(fd) != 0)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	if (close(fd) != 0 && rc == 0)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	return rc;
}

/* Beside the file and under a name of its own, then renamed over it. */
static int replace(const char *path, const struct buf *page, struct err *err)
{
	char *temporary = xasprintf("%s.tmp-%ld", path, (long)getpid());
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc = -1;

	if (fd < 0) {
		err_errno(err, ERR_IO, errno, "%s", path);
		goto out;
	}
	rc = write_all(fd, page, err);
	if (rc == 0 && rename(temporary, path) != 0)
		rc = err_errno(err, ERR_IO, errno, "cannot put it there");
	if (rc < 0) {
		err_prefix(err, "%s", path);
		unlink(temporary);
	}
out:
	free(temporary);
	return rc;
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
	rc = replace(real ? real : path, page, err);
	free(real);
	return rc;
}

#include "util/file.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)16 << 10)

/* 1: more may follow; 0: the end; -1. */
static int read_chunk(int fd, const char *path, struct buf *out, struct err *err)
{
	ssize_t got;

	do
		got = read(fd, buf_reserve(out, CHUNK), CHUNK);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(err, ERR_IO, errno, "%s", path);
	buf_grew(out, (size_t)got);
	return got > 0;
}

/* O_NONBLOCK: a pipe that nobody writes to would hold up open() for ever. */
static int open_regular(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "%s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return err_set(err, ERR_IO, "%s: not a regular file", path);
}

int file_read_open(int fd, const char *name, size_t max, struct buf *out, struct err *err)
{
	size_t before = out->len;
	int rc;

	do {
		rc = read_chunk(fd, name, out, err);
		if (rc > 0 && out->len - before > max)
			rc = err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", name, max);
	} while (rc > 0);
	return rc;
}

int file_read(const char *path, size_t max, struct buf *out, struct err *err)
{
	int fd = open_regular(path, err), rc;

	if (fd < 0)
		return -1;
	rc = file_read_open(fd, path, max, out, err);
	close(fd);
	return rc;
}

/* ---- replacing ---- */

/* `fd` is taken over. */
static int fill_file(int fd, file_fill_fn *fill, void *context, struct err *err)
{
	FILE *file = fdopen(fd, "w");
	int rc;

	if (!file) {
		err_errno(err, ERR_IO, errno, "cannot write");
		close(fd);
		return -1;
	}
	rc = fill(context, file, err);
	if (rc == 0 && (fflush(file) != 0 || fsync(fileno(file)) != 0))
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	if (fclose(file) != 0 && rc == 0)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	return rc;
}

int file_replace(const char *path, file_fill_fn *fill, void *context, struct err *err)
{
	char *temporary = xasprintf("%s.tmp-%ld", path, (long)getpid());
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc = -1;

	if (fd < 0) {
		err_errno(err, ERR_IO, errno, "%s", path);
		goto out;
	}
	rc = fill_file(fd, fill, context, err);
	if (rc < 0)
		err_prefix(err, "%s", path);
	else if (rename(temporary, path) != 0)
		rc = err_errno(err, ERR_IO, errno, "%s", path);
	if (rc < 0)
		unlink(temporary);
out:
	free(temporary);
	return rc;
}

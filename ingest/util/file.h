/*
 * Small files that are read whole: configurations, certificates, tokens. And
 * files that are replaced whole.
 */
#ifndef BR2_FILE_H
#define BR2_FILE_H

#include "util/buf.h"
#include "util/err.h"

#include <stdio.h>

/*
 * Adds the bytes of the file to `out`. -1: it is no regular file or cannot be
 * read (ERR_IO), or it holds more than `max` bytes (ERR_LIMIT); the text names
 * it, `out` may hold a part.
 */
int file_read(const char *path, size_t max, struct buf *out, struct err *err);
/* The same of what is open; `name` is for messages. */
int file_read_open(int fd, const char *name, size_t max, struct buf *out, struct err *err);

/* Writes what the file is to hold. -1: its own error; a failed stream is seen without it. */
typedef int file_fill_fn(void *context, FILE *out, struct err *err);
/*
 * Replaces the file in one step: it is filled beside `path` and under a name of its
 * own, reaches the disk, and is then renamed over it. -1: the text names `path`, and
 * what stood there stands.
 */
int file_replace(const char *path, file_fill_fn *fill, void *context, struct err *err);

#endif

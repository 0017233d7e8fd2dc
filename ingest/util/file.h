/*
 * Small files that are read whole: configurations, certificates, tokens.
 */
#ifndef BR2_FILE_H
#define BR2_FILE_H

#include "util/buf.h"
#include "util/err.h"

/*
 * Adds the bytes of the file to `out`. -1: it is no regular file or cannot be
 * read (ERR_IO), or it holds more than `max` bytes (ERR_LIMIT); the text names
 * it, `out` may hold a part.
 */
int file_read(const char *path, size_t max, struct buf *out, struct err *err);
/* The same of what is open; `name` is for messages. */
int file_read_open(int fd, const char *name, size_t max, struct buf *out, struct err *err);

#endif

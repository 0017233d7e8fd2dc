/* A finished page to where the user wants it. */
#ifndef BR2_HTML_FILE_H
#define BR2_HTML_FILE_H

#include "util/buf.h"
#include "util/err.h"

/*
 * Whether html_file_write() may write `path`, before the work is done: -1
 * (ERR_USAGE) where something stands there that is no regular file, or that is the
 * database at `db`.
 */
int html_file_check(const char *path, const char *db, struct err *err);
/* In one step, so that a reader sees the old page or the new one; "-" is standard output. */
int html_file_write(const char *path, const struct buf *page, struct err *err);

#endif

/*
 * Folders whose changes are told by the kernel (inotify). It knows no files: what it
 * tells is a reason to look at the folders again.
 */
#ifndef BR2_WATCH_H
#define BR2_WATCH_H

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Folders at once, at most. */
#define WATCH_MAX 8192

struct watch;

enum watch_news {
	WATCH_NAMES = 1,    /* something came, went or got another name; or the kernel lost count */
	WATCH_CONTENTS = 2, /* a file was written to */
};

/* -1 (ERR_IO): no inotify here, or too many of this user's; the text says which limit. */
int watch_new(struct watch **out_watch, struct err *err);
/* NULL is fine. */
void watch_free(struct watch *watch);
/* To be polled for POLLIN; the watch's own. */
int watch_fd(const struct watch *watch);

/*
 * Begins to name the folders that are to be watched from now on; watch_folder() names
 * each, once or more; watch_end() lets go of those that were watched and not named.
 */
void watch_begin(struct watch *watch);
/*
 * `contents`: writes to its files are told, too. 1: it was not watched before, so
 * what it holds is to be looked at once more; 0: it was, or cannot be (it is gone, or
 * closed to us); -1 (ERR_LIMIT): too many folders.
 */
int watch_folder(struct watch *watch, const char *path, bool contents, struct err *err);
void watch_end(struct watch *watch);

/* What was told since the last call: watch_news, or'ed; 0: nothing. Does not wait. */
unsigned int watch_read(struct watch *watch);
/* The same of bytes that the kernel gave. */
unsigned int watch_news_of(const char *bytes, size_t len);

#endif

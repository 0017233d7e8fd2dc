/*
 * The logs that --watch follows: which there are, how far each was taken in, and the
 * descriptors by which those that may still be needed are kept open, so that a
 * log that is removed is not lost. A table without an end to it would be one of every
 * log ever seen: what is neither on the disk nor open is forgotten.
 */
#ifndef BR2_HELD_H
#define BR2_HELD_H

#include "discover.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A log that was taken in is let go once it has been silent for so long: Buck2 writes each second.
 */
#define HELD_SILENCE_NS (INT64_C(600) * 1000000000)

struct held_log {
	struct log_file file; /* `held` is set while it is open */
	int fd;		      /* -1: not open */
	bool seen;	      /* at the last look */
	bool handed;	      /* in the list that was made last */
	int64_t handed_bytes, handed_mtime_ns;
	int64_t taken_bytes, taken_mtime_ns; /* UNKNOWN: not taken in yet */
};

struct held {
	struct held_log *logs; /* by device, inode, path */
	size_t count;
	size_t open, open_max;
};

#define HELD_INIT(open_max)            \
	{                              \
		NULL, 0, 0, (open_max) \
	}

void held_release(struct held *held);

/*
 * A look at everything: held_look() begins it, held_see() is told of each list that was
 * found and opens what is new or has changed, the newest first, and held_looked() ends
 * it. Where too many are open, those that were taken in and are silent longest are
 * closed; if none was, the log stays closed, and is read from its path.
 */
void held_look(struct held *held);
void held_see(struct held *held, const struct log_list *list);
void held_looked(struct held *held, int64_t now_ns);

/* Logs that are new or have changed since they were taken in; *out_newest: one of them, or NULL. */
size_t held_due(const struct held *held, const struct held_log **out_newest);
/* Is one open that is not where it was seen? Nobody tells of its changes. */
bool held_has_gone(const struct held *held);
/* All of them, in the order of discover(); the caller releases it. */
void held_list(struct held *held, struct log_list *out_list);
/* The logs of that list were taken in as they stood then. */
void held_taken(struct held *held);

#endif

/*
 * Logs side by side: each is read by a thread of its own, as many at once as
 * there are cores (where there are more, they unpack in threads of their own), and their rows come
 * out log by log, in the order of the list, so that the same list always gives the same database,
 * whoever was faster.
 *
 * What is read but not taken yet is bounded for all logs together; a reader that
 * has nowhere to put its rows waits, unless its log is the one whose turn it is.
 */
#ifndef BR2_READERS_H
#define BR2_READERS_H

#include "reading.h"
#include "rows.h"
#include "runlog.h"

#include <stdbool.h>
#include <stddef.h>

struct readers;

struct readers_options {
	size_t count; /* of logs */
	bool keep_rows;
	/*
	 * Says where log `index` lies; texts are borrowed until its outcome is taken.
	 * Called by any thread, by one at a time.
	 */
	void (*place)(void *context, size_t index, struct runlog_place *out_place);
	void *context;
};

struct readers *readers_new(const struct readers_options *options);
/* Stops the threads at their next batch. NULL is fine. */
void readers_free(struct readers *readers);

/*
 * The next rows of the log whose turn it is, perhaps none. true: *out_progress says
 * how far it is; false: these are its last ones, and *out_outcome is set, borrowed
 * until the next call; the turn is the next log's then.
 */
bool readers_next(struct readers *readers, struct rows *out_rows,
		  struct reading_progress *out_progress,
		  const struct reading_outcome **out_outcome);

#endif

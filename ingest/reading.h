/*
 * One log from its file to rows: opened, read and digested, a batch at a time.
 * For the thread that does that; what became of the file is told once at its end.
 */
#ifndef BR2_READING_H
#define BR2_READING_H

#include "reader.h"
#include "rows.h"
#include "runlog.h"
#include "util/err.h"

#include <stdbool.h>
#include <sys/stat.h>

struct reading;

enum reading_end {
	READING_DONE,	    /* to the log's end, whole, cut or broken */
	READING_VANISHED,   /* gone before it was opened */
	READING_UNREADABLE, /* `fault` says why: not opened, no log, or a read that failed */
};

/* How far a log has been read. */
struct reading_progress {
	uint64_t bytes_read, actions;
};

struct reading_outcome {
	enum reading_end end;
	struct stat stat; /* of the file as it was opened */
	struct err fault;
	struct log_tally records;
	struct runlog_tally rows;
	enum stream_ending ending;
	uint64_t bytes_read, bytes_decoded;
	char stream_fault[256]; /* log_reader_fault() */
	char complaint[544];	/* log_reader_complaint() */
};

/* Opens nothing yet. `place` and its path are borrowed. `keep_rows` false: only count. */
struct reading *reading_new(const struct runlog_place *place, bool keep_rows);
/* From now on a thread of its own unpacks: see stream_open(). Between two reading_next(). */
void reading_go_ahead(struct reading *reading);
void reading_free(struct reading *reading);
/*
 * Reads on until a batch is full or a few thousand events are past. true: *out_rows
 * (perhaps none) is filled, there is more; false: the log has ended, *out_rows
 * holds the last rows and reading_outcome() is complete. Not to be called again then.
 */
bool reading_next(struct reading *reading, struct rows *out_rows);
struct reading_progress reading_progress(const struct reading *reading);
const struct reading_outcome *reading_outcome(const struct reading *reading);

#endif

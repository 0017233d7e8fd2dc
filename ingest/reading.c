#include "reading.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Enough that handing over costs nothing, little enough that many fit the memory; two blocks of
 * the arena, without what the last row may need of a third.
 */
#define BATCH_BYTES (2 * ARENA_BLOCK - ((size_t)8 << 10))
#define BATCH_EVENTS 4096

struct reading {
	struct runlog_place place;
	bool ahead;
	struct log_reader *reader; /* NULL: not opened yet */
	struct runlog *log;
	struct rows rows;
	struct reading_progress progress;
	struct reading_outcome outcome;
};

struct reading *reading_new(const struct runlog_place *place, bool keep_rows)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));

	reading->place = *place;
	rows_init(&reading->rows);
	reading->log = runlog_new(keep_rows ? &reading->rows : NULL, &reading->place);
	return reading;
}

void reading_go_ahead(struct reading *reading)
{
	if (reading->reader && !reading->ahead)
		log_reader_go_ahead(reading->reader);
	reading->ahead = true;
}

void reading_free(struct reading *reading)
{
	if (!reading)
		return;
	log_reader_free(reading->reader);
	runlog_free(reading->log);
	rows_release(&reading->rows);
	free(reading);
}

static int fail(struct reading *reading)
{
	reading->outcome.end = READING_UNREADABLE;
	return -1;
}

/* By the name of what is held open, if there is one that does (/proc may be missing), else by path.
 */
static int open_by(const char *held, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	int fd = held ? open(held, flags) : -1;

	return fd < 0 ? open(path, flags) : fd;
}

static int open_file(struct reading *reading, int *out_fd)
{
	struct reading_outcome *outcome = &reading->outcome;
	const char *path = reading->place.path;
	int fd = open_by(reading->place.held, path);

	if (fd < 0 || fstat(fd, &outcome->stat) < 0) {
		int number = errno;

		if (fd >= 0)
			close(fd);
		err_errno(&outcome->fault, ERR_IO, number, "%s", path);
		fail(reading);
		if (number == ENOENT)
			outcome->end = READING_VANISHED;
		return -1;
	}
	if (!S_ISREG(outcome->stat.st_mode)) {
		close(fd);
		err_set(&outcome->fault, ERR_IO, "%s: not a regular file", path);
		return fail(reading);
	}
	*out_fd = fd;
	return 0;
}

static int open_log(struct reading *reading)
{
	int fd;

	if (open_file(reading, &fd) < 0)
		return -1;
	if (log_reader_open(&reading->reader, fd, reading->place.path, reading->ahead,
			    &reading->outcome.fault) < 0)
		return fail(reading);
	return 0;
}

/* What the reader took for a start, and is none: nobody looked closer until the log ended. */
static void count_damaged(struct reading_outcome *outcome)
{
	uint64_t damaged = outcome->rows.damaged_starts;

	outcome->records.events -= damaged;
	outcome->records.malformed += damaged;
	if (damaged && !outcome->complaint[0])
		snprintf(outcome->complaint, sizeof(outcome->complaint),
			 "%llu starts of actions that did not end: malformed",
			 (unsigned long long)damaged);
}

/* Closes the file: a log that waits for its turn holds no more than what it has to tell. */
static void tell(struct reading *reading)
{
	struct reading_outcome *outcome = &reading->outcome;
	const struct log_reader *reader = reading->reader;

	outcome->rows = *runlog_tally(reading->log);
	if (!reader)
		return;
	outcome->records = *log_reader_tally(reader);
	outcome->ending = log_reader_ending(reader);
	outcome->bytes_read = log_reader_bytes_read(reader);
	outcome->bytes_decoded = log_reader_bytes_decoded(reader);
	snprintf(outcome->stream_fault, sizeof(outcome->stream_fault), "%s",
		 log_reader_fault(reader));
	snprintf(outcome->complaint, sizeof(outcome->complaint), "%s",
		 log_reader_complaint(reader));
	count_damaged(outcome);
	log_reader_free(reading->reader);
	reading->reader = NULL;
}

static void note_progress(struct reading *reading)
{
	if (reading->reader)
		reading->progress.bytes_read = log_reader_bytes_read(reading->reader);
	reading->progress.actions = runlog_tally(reading->log)->actions;
}

/* 1: there is more; 0: the end; -1: *fault is set. */
static int read_batch(struct reading *reading)
{
	const struct event *event;
	unsigned int events;
	int more = 1;

	for (events = 0; more > 0 && events < BATCH_EVENTS; events++) {
		if (rows_bytes(&reading->rows) >= BATCH_BYTES)
			break;
		more = log_reader_next(reading->reader, &event, &reading->outcome.fault);
		if (more > 0)
			runlog_event(reading->log, event);
	}
	if (more > 0)
		log_reader_let_go(reading->reader);
	return more < 0 ? fail(reading) : more;
}

bool reading_next(struct reading *reading, struct rows *out_rows)
{
	int more = reading->reader ? 0 : open_log(reading);

	if (more >= 0)
		more = read_batch(reading);
	note_progress(reading);
	if (more == 0)
		runlog_finish(reading->log);
	if (more <= 0)
		tell(reading);
	rows_move(out_rows, &reading->rows);
	return more > 0;
}

struct reading_progress reading_progress(const struct reading *reading)
{
	return reading->progress;
}

const struct reading_outcome *reading_outcome(const struct reading *reading)
{
	return &reading->outcome;
}

/*
 * A log file -> events: the one joint between stream (stage 2) and decode
 * (stage 3). The pipeline needs no other header of the two.
 *
 * A record that is malformed or too large is counted and passed over; what
 * comes after it is read. A file that holds several whole logs gives their
 * events one after the other: a new log begins at each EVENT_INVOCATION, where
 * event.seq starts again at 1. A record that precedes the Invocation of its
 * own trace belongs to that log, and does not restart the count.
 */
#ifndef BR2_READER_H
#define BR2_READER_H

#include "model.h"
#include "stream.h"
#include "util/err.h"

#include <stdint.h>

struct log_reader;

/* Over the whole file; records = events given + the other three. */
struct log_tally {
	uint64_t records;
	uint64_t events;
	uint64_t unwanted;  /* kinds that we do not keep */
	uint64_t malformed; /* do not parse; see log_reader_complaint() */
	uint64_t too_large; /* wanted, but over STREAM_RECORD_MAX or its like when unpacked */
};

/*
 * Takes over the descriptor (also on failure) and reads it from where it
 * stands. `name` is for messages and copied. -1: cannot be read (ERR_IO), or
 * not a log (ERR_FORMAT); an empty file is a log without events. `ahead`: see stream_open().
 */
int log_reader_open(struct log_reader **out_reader, int fd, const char *name, bool ahead,
		    struct err *err);
void log_reader_free(struct log_reader *reader);
/* As stream_go_ahead(). */
void log_reader_go_ahead(struct log_reader *reader);

/*
 * 1: an event, borrowed until the next call; 0: the end, whole, cut or broken
 * (log_reader_ending() says which); -1: the read failed (ERR_IO). Never gives
 * EVENT_NONE.
 */
int log_reader_next(struct log_reader *reader, const struct event **out_event, struct err *err);

/* The event given last is of no more use: see stream_let_go() and decoder_let_go(). */
void log_reader_let_go(struct log_reader *reader);

const struct log_tally *log_reader_tally(const struct log_reader *reader);
/* One line on the first record that was malformed or too large; "" if none was. */
const char *log_reader_complaint(const struct log_reader *reader);
enum stream_ending log_reader_ending(const struct log_reader *reader);
/* One line on what is broken; "" unless STREAM_BROKEN. */
const char *log_reader_fault(const struct log_reader *reader);
enum stream_format log_reader_format(const struct log_reader *reader);
enum stream_packing log_reader_packing(const struct log_reader *reader);
/* Bytes taken from the file, and bytes that they decompressed to. */
uint64_t log_reader_bytes_read(const struct log_reader *reader);
uint64_t log_reader_bytes_decoded(const struct log_reader *reader);

#endif

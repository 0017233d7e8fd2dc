/*
 * Stage 2: a log file -> framed records. The encoding is told by content:
 * plain, gzip or zstd; length-delimited protobuf or JSON lines. Several frames,
 * gzip members or whole logs in one file are read to the end.
 *
 * Memory is bounded whatever the file: a record is shown by its first bytes
 * and its size; the caller then asks for the body (up to STREAM_RECORD_MAX) or
 * goes on, and what was not asked for is streamed past.
 *
 * A file cut short (a build that still runs, a killed client) is no error: all
 * whole records are given, then the end, and stream_end() says that it was cut.
 */
#ifndef BR2_STREAM_H
#define BR2_STREAM_H

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_HEAD_MAX ((size_t)4096)
#define STREAM_RECORD_MAX ((size_t)16 << 20)

enum stream_format { STREAM_PROTOBUF, STREAM_JSON };
enum stream_packing { STREAM_PLAIN, STREAM_GZIP, STREAM_ZSTD };

enum stream_ending {
	STREAM_OPEN = 0, /* not at the end yet */
	STREAM_WHOLE,	 /* ended between two records, the frame closed */
	STREAM_CUT,	 /* ended inside a record or with an open frame */
	STREAM_BROKEN,	 /* does not decompress, or no plausible record: see stream_fault() */
};

struct stream;

struct stream_record {
	uint64_t number;     /* from 1, over the whole file */
	const uint8_t *head; /* the first bytes, borrowed until the next call */
	size_t head_len;     /* min(size, STREAM_HEAD_MAX) */
	uint64_t size;	     /* bytes of the record, its length prefix or newline not
				counted; JSON: UINT64_MAX while the line's end is not seen */
	uint32_t word;	     /* the filter's, which wants it; 0: it was not asked */
};

/*
 * A first look at a whole record. 0: it is not wanted; else a word of the filter's own,
 * which the record carries when its turn comes. It is asked ahead of turns.
 */
typedef uint32_t stream_filter(void *context, const uint8_t *record, size_t len);

/*
 * Takes over the descriptor (also on failure) and reads it from where it
 * stands. `name` is for messages and copied. -1: cannot be read, or not a log
 * (ERR_FORMAT); an empty file is a log with no record. `ahead`: a thread of its own
 * unpacks while the caller works on what came out.
 */
int stream_open(struct stream **out_stream, int fd, const char *name, bool ahead, struct err *err);
void stream_free(struct stream *stream);
/* From now on as if opened with `ahead`. */
void stream_go_ahead(struct stream *stream);

/*
 * From now on a record that the filter does not want is passed over, not shown, and
 * only counted. It is asked of most records of a protobuf log, of those that are short
 * and lie at hand to their end; any other one is shown.
 */
void stream_set_filter(struct stream *stream, stream_filter *filter, void *context);
/* Records that were passed over, not shown. */
uint64_t stream_passed(const struct stream *stream);

/*
 * 1: a record; 0: the end, whole, cut or broken; -1: the read failed (ERR_IO). A
 * record of more than 256 KiB is shown before its end is known to be there.
 */
int stream_next(struct stream *stream, struct stream_record *out_record, struct err *err);
/*
 * The whole body of the record that stream_next() gave last. 1: *out_data and
 * *out_len, borrowed until the next call; 0: cut, or larger than
 * STREAM_RECORD_MAX (counted by the caller; *out_too_large tells which); -1.
 */
int stream_body(struct stream *stream, const uint8_t **out_data, size_t *out_len,
		bool *out_too_large, struct err *err);

/*
 * The record at hand is of no more use; gives back what a large body took. To be
 * called before the thread waits for another one that reads: only one stream of the
 * process at a time holds a record of more than 1 MiB, and stream_body() waits for it.
 */
void stream_let_go(struct stream *stream);

enum stream_format stream_format(const struct stream *stream);
enum stream_packing stream_packing(const struct stream *stream);
enum stream_ending stream_end(const struct stream *stream);
/* One line on what is broken; "" unless STREAM_BROKEN. */
const char *stream_fault(const struct stream *stream);
/* Bytes taken from the file, and bytes that they decompressed to. */
uint64_t stream_bytes_read(const struct stream *stream);
uint64_t stream_bytes_decoded(const struct stream *stream);

#endif

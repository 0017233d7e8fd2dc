#include "reader.h"

#include "decode.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_ID_MAX 64

struct log_reader {
	struct stream *stream;
	struct decoder *decoder;
	struct log_tally tally;
	uint64_t passed; /* of the stream, tallied */
	char complaint[544];

	struct err err;			 /* of a record: not cleared, it is 500 bytes */
	struct event *event;		 /* the decoder's */
	uint64_t first;			 /* number of the log's first record, in the file */
	bool has_invocation;		 /* of the log at hand */
	char trace_id[TRACE_ID_MAX + 1]; /* that its events named before the Invocation; "": none */
};

/* What the decoder wants, for the stream. */
static uint32_t glance(void *context, const uint8_t *record, size_t len)
{
	return decode_glance(context, record, len);
}

int log_reader_open(struct log_reader **out_reader, int fd, const char *name, bool ahead,
		    struct err *err)
{
	struct log_reader *reader;
	struct stream *stream;

	if (stream_open(&stream, fd, name, ahead, err) < 0)
		return -1;
	reader = xcalloc(1, sizeof(*reader));
	reader->stream = stream;
	reader->decoder =
		decoder_new(stream_format(stream) == STREAM_JSON ? DECODE_JSON : DECODE_PROTOBUF);
	stream_set_filter(stream, glance, reader->decoder);
	reader->first = 1;
	*out_reader = reader;
	return 0;
}

void log_reader_free(struct log_reader *reader)
{
	if (!reader)
		return;
	decoder_free(reader->decoder);
	stream_free(reader->stream);
	free(reader);
}

void log_reader_go_ahead(struct log_reader *reader)
{
	stream_go_ahead(reader->stream);
}

static void complain(struct log_reader *reader, uint64_t number, const char *what)
{
	if (!reader->complaint[0])
		snprintf(reader->complaint, sizeof(reader->complaint), "record %llu: %s",
			 (unsigned long long)number, what);
}

/* ---- where a log begins ---- */

static bool is_own_trace(const struct log_reader *reader, struct str trace_id)
{
	return !reader->trace_id[0] || str_is(trace_id, reader->trace_id);
}

static void note_trace(struct log_reader *reader, struct str trace_id)
{
	if (trace_id.data && trace_id.len <= TRACE_ID_MAX) {
		memcpy(reader->trace_id, trace_id.data, trace_id.len);
		reader->trace_id[trace_id.len] = '\0';
	}
}

static void note_place(struct log_reader *reader, uint64_t number)
{
	struct event *event = reader->event;

	if (event->kind == EVENT_INVOCATION) {
		if (reader->has_invocation || !is_own_trace(reader, event->trace_id))
			reader->first = number;
		reader->has_invocation = true;
	} else if (!reader->has_invocation) {
		note_trace(reader, event->trace_id);
	}
	event->seq = number - reader->first + 1;
}

/* ---- records ---- */

static void refuse(struct log_reader *reader, uint64_t number)
{
	if (reader->err.kind == ERR_LIMIT)
		reader->tally.too_large++;
	else
		reader->tally.malformed++;
	complain(reader, number, reader->err.text);
}

/* 1: an event; 0: none in this record. `rc`: what the decoder said of it. */
static int judge(struct log_reader *reader, uint64_t number, int rc)
{
	if (rc == 0) {
		reader->tally.unwanted++;
		return 0;
	}
	if (rc < 0) {
		refuse(reader, number);
		return 0;
	}
	reader->tally.events++;
	note_place(reader, number);
	return 1;
}

static int decode(struct log_reader *reader, uint64_t number, const uint8_t *data, size_t len)
{
	return judge(reader, number,
		     decode_record(reader->decoder, data, len, &reader->event, &reader->err));
}

/* A record that is shown in part. 1: an event; 0: none in this record, or it is cut; -1. */
static int read_long(struct log_reader *reader, const struct stream_record *record, struct err *err)
{
	const uint8_t *data;
	size_t len;
	bool too_large;
	int rc;

	if (decode_wants(reader->decoder, record->head, record->head_len, record->size) ==
	    DECODE_SKIP) {
		reader->tally.unwanted++;
		return 0;
	}
	rc = stream_body(reader->stream, &data, &len, &too_large, err);
	if (rc > 0)
		return decode(reader, record->number, data, len);
	if (rc < 0)
		return -1;
	if (too_large) {
		reader->tally.too_large++;
		complain(reader, record->number, "larger than 16 MiB");
	} else {
		reader->tally.records--; /* cut: not a record */
	}
	return 0;
}

/* As read_long(), of any record. */
static int read_record(struct log_reader *reader, const struct stream_record *record,
		       struct err *err)
{
	if (record->word)
		return judge(reader, record->number,
			     decode_glanced(reader->decoder, record->head, record->head_len,
					    record->word, &reader->event, &reader->err));
	if (record->head_len == record->size)
		return decode(reader, record->number, record->head, record->head_len);
	return read_long(reader, record, err);
}

/* Those that the stream has passed over since the last time. */
static void tally_passed(struct log_reader *reader)
{
	uint64_t passed = stream_passed(reader->stream) - reader->passed;

	reader->passed += passed;
	reader->tally.records += passed;
	reader->tally.unwanted += passed;
}

int log_reader_next(struct log_reader *reader, const struct event **out_event, struct err *err)
{
	struct stream_record record;
	int rc;

	while ((rc = stream_next(reader->stream, &record, err)) > 0) {
		reader->tally.records++;
		rc = read_record(reader, &record, err);
		if (rc != 0)
			break;
	}
	tally_passed(reader);
	if (rc > 0)
		*out_event = reader->event;
	return rc;
}

void log_reader_let_go(struct log_reader *reader)
{
	decoder_let_go(reader->decoder);
	stream_let_go(reader->stream);
}

const struct log_tally *log_reader_tally(const struct log_reader *reader)
{
	return &reader->tally;
}

const char *log_reader_complaint(const struct log_reader *reader)
{
	return reader->complaint;
}

enum stream_ending log_reader_ending(const struct log_reader *reader)
{
	return stream_end(reader->stream);
}

const char *log_reader_fault(const struct log_reader *reader)
{
	return stream_fault(reader->stream);
}

enum stream_format log_reader_format(const struct log_reader *reader)
{
	return stream_format(reader->stream);
}

enum stream_packing log_reader_packing(const struct log_reader *reader)
{
	return stream_packing(reader->stream);
}

uint64_t log_reader_bytes_read(const struct log_reader *reader)
{
	return stream_bytes_read(reader->stream);
}

uint64_t log_reader_bytes_decoded(const struct log_reader *reader)
{
	return stream_bytes_decoded(reader->stream);
}

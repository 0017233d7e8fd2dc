#include "stream.h"

#include "stream_window.h"
#include "util/mem.h"
#include "util/unpack_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record up to this size is shown only if it is whole. */
#define SHOWN_WHOLE ((size_t)256 << 10)
#define VARINT_MAX 10
/* A length prefix beyond this is no record of Buck2's, and what follows it is lost. */
#define PLAUSIBLE_MAX ((uint64_t)1 << 32)

/* A record that the filter wants, before its turn. It lies in the window. */
struct chosen {
	const uint8_t *at;
	size_t size;
	uint64_t number;
	uint32_t word; /* the filter's */
};

/* So many that asking for them is one loop, so few that they are still near. */
#define CHOSEN_MAX 32

struct stream {
	char *name;
	enum stream_format format;
	enum stream_ending ending;
	char fault[256];

	struct window window;
	stream_filter *filter;
	void *filter_context;
	struct chosen chosen[CHOSEN_MAX]; /* from `taken` on, behind the record at hand */
	unsigned int taken, chosen_count;
	size_t looked; /* where the filter was not asked yet; 0: behind the record at hand */
	uint64_t looked_number; /* of the last record before that */

	uint64_t number, passed;
	uint64_t left;	/* bytes of the record at hand from pos on; JSON: SIZE_UNSEEN until its
			   newline  is seen, which counts as part of it then */
	size_t scanned; /* JSON: bytes from pos on that hold no newline */
};

#define SIZE_UNSEEN UINT64_MAX

/* ---- the end ---- */

static int stop(struct stream *stream, bool inside_record)
{
	switch (unpack_ahead_ending(stream->window.unpack)) {
	case UNPACK_BROKEN:
		stream->ending = STREAM_BROKEN;
		snprintf(stream->fault, sizeof(stream->fault), "%s",
			 unpack_ahead_fault(stream->window.unpack));
		break;
	case UNPACK_CUT:
		stream->ending = STREAM_CUT;
		break;
	case UNPACK_OPEN:
	case UNPACK_WHOLE:
		stream->ending = inside_record ? STREAM_CUT : STREAM_WHOLE;
		break;
	}
	return 0;
}

static int give_up(struct stream *stream, uint64_t size)
{
	stream->ending = STREAM_BROKEN;
	snprintf(stream->fault, sizeof(stream->fault),
		 "record %llu claims to be %llu bytes, too large to be one",
		 (unsigned long long)stream->number + 1, (unsigned long long)size);
	return 0;
}

/* ---- passing over ---- */

static void pass(struct stream *stream, size_t count)
{
	stream->window.pos += count;
	if (stream->left != SIZE_UNSEEN)
		stream->left -= count;
	stream->scanned = 0;
}

/* Sees the line's end if it is in the window. */
static bool see_newline(struct stream *stream)
{
	const uint8_t *start = stream->window.bytes + stream->window.pos;
	size_t there = window_available(&stream->window);
	const uint8_t *newline = memchr(start + stream->scanned, '\n', there - stream->scanned);

	if (newline)
		stream->left = (uint64_t)(newline - start) + 1;
	else
		stream->scanned = there;
	return newline != NULL;
}

/* The rest of the record at hand. 1: passed; 0: the file ends inside it; -1. */
static int pass_record(struct stream *stream, struct err *err)
{
	while (stream->left) {
		size_t there = window_available(&stream->window);
		int rc;

		if (stream->left == SIZE_UNSEEN && see_newline(stream))
			continue;
		if (there >= stream->left) {
			pass(stream, (size_t)stream->left);
			break;
		}
		pass(stream, there);
		rc = window_refill(&stream->window, err);
		if (rc <= 0)
			return rc;
	}
	return 1;
}

/* Every `byte` from pos on. 1: there is something else; 0: the file ends; -1. */
static int pass_run(struct stream *stream, uint8_t byte, struct err *err)
{
	int rc;

	while ((rc = window_need(&stream->window, 1, err)) > 0 &&
	       stream->window.bytes[stream->window.pos] == byte)
		stream->window.pos++;
	return rc;
}

/* ---- length-delimited ---- */

/* 1: *out_size, its prefix passed over; 0: the end; -1. */
static int take_size(struct stream *stream, uint64_t *out_size, struct err *err)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < VARINT_MAX; i++) {
		int rc = window_need(&stream->window, i + 1, err);
		uint8_t byte;

		if (rc <= 0)
			return rc < 0 ? -1 : stop(stream, i > 0);
		byte = stream->window.bytes[stream->window.pos + i];
		size |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			if (size > PLAUSIBLE_MAX)
				break;
			stream->window.pos += i + 1;
			*out_size = size;
			return 1;
		}
	}
	return give_up(stream, size);
}

/*
 * A record that fits the window is shown only if it is whole. A hole after a
 * crash reads as an empty record for each zero: one stands for all of them.
 */
static int next_protobuf(struct stream *stream, struct stream_record *record, struct err *err)
{
	uint64_t size = 0;
	int rc = take_size(stream, &size, err);

	if (rc <= 0)
		return rc;
	if (!size && pass_run(stream, 0, err) < 0)
		return -1;
	rc = window_need(&stream->window, size < SHOWN_WHOLE ? (size_t)size : STREAM_HEAD_MAX, err);
	if (rc <= 0)
		return rc < 0 ? -1 : stop(stream, true);
	stream->left = size;
	record->size = size;
	record->head_len = size < STREAM_HEAD_MAX ? (size_t)size : STREAM_HEAD_MAX;
	return 1;
}

/* ---- lines ---- */

/* Empty lines are no records. */
static int next_line(struct stream *stream, struct stream_record *record, struct err *err)
{
	int rc = pass_run(stream, '\n', err);

	if (rc <= 0)
		return rc < 0 ? -1 : stop(stream, false);
	stream->left = SIZE_UNSEEN;
	stream->scanned = 0;
	while (!see_newline(stream) && window_available(&stream->window) < SHOWN_WHOLE) {
		rc = window_refill(&stream->window, err);
		if (rc <= 0)
			return rc < 0 ? -1 : stop(stream, true);
	}
	record->size = stream->left == SIZE_UNSEEN ? UINT64_MAX : stream->left - 1;
	record->head_len = record->size < STREAM_HEAD_MAX ? (size_t)record->size : STREAM_HEAD_MAX;
	return 1;
}

/* ---- the interface ---- */

/* The size of a record whose prefix takes one byte or two; 0: look closer. */
static inline size_t short_size(const uint8_t *at, size_t there, size_t *out_prefix)
{
	size_t size = at[0], prefix = 1;

	if (size >= 0x80) {
		size = (size & 0x7f) | (size_t)at[1] << 7;
		prefix = 2;
	}
	*out_prefix = prefix;
	return size <= STREAM_HEAD_MAX && prefix + size <= there ? size : 0;
}

/* The filter's word was for the records up to there. */
static void pass_looked(struct stream *stream)
{
	if (!stream->looked)
		return;
	stream->window.pos = stream->looked;
	stream->left = 0;
	stream->passed += stream->looked_number - stream->number;
	stream->number = stream->looked_number;
	stream->looked = 0;
}

/*
 * Asks the filter of the next records, and lists those that it wants: nearly all lie in the
 * window to their end, as the one before does, and their size takes one byte or two. No
 * branch hangs on what the filter says: three of four records are not wanted, in no order
 * that a processor could foresee, and each surprise costs more than the look.
 * false: none can be asked for; look closer at the next one, if there is one.
 */
static bool look_ahead(struct stream *stream)
{
	struct chosen *next = stream->chosen, *const last = next + CHOSEN_MAX;
	const uint8_t *at, *start, *end;
	uint64_t number;

	pass_looked(stream);
	stream->taken = stream->chosen_count = 0;
	if (stream->left >= window_available(&stream->window))
		return false; /* nor is there a window, at first */
	start = at = stream->window.bytes + stream->window.pos + stream->left;
	end = stream->window.bytes + stream->window.len;
	number = stream->number;
	while (next < last && end - at >= 2) {
		size_t prefix, size = short_size(at, (size_t)(end - at), &prefix);
		uint32_t word;

		if (!size)
			break;
		at += prefix;
		word = stream->filter(stream->filter_context, at, size);
		*next = (struct chosen){at, size, ++number, word};
		next += word != 0;
		at += size;
	}
	if (at == start)
		return false;
	stream->chosen_count = (unsigned int)(next - stream->chosen);
	stream->looked = (size_t)(at - stream->window.bytes);
	stream->looked_number = number;
	return true;
}

static bool next_chosen(struct stream *stream, struct stream_record *out_record)
{
	const struct chosen *chosen;

	while (stream->taken == stream->chosen_count)
		if (!look_ahead(stream))
			return false;
	chosen = &stream->chosen[stream->taken++];
	stream->window.pos = (size_t)(chosen->at - stream->window.bytes);
	stream->left = chosen->size;
	stream->passed += chosen->number - stream->number - 1;
	stream->number = chosen->number;
	*out_record = (struct stream_record){chosen->number, chosen->at, chosen->size, chosen->size,
					     chosen->word};
	return true;
}

int stream_next(struct stream *stream, struct stream_record *out_record, struct err *err)
{
	struct stream_record record;
	int rc;

	if (stream->ending != STREAM_OPEN)
		return 0;
	if (stream->format == STREAM_PROTOBUF && next_chosen(stream, out_record))
		return 1;
	rc = pass_record(stream, err);
	if (rc <= 0)
		return rc < 0 ? -1 : stop(stream, true);
	rc = stream->format == STREAM_JSON ? next_line(stream, &record, err)
					   : next_protobuf(stream, &record, err);
	if (rc <= 0)
		return rc;
	record.number = ++stream->number;
	record.head = stream->window.bytes + stream->window.pos;
	record.word = 0;
	*out_record = record;
	return 1;
}

/* The line's end, wherever it is. 1: stream->left is known; 0: not within the largest body; -1. */
static int find_newline(struct stream *stream, bool *out_too_large, struct err *err)
{
	while (stream->left == SIZE_UNSEEN && !see_newline(stream)) {
		int rc;

		*out_too_large = window_available(&stream->window) > STREAM_RECORD_MAX;
		if (*out_too_large)
			return 0;
		rc = window_refill(&stream->window, err);
		if (rc <= 0)
			return rc;
	}
	return 1;
}

int stream_body(struct stream *stream, const uint8_t **out_data, size_t *out_len,
		bool *out_too_large, struct err *err)
{
	uint64_t size;
	int rc = 1;

	*out_too_large = false;
	if (stream->format == STREAM_JSON)
		rc = find_newline(stream, out_too_large, err);
	if (rc > 0) {
		size = stream->left - (stream->format == STREAM_JSON);
		*out_too_large = size > STREAM_RECORD_MAX;
		rc = *out_too_large ? 0 : window_need(&stream->window, (size_t)stream->left, err);
	}
	if (rc <= 0)
		return rc;
	*out_data = stream->window.bytes + stream->window.pos;
	*out_len = (size_t)size;
	return 1;
}

void stream_let_go(struct stream *stream)
{
	if (stream->left > window_available(&stream->window) || !stream->window.has_large)
		return;
	pass(stream, (size_t)stream->left);
	window_let_go(&stream->window);
	/* What was looked at has moved, and is looked at again. */
	stream->taken = stream->chosen_count = 0;
	stream->looked = 0;
}

/*
 * Both begin with 0x7b where a binary log's header is 123 bytes long. There a
 * field's tag follows; `"` would be that of Invocation.start_time, and a
 * Timestamp is too short for its length to be a letter.
 */
static bool is_json(const uint8_t *head, size_t len)
{
	return len >= 3 && head[0] == '{' && head[1] == '"' && head[2] >= ' ';
}

/* The first field of an Invocation or a CommandProgress: 1, 2, 3, 4 or 11, length-delimited. */
static bool is_first_tag(uint8_t tag)
{
	return tag == 0x0a || tag == 0x12 || tag == 0x1a || tag == 0x22 || tag == 0x5a;
}

static bool is_protobuf(const uint8_t *head, size_t len)
{
	size_t i = 0;

	while (i < len && i < VARINT_MAX && head[i] & 0x80)
		i++;
	return i + 1 >= len || i == VARINT_MAX || is_first_tag(head[i + 1]);
}

static int sniff(struct stream *stream, struct err *err)
{
	const uint8_t *head;
	size_t len;

	if (window_need(&stream->window, VARINT_MAX + 1, err) < 0)
		return -1;
	len = window_available(&stream->window);
	if (!len)
		return 0; /* an empty log; there is no window */
	head = stream->window.bytes + stream->window.pos;
	if (is_json(head, len))
		stream->format = STREAM_JSON;
	else if (!is_protobuf(head, len))
		return err_set(err, ERR_FORMAT, "%s: not a Buck2 event log", stream->name);
	return 0;
}

static uint32_t want_all(void *context, const uint8_t *record, size_t len)
{
	(void)context;
	(void)record;
	(void)len;
	return 1;
}

int stream_open(struct stream **out_stream, int fd, const char *name, bool ahead, struct err *err)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));

	stream->name = xstrdup(name);
	stream->filter = want_all;
	if (unpack_ahead_open(&stream->window.unpack, fd, name, ahead, err) < 0 ||
	    sniff(stream, err) < 0) {
		stream_free(stream);
		return -1;
	}
	*out_stream = stream;
	return 0;
}

void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	window_release(&stream->window);
	free(stream->name);
	free(stream);
}

void stream_go_ahead(struct stream *stream)
{
	unpack_ahead_go(stream->window.unpack);
}

void stream_set_filter(struct stream *stream, stream_filter *filter, void *context)
{
	stream->filter = filter;
	stream->filter_context = context;
}

uint64_t stream_passed(const struct stream *stream)
{
	return stream->passed;
}

enum stream_format stream_format(const struct stream *stream)
{
	return stream->format;
}

enum stream_packing stream_packing(const struct stream *stream)
{
	switch (unpack_ahead_packing(stream->window.unpack)) {
	case UNPACK_GZIP:
		return STREAM_GZIP;
	case UNPACK_ZSTD:
		return STREAM_ZSTD;
	case UNPACK_PLAIN:
		break;
	}
	return STREAM_PLAIN;
}

enum stream_ending stream_end(const struct stream *stream)
{
	return stream->ending;
}

const char *stream_fault(const struct stream *stream)
{
	return stream->fault;
}

uint64_t stream_bytes_read(const struct stream *stream)
{
	return unpack_ahead_bytes_in(stream->window.unpack);
}

uint64_t stream_bytes_decoded(const struct stream *stream)
{
	return unpack_ahead_bytes_out(stream->window.unpack);
}

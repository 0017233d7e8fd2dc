#include "stream.h"

#include "util/mem.h"
#include "util/unpack_ahead.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The window is what was unpacked and not yet passed over, in one piece. It lies
 * in the newest block, where records are shown in place, and begins in front of it
 * where a record does. Only a record that is too long for that is gathered in a
 * buffer of our own, which grows up to the largest body.
 */
#define GATHERED_KEPT ((size_t)1 << 20)
/* A record up to this size is shown only if it is whole. */
#define SHOWN_WHOLE ((size_t)256 << 10)
#define VARINT_MAX 10
/* A length prefix beyond this is no record of Buck2's, and what follows it is lost. */
#define PLAUSIBLE_MAX ((uint64_t)1 << 32)

/* The largest record, and what its last block brings along. */
#define LARGE_SIZE (STREAM_RECORD_MAX + GATHERED_KEPT)

/*
 * Only one stream of the process gathers a record that is larger than what each may
 * keep: records of 16 MiB in several logs at once take no more memory than one. It is
 * mapped and unmapped, since malloc would keep such memory, one for each thread.
 */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t was_freed;
	bool taken;
} large = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

struct stream {
	struct unpack_ahead *unpack;
	char *name;
	enum stream_format format;
	enum stream_ending ending;
	char fault[256];

	const uint8_t *window;
	size_t pos, len;   /* window[pos..len) is not passed over */
	bool in_block;	   /* the window lies in a block; else in gathered[] */
	uint8_t *gathered; /* NULL */
	size_t cap;
	bool has_large; /* gathered[] is mapped, and of LARGE_SIZE bytes */

	stream_filter *filter; /* NULL: all are wanted */
	void *filter_context;

	uint64_t number, passed;
	uint64_t left;	/* bytes of the record at hand from pos on; JSON: SIZE_UNSEEN until its
			   newline  is seen, which counts as part of it then */
	size_t scanned; /* JSON: bytes from pos on that hold no newline */
};

#define SIZE_UNSEEN UINT64_MAX

/* ---- the window ---- */

static size_t available(const struct stream *stream)
{
	return stream->len - stream->pos;
}

static uint8_t *map_large(void)
{
	void *memory =
		mmap(NULL, LARGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

/* gathered[] moves there. */
static void take_large(struct stream *stream)
{
	uint8_t *memory;

	pthread_mutex_lock(&large.mutex);
	while (large.taken)
		pthread_cond_wait(&large.was_freed, &large.mutex);
	large.taken = stream->has_large = true;
	pthread_mutex_unlock(&large.mutex);
	memory = map_large();
	if (stream->cap)
		memcpy(memory, stream->gathered, stream->cap);
	free(stream->gathered);
	stream->gathered = memory;
	stream->cap = LARGE_SIZE;
}

static void free_large(struct stream *stream)
{
	munmap(stream->gathered, LARGE_SIZE);
	stream->gathered = NULL;
	stream->cap = 0;
	pthread_mutex_lock(&large.mutex);
	large.taken = stream->has_large = false;
	pthread_cond_signal(&large.was_freed);
	pthread_mutex_unlock(&large.mutex);
}

static void release_window(struct stream *stream)
{
	if (stream->in_block)
		unpack_ahead_give_back(stream->unpack);
	stream->in_block = false;
	if (stream->has_large)
		free_large(stream);
}

/* The window moves into the block. What is left of it stands in front of that, or is put there. */
static void move_into(struct stream *stream, struct unpack_block *block)
{
	size_t left = available(stream);
	uint8_t *front = block->data - left;

	if (left > block->before && front != stream->window + stream->pos)
		memcpy(front, stream->window + stream->pos, left - block->before);
	release_window(stream);
	stream->in_block = true;
	stream->window = front;
	stream->pos = 0;
	stream->len = left + block->len;
}

static void reserve(struct stream *stream, size_t want)
{
	if (want <= stream->cap)
		return;
	if (want > GATHERED_KEPT) {
		take_large(stream);
		return;
	}
	stream->cap = want > 2 * stream->cap ? want : 2 * stream->cap;
	stream->gathered = xrealloc(stream->gathered, stream->cap);
}

/* The window becomes what is left of it and the block, in gathered[]. */
static void gather(struct stream *stream, const struct unpack_block *block)
{
	size_t left = available(stream);

	/* A window there is, even if there is nothing to gather in it. */
	reserve(stream, 1);
	if (stream->in_block) {
		reserve(stream, left + block->len);
		memcpy(stream->gathered, stream->window + stream->pos, left);
		unpack_ahead_give_back(stream->unpack);
		stream->in_block = false;
	} else {
		memmove(stream->gathered, stream->gathered + stream->pos, left);
		reserve(stream, left + block->len);
	}
	memcpy(stream->gathered + left, block->data, block->len);
	stream->window = stream->gathered;
	stream->pos = 0;
	stream->len = left + block->len;
	unpack_ahead_give_back(stream->unpack);
}

/* One more block. 1: the window is larger; 0: the end; -1. */
static int refill(struct stream *stream, struct err *err)
{
	struct unpack_block *block;
	int rc = unpack_ahead_next(stream->unpack, &block, err);

	if (rc <= 0)
		return rc;
	if (available(stream) <= UNPACK_ROOM)
		move_into(stream, block);
	else
		gather(stream, block);
	return 1;
}

/* Has `want` bytes from pos on in the window. 1: yes; 0: the file ends before; -1. */
static int need(struct stream *stream, size_t want, struct err *err)
{
	while (available(stream) < want) {
		int rc = refill(stream, err);

		if (rc <= 0)
			return rc;
	}
	return 1;
}

/* ---- the end ---- */

static int stop(struct stream *stream, bool inside_record)
{
	switch (unpack_ahead_ending(stream->unpack)) {
	case UNPACK_BROKEN:
		stream->ending = STREAM_BROKEN;
		snprintf(stream->fault, sizeof(stream->fault), "%s",
			 unpack_ahead_fault(stream->unpack));
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
	stream->pos += count;
	if (stream->left != SIZE_UNSEEN)
		stream->left -= count;
	stream->scanned = 0;
}

/* Sees the line's end if it is in the window. */
static bool see_newline(struct stream *stream)
{
	const uint8_t *start = stream->window + stream->pos;
	size_t there = available(stream);
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
		size_t there = available(stream);
		int rc;

		if (stream->left == SIZE_UNSEEN && see_newline(stream))
			continue;
		if (there >= stream->left) {
			pass(stream, (size_t)stream->left);
			break;
		}
		pass(stream, there);
		rc = refill(stream, err);
		if (rc <= 0)
			return rc;
	}
	return 1;
}

/* Every `byte` from pos on. 1: there is something else; 0: the file ends; -1. */
static int pass_run(struct stream *stream, uint8_t byte, struct err *err)
{
	int rc;

	while ((rc = need(stream, 1, err)) > 0 && stream->window[stream->pos] == byte)
		stream->pos++;
	return rc;
}

/* ---- length-delimited ---- */

/* 1: *out_size, its prefix passed over; 0: the end; -1. */
static int take_size(struct stream *stream, uint64_t *out_size, struct err *err)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < VARINT_MAX; i++) {
		int rc = need(stream, i + 1, err);
		uint8_t byte;

		if (rc <= 0)
			return rc < 0 ? -1 : stop(stream, i > 0);
		byte = stream->window[stream->pos + i];
		size |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			if (size > PLAUSIBLE_MAX)
				break;
			stream->pos += i + 1;
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
	rc = need(stream, size < SHOWN_WHOLE ? (size_t)size : STREAM_HEAD_MAX, err);
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
	while (!see_newline(stream) && available(stream) < SHOWN_WHOLE) {
		rc = refill(stream, err);
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

/*
 * Nearly every record: it lies in the window to its end, as the one before does, and
 * its size takes one byte or two. Passes over those that the filter does not want.
 * false: look closer at the next one, if there is one.
 */
static inline bool next_at_hand(struct stream *stream, struct stream_record *out_record)
{
	const uint8_t *at, *end;
	uint64_t passed = 0;
	size_t size = 0;

	if (stream->left >= available(stream))
		return false; /* nor is there a window, at first */
	at = stream->window + stream->pos + stream->left;
	end = stream->window + stream->len;
	while (end - at >= 2) {
		size_t prefix;

		size = short_size(at, (size_t)(end - at), &prefix);
		if (!size)
			break;
		at += prefix;
		if (!stream->filter || stream->filter(stream->filter_context, at, size))
			break;
		at += size;
		size = 0;
		passed++;
	}
	stream->pos = (size_t)(at - stream->window);
	stream->left = size;
	stream->passed += passed;
	stream->number += passed + (size > 0);
	*out_record =
		(struct stream_record){stream->number, at, size, size, stream->filter != NULL};
	return size > 0;
}

int stream_next(struct stream *stream, struct stream_record *out_record, struct err *err)
{
	struct stream_record record;
	int rc;

	if (stream->ending != STREAM_OPEN)
		return 0;
	if (stream->format == STREAM_PROTOBUF && next_at_hand(stream, out_record))
		return 1;
	rc = pass_record(stream, err);
	if (rc <= 0)
		return rc < 0 ? -1 : stop(stream, true);
	rc = stream->format == STREAM_JSON ? next_line(stream, &record, err)
					   : next_protobuf(stream, &record, err);
	if (rc <= 0)
		return rc;
	record.number = ++stream->number;
	record.head = stream->window + stream->pos;
	record.is_chosen = false;
	*out_record = record;
	return 1;
}

/* The line's end, wherever it is. 1: stream->left is known; 0: not within the largest body; -1. */
static int find_newline(struct stream *stream, bool *out_too_large, struct err *err)
{
	while (stream->left == SIZE_UNSEEN && !see_newline(stream)) {
		int rc;

		*out_too_large = available(stream) > STREAM_RECORD_MAX;
		if (*out_too_large)
			return 0;
		rc = refill(stream, err);
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
		rc = *out_too_large ? 0 : need(stream, (size_t)stream->left, err);
	}
	if (rc <= 0)
		return rc;
	*out_data = stream->window + stream->pos;
	*out_len = (size_t)size;
	return 1;
}

/* What is behind the record is less than a block. */
void stream_let_go(struct stream *stream)
{
	size_t left;
	uint8_t *rest;

	if (!stream->has_large || stream->left > available(stream))
		return;
	pass(stream, (size_t)stream->left);
	left = available(stream);
	rest = xmalloc(left + 1);
	memcpy(rest, stream->window + stream->pos, left);
	free_large(stream);
	stream->window = stream->gathered = rest;
	stream->cap = left;
	stream->pos = 0;
	stream->len = left;
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

	if (need(stream, VARINT_MAX + 1, err) < 0)
		return -1;
	len = available(stream);
	if (!len)
		return 0; /* an empty log; there is no window */
	head = stream->window + stream->pos;
	if (is_json(head, len))
		stream->format = STREAM_JSON;
	else if (!is_protobuf(head, len))
		return err_set(err, ERR_FORMAT, "%s: not a Buck2 event log", stream->name);
	return 0;
}

int stream_open(struct stream **out_stream, int fd, const char *name, bool ahead, struct err *err)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));

	stream->name = xstrdup(name);
	if (unpack_ahead_open(&stream->unpack, fd, name, ahead, err) < 0 ||
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
	if (stream->has_large)
		free_large(stream);
	unpack_ahead_free(stream->unpack);
	free(stream->gathered);
	free(stream->name);
	free(stream);
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
	switch (unpack_ahead_packing(stream->unpack)) {
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
	return unpack_ahead_bytes_in(stream->unpack);
}

uint64_t stream_bytes_decoded(const struct stream *stream)
{
	return unpack_ahead_bytes_out(stream->unpack);
}

#include "spans.h"

#include "decode.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 256
/* Room for the records of nearly every start, and of a stage behind it. */
#define USUAL_ROOM ((size_t)448)

/* Span ids count up from 1 in a daemon: spread them all the same. */
static struct span_bucket *bucket_of(const struct spans *spans, uint64_t span_id)
{
	size_t slot = (size_t)((span_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

	return &spans->buckets[slot & (spans->bucket_count - 1)];
}

static void push(struct span_bucket *bucket, struct span *span)
{
	span->next = bucket->first;
	bucket->first = span;
	bucket->first_id = span->span_id;
}

static void remove_from(struct span_bucket *bucket, const struct span *span)
{
	struct span **place = &bucket->first;

	while (*place != span)
		place = &(*place)->next;
	*place = span->next;
	if (bucket->first)
		bucket->first_id = bucket->first->span_id;
}

/* ---- memory ---- */

static bool is_own(const struct span *span)
{
	return span->stage && span->stage != span->record + span->start_len;
}

static void drop_stage(struct spans *spans, struct span *span)
{
	if (is_own(span)) {
		spans->bytes -= span->stage_len;
		free(span->stage);
	}
	span->stage = NULL;
}

static void free_span(struct spans *spans, struct span *span)
{
	drop_stage(spans, span);
	free(span);
}

static void free_chain(struct spans *spans, struct span *span)
{
	while (span) {
		struct span *next = span->next;

		free_span(spans, span);
		span = next;
	}
}

static size_t size_of(size_t room)
{
	return sizeof(struct span) + room;
}

/* NULL: too much is taken already. Nothing in it is set but `room`, and that it has no stage. */
static struct span *take_memory(struct spans *spans, size_t len)
{
	struct span *span = spans->spare;
	size_t room = len > USUAL_ROOM ? len : USUAL_ROOM;

	if (spans->bytes + size_of(room) > SPANS_BYTES_MAX)
		return NULL;
	spans->bytes += size_of(room);
	if (span && len <= span->room) {
		spans->spare = span->next;
		__builtin_prefetch(span->next); /* starts come in rows */
		return span;
	}
	span = xmalloc(size_of(room));
	span->room = (uint32_t)room;
	span->stage = NULL;
	return span;
}

static void give_memory(struct spans *spans, struct span *span)
{
	spans->bytes -= size_of(span->room);
	if (span->room > USUAL_ROOM) {
		free_span(spans, span);
		return;
	}
	drop_stage(spans, span);
	span->next = spans->spare;
	spans->spare = span;
}

void spans_release(struct spans *spans)
{
	size_t i;

	for (i = 0; i < spans->bucket_count; i++)
		free_chain(spans, spans->buckets[i].first);
	free_chain(spans, spans->spare);
	free(spans->buckets);
	*spans = (struct spans)SPANS_INIT;
}

static void grow(struct spans *spans)
{
	struct spans bigger = SPANS_INIT;
	size_t i;

	bigger.bucket_count = spans->bucket_count ? spans->bucket_count * 2 : FIRST_BUCKETS;
	bigger.buckets = xcalloc(bigger.bucket_count, sizeof(*bigger.buckets));
	for (i = 0; i < spans->bucket_count; i++) {
		struct span *span = spans->buckets[i].first;

		while (span) {
			struct span *next = span->next;

			push(bucket_of(&bigger, span->span_id), span);
			span = next;
		}
	}
	free(spans->buckets);
	spans->buckets = bigger.buckets;
	spans->bucket_count = bigger.bucket_count;
}

/* ---- spans ---- */

static void copy_start(struct span *span, const struct event *event)
{
	span->span_id = event->span_id;
	span->seq = event->seq;
	span->start_ns = event->time_ns;
	span->stage_seq = 0;
	span->is_json = event->is_json;
	span->start_len = (uint32_t)event->record.len;
	memcpy(span->record, event->record.data, event->record.len);
}

void spans_start(struct spans *spans, const struct event *event)
{
	struct span *span;

	if (spans_find(spans, event->span_id))
		return;
	span = spans->count < SPANS_MAX ? take_memory(spans, event->record.len) : NULL;
	if (!span) {
		spans->refused++;
		return;
	}
	copy_start(span, event);
	if (spans->count >= spans->bucket_count)
		grow(spans);
	push(bucket_of(spans, event->span_id), span);
	spans->count++;
}

/* Where a stage's record goes. NULL: too much is taken already. */
static uint8_t *stage_room(struct spans *spans, struct span *span, size_t len)
{
	if (len <= span->room - span->start_len)
		return span->record + span->start_len;
	if (spans->bytes + len > SPANS_BYTES_MAX)
		return NULL;
	spans->bytes += len;
	return xmalloc(len);
}

static void put_stage(struct spans *spans, struct span *span, uint64_t seq, const uint8_t *record,
		      size_t len)
{
	if (seq < span->seq)
		return; /* of one before it with the same id */
	drop_stage(spans, span);
	span->stage = stage_room(spans, span, len);
	if (!span->stage) {
		spans->refused++;
		return;
	}
	memcpy(span->stage, record, len);
	span->stage_len = (uint32_t)len;
	span->stage_seq = seq;
}

static void put_long_stage(struct spans *spans, const struct event *event)
{
	struct span *span;

	spans_settle(spans);
	span = spans_find(spans, event->parent_id);
	if (span)
		put_stage(spans, span, event->seq, (const uint8_t *)event->record.data,
			  event->record.len);
}

void spans_stage(struct spans *spans, const struct event *event)
{
	size_t len = event->record.len;

	if (len > SPANS_NOTED) {
		put_long_stage(spans, event);
		return;
	}
	if (spans->note_count == SPANS_NOTES || len > SPANS_NOTED - spans->noted_len)
		spans_settle(spans);
	memcpy(spans->noted + spans->noted_len, event->record.data, len);
	spans->notes[spans->note_count++] = (struct stage_note){
		event->parent_id, event->seq, (uint32_t)spans->noted_len, (uint32_t)len};
	spans->noted_len += len;
}

/*
 * A stage comes three times as often as a start, and where thousands run at once each
 * look at a bucket or a span is one far from the cache. Those of many stages are asked
 * for ahead: they wait for memory together, not in turn.
 */
void spans_settle(struct spans *spans)
{
	struct span *found[SPANS_NOTES];
	size_t i;

	for (i = 0; i < spans->note_count && spans->bucket_count; i++)
		__builtin_prefetch(bucket_of(spans, spans->notes[i].parent_id));
	for (i = 0; i < spans->note_count; i++) {
		found[i] = spans_find(spans, spans->notes[i].parent_id);
		if (found[i]) {
			__builtin_prefetch(found[i], 1);
			__builtin_prefetch((char *)found[i] + 192, 1);
		}
	}
	for (i = 0; i < spans->note_count; i++)
		if (found[i])
			put_stage(spans, found[i], spans->notes[i].seq,
				  spans->noted + spans->notes[i].at, spans->notes[i].len);
	spans->note_count = spans->noted_len = 0;
}

struct span *spans_find(struct spans *spans, uint64_t span_id)
{
	const struct span_bucket *bucket;
	struct span *span;

	if (!spans->bucket_count)
		return NULL;
	bucket = bucket_of(spans, span_id);
	span = bucket->first;
	if (!span || bucket->first_id == span_id)
		return span;
	do
		span = span->next;
	while (span && span->span_id != span_id);
	return span;
}

void spans_end(struct spans *spans, uint64_t span_id)
{
	struct span *span = spans_find(spans, span_id);

	if (!span)
		return;
	remove_from(bucket_of(spans, span_id), span);
	give_memory(spans, span);
	spans->count--;
}

/* ---- what is still open ---- */

/* NULL: damaged. Borrowed from the decoder. */
static const struct event *decode(struct decoder *decoder, const uint8_t *record, size_t len,
				  enum event_kind kind)
{
	struct event *event;
	struct err err = ERR_INIT;

	if (decode_record(decoder, record, len, &event, &err) <= 0 || event->kind != kind)
		return NULL;
	return event;
}

static void open_span(struct decoder *decoder, const struct span *span, struct open_span *out)
{
	const struct event *stage = NULL;

	if (span->stage)
		stage = decode(decoder, span->stage, span->stage_len, EVENT_STAGE);
	out->span = span;
	out->stage = stage ? stage->stage : (struct stage){.name = STR_NULL};
	out->start = decode(decoder, span->record, span->start_len, EVENT_ACTION_START);
}

void spans_each(struct spans *spans, void (*visit)(void *context, const struct open_span *open),
		void *context)
{
	struct decoder *decoders[2] = {NULL, NULL}; /* by is_json */
	const struct span *span;
	struct open_span open;
	size_t i;

	spans_settle(spans);
	for (i = 0; i < spans->bucket_count; i++) {
		for (span = spans->buckets[i].first; span; span = span->next) {
			struct decoder **decoder = &decoders[span->is_json];

			if (!*decoder)
				*decoder =
					decoder_new(span->is_json ? DECODE_JSON : DECODE_PROTOBUF);
			open_span(*decoder, span, &open);
			visit(context, &open);
		}
	}
	decoder_free(decoders[0]);
	decoder_free(decoders[1]);
}

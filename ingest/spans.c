#include "spans.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 256
/* Room for the texts of nearly every action. */
#define USUAL_TEXT ((size_t)256)

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

static void free_chain(struct span *span)
{
	while (span) {
		struct span *next = span->next;

		free(span);
		span = next;
	}
}

/* Nothing in it is set but text_cap. */
static struct span *take_memory(struct spans *spans, size_t len)
{
	struct span *span = spans->spare;
	size_t cap = len > USUAL_TEXT ? len : USUAL_TEXT;

	if (span && len <= span->text_cap) {
		spans->spare = span->next;
		__builtin_prefetch(span->next); /* starts come in rows */
		return span;
	}
	span = xmalloc(sizeof(*span) + cap);
	span->text_cap = cap;
	return span;
}

static void give_memory(struct spans *spans, struct span *span)
{
	if (span->text_cap > USUAL_TEXT) {
		free(span);
		return;
	}
	span->next = spans->spare;
	spans->spare = span;
}

void spans_release(struct spans *spans)
{
	size_t i;

	for (i = 0; i < spans->bucket_count; i++)
		free_chain(spans->buckets[i].first);
	free_chain(spans->spare);
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

/* Moves a text into the span's own memory. */
static void keep(struct str *text, char **at)
{
	if (!text->data)
		return;
	memcpy(*at, text->data, text->len);
	text->data = *at;
	*at += text->len;
}

static struct span *copy_start(struct spans *spans, const struct event *event)
{
	const struct action_name *name = &event->action.name;
	size_t len = name->buck_package.len + name->target.len + name->category.len +
		     name->identifier.len + name->configuration.len;
	struct span *span = take_memory(spans, len);
	char *at = span->text;

	span->span_id = event->span_id;
	span->seq = event->seq;
	span->start_ns = event->time_ns;
	span->stage_seq = 0;
	span->stage.digest.hash_len = 0;
	span->stage.name = STR_NULL;
	span->type = event->action.type;
	span->name = *name;
	keep(&span->name.buck_package, &at);
	keep(&span->name.target, &at);
	keep(&span->name.category, &at);
	keep(&span->name.identifier, &at);
	keep(&span->name.configuration, &at);
	return span;
}

void spans_start(struct spans *spans, const struct event *event)
{
	if (spans->count >= SPANS_MAX) {
		spans->refused++;
		return;
	}
	if (spans_find(spans, event->span_id))
		return;
	if (spans->count >= spans->bucket_count)
		grow(spans);
	push(bucket_of(spans, event->span_id), copy_start(spans, event));
	spans->count++;
}

void spans_stage(struct spans *spans, uint64_t parent_id, uint64_t seq, const struct stage *stage)
{
	spans->notes[spans->note_count++] = (struct stage_note){parent_id, seq, *stage};
	if (spans->note_count == SPANS_NOTES)
		spans_settle(spans);
}

static void settle(struct span *span, const struct stage_note *note)
{
	if (note->seq < span->seq)
		return; /* of one before it with the same id */
	span->stage_seq = note->seq;
	span->stage = note->stage;
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
			__builtin_prefetch(&found[i]->stage, 1);
			__builtin_prefetch(&found[i]->stage.name, 1);
		}
	}
	for (i = 0; i < spans->note_count; i++)
		if (found[i])
			settle(found[i], &spans->notes[i]);
	spans->note_count = 0;
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

int spans_each(struct spans *spans, int (*visit)(void *context, const struct span *span),
	       void *context)
{
	size_t i;

	spans_settle(spans);
	for (i = 0; i < spans->bucket_count; i++) {
		const struct span *span;

		for (span = spans->buckets[i].first; span; span = span->next) {
			int stopped = visit(context, span);

			if (stopped)
				return stopped;
		}
	}
	return 0;
}

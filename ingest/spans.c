#include "spans.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 256

/* Span ids count up from 1 in a daemon: spread them all the same. */
static size_t slot_of(const struct spans *spans, uint64_t span_id)
{
	return (size_t)((span_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (spans->bucket_count - 1);
}

static struct span **find_place(struct spans *spans, uint64_t span_id)
{
	struct span **place = &spans->buckets[slot_of(spans, span_id)];

	while (*place && (*place)->span_id != span_id)
		place = &(*place)->next;
	return place;
}

void spans_release(struct spans *spans)
{
	size_t i;

	for (i = 0; i < spans->bucket_count; i++) {
		struct span *span = spans->buckets[i];

		while (span) {
			struct span *next = span->next;

			free(span);
			span = next;
		}
	}
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
		struct span *span = spans->buckets[i];

		while (span) {
			struct span *next = span->next;
			struct span **place = &bigger.buckets[slot_of(&bigger, span->span_id)];

			span->next = *place;
			*place = span;
			span = next;
		}
	}
	free(spans->buckets);
	spans->buckets = bigger.buckets;
	spans->bucket_count = bigger.bucket_count;
}

/* Moves a text into the span's own memory. */
static void keep(struct str *text, char **at)
{
	if (!text->data)
		return;
	memcpy(*at, text->data, text->len);
	text->data = *at;
	*at += text->len;
}

static struct span *copy_start(const struct event *event)
{
	const struct action_name *name = &event->action.name;
	size_t len = name->buck_package.len + name->target.len + name->category.len +
		     name->identifier.len + name->configuration.len;
	struct span *span = xcalloc(1, sizeof(*span) + len);
	char *at = span->text;

	span->span_id = event->span_id;
	span->seq = event->seq;
	span->start_ns = event->time_ns;
	span->action.type = event->action.type;
	span->action.name = *name;
	keep(&span->action.name.buck_package, &at);
	keep(&span->action.name.target, &at);
	keep(&span->action.name.category, &at);
	keep(&span->action.name.identifier, &at);
	keep(&span->action.name.configuration, &at);
	return span;
}

void spans_start(struct spans *spans, const struct event *event)
{
	struct span **place;

	if (spans->count >= SPANS_MAX) {
		spans->refused++;
		return;
	}
	if (spans->count >= spans->bucket_count)
		grow(spans);
	place = find_place(spans, event->span_id);
	if (*place)
		return;
	*place = copy_start(event);
	spans->count++;
}

void spans_stage(struct spans *spans, uint64_t parent_id, uint64_t seq, const struct stage *stage)
{
	struct span *span = spans_find(spans, parent_id);
	size_t len = stage->name.len;

	if (!span)
		return;
	if (len >= sizeof(span->stage_name))
		len = sizeof(span->stage_name) - 1;
	if (len)
		memcpy(span->stage_name, stage->name.data, len);
	span->stage_name[len] = '\0';
	span->stage_seq = seq;
	span->stage.digest = stage->digest;
	span->stage.name = (struct str){span->stage_name, len};
}

struct span *spans_find(struct spans *spans, uint64_t span_id)
{
	return spans->bucket_count ? *find_place(spans, span_id) : NULL;
}

void spans_end(struct spans *spans, uint64_t span_id)
{
	struct span **place;
	struct span *span;

	if (!spans->bucket_count)
		return;
	place = find_place(spans, span_id);
	span = *place;
	if (!span)
		return;
	*place = span->next;
	free(span);
	spans->count--;
}

int spans_each(struct spans *spans, int (*visit)(void *context, const struct span *span),
	       void *context)
{
	size_t i;

	for (i = 0; i < spans->bucket_count; i++) {
		const struct span *span;

		for (span = spans->buckets[i]; span; span = span->next) {
			int stopped = visit(context, span);

			if (stopped)
				return stopped;
		}
	}
	return 0;
}

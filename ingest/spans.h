/*
 * The started actions of one log that have not ended yet: as many as the build
 * had at once, so memory follows the build's width, not the log's length. A
 * ceiling keeps a hostile log from filling the memory with starts.
 */
#ifndef BR2_SPANS_H
#define BR2_SPANS_H

#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_MAX ((size_t)65536)

struct span {
	struct span *next;
	uint64_t span_id;
	uint64_t seq;
	int64_t start_ns;
	uint64_t stage_seq; /* number of the stage's record */
	struct stage stage; /* the last one that named a digest; hash_len 0: none */
	char stage_name[24];
	enum action_type type;
	struct action_name name; /* texts point into this allocation */
	size_t text_cap;
	char text[];
};

/*
 * A chain of spans, with the first one's id beside: a stage comes three times as often as
 * a start, and where many actions run at once each look at a span is one far from the cache.
 */
struct span_bucket {
	uint64_t first_id;
	struct span *first; /* NULL */
};

struct spans {
	struct span_bucket *buckets;
	size_t bucket_count; /* a power of two, or 0 */
	size_t count;
	uint64_t refused;   /* starts beyond SPANS_MAX */
	struct span *spare; /* ended ones, whose memory serves again */
};

#define SPANS_INIT                  \
	{                           \
		NULL, 0, 0, 0, NULL \
	}

void spans_release(struct spans *spans);
/* Copies what it needs of the start event; a span that is known stays as it is. */
void spans_start(struct spans *spans, const struct event *event);
/* Notes the digest that a stage below span `parent_id` names. */
void spans_stage(struct spans *spans, uint64_t parent_id, uint64_t seq, const struct stage *stage);
/* The span, or NULL; owned by the table. */
struct span *spans_find(struct spans *spans, uint64_t span_id);
void spans_end(struct spans *spans, uint64_t span_id);
/* Calls `visit` for each open span in no order; stops at the first nonzero, which it returns. */
int spans_each(struct spans *spans, int (*visit)(void *context, const struct span *span),
	       void *context);

#endif

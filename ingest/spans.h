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
#define SPANS_NOTES 64

struct span {
	struct span *next;
	size_t text_cap;
	uint64_t span_id;
	uint64_t seq;
	int64_t start_ns;
	uint64_t stage_seq; /* number of the stage's record */
	struct stage stage; /* the last one that named a digest; hash_len 0: none */
	enum action_type type;
	struct action_name name; /* texts point into this allocation */
	char text[];
};

/* A chain of spans, with the first one's id beside: most are found without a look at a span. */
struct span_bucket {
	uint64_t first_id;
	struct span *first; /* NULL */
};

struct stage_note {
	uint64_t parent_id, seq;
	struct stage stage;
};

struct spans {
	struct span_bucket *buckets;
	size_t bucket_count; /* a power of two, or 0 */
	size_t count;
	uint64_t refused;   /* starts beyond SPANS_MAX */
	struct span *spare; /* ended ones, whose memory serves again */
	size_t note_count;
	struct stage_note notes[SPANS_NOTES]; /* not brought to their spans yet */
};

#define SPANS_INIT              \
	{                       \
		.buckets = NULL \
	}

void spans_release(struct spans *spans);
/* Copies what it needs of the start event; a span that is known stays as it is. */
void spans_start(struct spans *spans, const struct event *event);
/*
 * Notes the digest that a stage below span `parent_id` names; the stage's name is one of
 * our own texts, and not copied. The span has it after spans_settle() at the latest.
 */
void spans_stage(struct spans *spans, uint64_t parent_id, uint64_t seq, const struct stage *stage);
void spans_settle(struct spans *spans);
/* The span, or NULL; owned by the table. */
struct span *spans_find(struct spans *spans, uint64_t span_id);
void spans_end(struct spans *spans, uint64_t span_id);
/* Settles, and calls `visit` for each open span in no order; stops at the first nonzero, which it
 * returns. */
int spans_each(struct spans *spans, int (*visit)(void *context, const struct span *span),
	       void *context);

#endif

/*
 * The started actions of one log that have not ended yet: as many as the build
 * had at once, so memory follows the build's width, not the log's length. A
 * ceiling keeps a hostile log from filling the memory with starts.
 *
 * Nearly all of them end, and what their starts and stages say is said again then:
 * the records are kept as they came, and decoded where a log ends before an action.
 */
#ifndef BR2_SPANS_H
#define BR2_SPANS_H

#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_MAX ((size_t)65536)
#define SPANS_BYTES_MAX ((size_t)40 << 20)
#define SPANS_NOTES 64
#define SPANS_NOTED ((size_t)8 << 10)

struct span {
	struct span *next;
	uint64_t span_id;
	uint64_t seq;
	int64_t start_ns;
	uint64_t stage_seq; /* number of the stage's record */
	uint8_t *stage;	    /* behind the start's, or of its own; NULL: none */
	uint32_t stage_len, start_len;
	uint32_t room; /* of record[] */
	bool is_json;
	uint8_t record[]; /* the start's */
};

/* A chain of spans, with the first one's id beside: most are found without a look at a span. */
struct span_bucket {
	uint64_t first_id;
	struct span *first; /* NULL */
};

struct stage_note {
	uint64_t parent_id, seq;
	uint32_t at, len; /* in noted[] */
};

struct spans {
	struct span_bucket *buckets;
	size_t bucket_count; /* a power of two, or 0 */
	size_t count;
	size_t bytes;	    /* of open spans */
	uint64_t refused;   /* starts and stages beyond the ceilings */
	struct span *spare; /* ended ones, whose memory serves again */
	size_t note_count, noted_len;
	struct stage_note notes[SPANS_NOTES]; /* not brought to their spans yet */
	uint8_t noted[SPANS_NOTED];
};

#define SPANS_INIT              \
	{                       \
		.buckets = NULL \
	}

void spans_release(struct spans *spans);
/*
 * Copies the record of the start event, of which only the head needs to be decoded; a span
 * that is known stays as it is.
 */
void spans_start(struct spans *spans, const struct event *event);
/*
 * Notes the stage below span event->parent_id, likewise. The span has it after spans_settle()
 * at the latest; of several the last one.
 */
void spans_stage(struct spans *spans, const struct event *event);
void spans_settle(struct spans *spans);
/* The span, or NULL; owned by the table. */
struct span *spans_find(struct spans *spans, uint64_t span_id);
void spans_end(struct spans *spans, uint64_t span_id);

/* What the records of an open span say; borrowed. */
struct open_span {
	const struct span *span;
	const struct event *start; /* NULL: its record is damaged */
	struct stage stage;	   /* hash_len 0: none */
};

/* Settles, and calls `visit` for each open span in no order. */
void spans_each(struct spans *spans, void (*visit)(void *context, const struct open_span *open),
		void *context);

#endif

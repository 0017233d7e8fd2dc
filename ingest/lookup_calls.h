/*
 * The calls of an engine, each in a slot of its own: which are free, which wait
 * to be started again and until when, whose turn it is. A part of lookup, no use
 * to others.
 */
#ifndef BR2_LOOKUP_CALLS_H
#define BR2_LOOKUP_CALLS_H

#include "lookup.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_SLOT UINT32_MAX

enum call_state { CALL_FREE = 0, CALL_WAITING, CALL_FLYING };

struct call {
	enum call_state state;
	struct lookup_request request;
	uint32_t failures;    /* that were this call's own, not an outage's */
	int64_t due_ms;	      /* CALL_WAITING: not before */
	uint64_t answers;     /* of the engine, when it was first started or last at fault */
	uint32_t credentials; /* when it was started last */
};

struct calls {
	struct call *items;
	uint32_t count;
	uint32_t *free_slots; /* a stack */
	uint32_t free_count, waiting;
};

void calls_init(struct calls *calls, uint32_t count);
void calls_release(struct calls *calls);

/* A free slot for this request, waiting and due. Only while free_count. */
uint32_t calls_take(struct calls *calls, const struct lookup_request *request);
void calls_free(struct calls *calls, uint32_t slot);
/* A call that waits does so no more. */
void calls_fly(struct calls *calls, uint32_t slot);
/* And one that flew does again. */
void calls_wait(struct calls *calls, uint32_t slot, int64_t due_ms);

/* The first waiting call from this slot on, round to the one before it; NO_SLOT. */
uint32_t calls_next_waiting(const struct calls *calls, uint32_t from);
/* When the first waiting call is due; INT64_MAX: none waits. */
int64_t calls_due_ms(const struct calls *calls);

#endif

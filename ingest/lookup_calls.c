#include "lookup_calls.h"

#include "util/mem.h"

#include <stdlib.h>

void calls_init(struct calls *calls, uint32_t count)
{
	uint32_t i;

	calls->items = xcalloc(count, sizeof(*calls->items));
	calls->count = count;
	calls->free_slots = xreallocarray(NULL, count, sizeof(*calls->free_slots));
	calls->free_count = calls->waiting = 0;
	for (i = count; i-- > 0;)
		calls->free_slots[calls->free_count++] = i;
}

void calls_release(struct calls *calls)
{
	free(calls->items);
	free(calls->free_slots);
}

uint32_t calls_take(struct calls *calls, const struct lookup_request *request)
{
	uint32_t slot = calls->free_slots[--calls->free_count];

	calls->items[slot] = (struct call){.state = CALL_WAITING, .request = *request};
	calls->waiting++;
	return slot;
}

void calls_free(struct calls *calls, uint32_t slot)
{
	if (calls->items[slot].state == CALL_WAITING)
		calls->waiting--;
	calls->items[slot] = (struct call){.state = CALL_FREE};
	calls->free_slots[calls->free_count++] = slot;
}

void calls_fly(struct calls *calls, uint32_t slot)
{
	calls->items[slot].state = CALL_FLYING;
	calls->waiting--;
}

void calls_wait(struct calls *calls, uint32_t slot, int64_t due_ms)
{
	calls->items[slot].state = CALL_WAITING;
	calls->items[slot].due_ms = due_ms;
	calls->waiting++;
}

uint32_t calls_next_waiting(const struct calls *calls, uint32_t from)
{
	uint32_t i;

	for (i = 0; calls->waiting && i < calls->count; i++) {
		uint32_t slot = (from + i) % calls->count;

		if (calls->items[slot].state == CALL_WAITING)
			return slot;
	}
	return NO_SLOT;
}

int64_t calls_due_ms(const struct calls *calls)
{
	int64_t due = INT64_MAX;
	uint32_t slot;

	for (slot = 0; calls->waiting && slot < calls->count; slot++)
		if (calls->items[slot].state == CALL_WAITING && calls->items[slot].due_ms < due)
			due = calls->items[slot].due_ms;
	return due;
}

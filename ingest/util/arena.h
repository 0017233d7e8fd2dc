/*
 * A bump allocator for one record's worth of decoded structs: everything is
 * given back at once by arena_reset(). It has a ceiling, so that hostile input
 * meets a NULL instead of the machine's memory.
 */
#ifndef BR2_ARENA_H
#define BR2_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* What an arena takes of malloc() at a time, unless more is asked for at once. */
#define ARENA_BLOCK ((size_t)64 << 10)

struct arena_block;

struct arena {
	struct arena_block *block; /* newest first */
	size_t used;		   /* bytes handed out since the last reset */
	size_t limit;		   /* ceiling for `used` */
	bool exhausted;		   /* an allocation was refused since the last reset */
};

void arena_init(struct arena *arena, size_t limit);
void arena_release(struct arena *arena);
/* Forgets all allocations; keeps one block for the next round. */
void arena_reset(struct arena *arena);
/* Memory aligned for any type, or NULL (and `exhausted`) over the limit. */
void *arena_alloc(struct arena *arena, size_t size);

#endif

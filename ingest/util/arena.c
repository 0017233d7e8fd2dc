#include "util/arena.h"

#include "util/mem.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ALIGNMENT alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t size;
	size_t used;
	alignas(max_align_t) char data[];
};

void arena_init(struct arena *arena, size_t limit)
{
	arena->block = NULL;
	arena->used = 0;
	arena->limit = limit;
	arena->exhausted = false;
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void arena_release(struct arena *arena)
{
	free_blocks(arena->block);
	arena_init(arena, arena->limit);
}

void arena_reset(struct arena *arena)
{
	struct arena_block *block = arena->block;

	if (block) {
		/* An outsized block is not kept: one huge record must not raise the floor. */
		free_blocks(block->next);
		block->next = NULL;
		block->used = 0;
		if (block->size > ARENA_BLOCK) {
			free(block);
			arena->block = NULL;
		}
	}
	arena->used = 0;
	arena->exhausted = false;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
	struct arena_block *block;

	if (size < ARENA_BLOCK)
		size = ARENA_BLOCK;
	block = xmalloc(sizeof(*block) + size);
	block->next = arena->block;
	block->size = size;
	block->used = 0;
	arena->block = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->block;
	void *memory;

	if (size > arena->limit - arena->used) {
		arena->exhausted = true;
		return NULL;
	}
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (!block || size > block->size - block->used)
		block = add_block(arena, size);
	memory = block->data + block->used;
	block->used += size;
	arena->used = size > arena->limit - arena->used ? arena->limit : arena->used + size;
	return memory;
}

#include "store_memory.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where malloc() itself watches over each block, all are to be its own. */
#ifdef __SANITIZE_ADDRESS__
#define MALLOC_CHECKS true
#elif defined(__has_feature)
#define MALLOC_CHECKS __has_feature(address_sanitizer)
#else
#define MALLOC_CHECKS false
#endif

/* A block lives on in a pointer to its payload, which gcc 12 does not count for one to the block.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* Header and payload, which SQLite wants aligned to 8 bytes. */
struct block {
	uint64_t size; /* of the payload */
	struct block *next_free;
};

#define HEADER offsetof(struct block, next_free)
#define STEP sizeof(struct block) /* sizes of whole blocks are multiples of it */
#define SMALL_STEPS 64		  /* a larger one goes to malloc() */
#define CHUNK_STEPS 4096	  /* of one malloc() for small ones: 64 KiB */

static struct block *freed[SMALL_STEPS + 1]; /* by steps */
static struct block *chunk, *chunk_end;	     /* what is left of the last one */

static size_t steps_of(size_t payload)
{
	return (HEADER + payload + STEP - 1) / STEP;
}

static void *payload_of(struct block *block)
{
	return (char *)block + HEADER;
}

static struct block *block_of(void *payload)
{
	return (struct block *)((char *)payload - HEADER);
}

/* The rest of the last chunk is lost: less than one block. */
static struct block *carve(size_t steps)
{
	struct block *block;

	if ((size_t)(chunk_end - chunk) < steps) {
		chunk = malloc(CHUNK_STEPS * sizeof(*chunk));
		chunk_end = chunk ? chunk + CHUNK_STEPS : NULL;
		if (!chunk)
			return NULL;
	}
	block = chunk;
	chunk += steps;
	return block;
}

static void *take(int wanted)
{
	size_t steps = steps_of((size_t)wanted), bytes = steps * STEP;
	struct block *block;

	if (steps > SMALL_STEPS) {
		block = malloc(bytes);
	} else if (freed[steps]) {
		block = freed[steps];
		freed[steps] = block->next_free;
	} else {
		block = carve(steps);
	}
	if (!block)
		return NULL;
	block->size = bytes - HEADER;
	return payload_of(block);
}

/* SQLite asks to free and to measure what it was given only, never NULL: its mem1.c. */
static void give_back(void *payload)
{
	struct block *block = block_of(payload);
	size_t steps = steps_of(block->size);

	if (steps > SMALL_STEPS) {
		free(block);
		return;
	}
	block->next_free = freed[steps];
	freed[steps] = block;
}

static int size_of(void *payload)
{
	return (int)block_of(payload)->size;
}

static void *resize_large(struct block *block, size_t bytes)
{
	struct block *moved = realloc(block, bytes);

	if (!moved)
		return NULL;
	moved->size = bytes - HEADER;
	return payload_of(moved);
}

static void *resize(void *payload, int wanted)
{
	size_t had = block_of(payload)->size, steps = steps_of((size_t)wanted);
	void *moved;

	if (steps > SMALL_STEPS && steps_of(had) > SMALL_STEPS)
		return resize_large(block_of(payload), steps * STEP);
	moved = take(wanted);
	if (!moved)
		return NULL;
	memcpy(moved, payload, had < (size_t)wanted ? had : (size_t)wanted);
	give_back(payload);
	return moved;
}

static int round_up(int wanted)
{
	return (int)(steps_of((size_t)wanted) * STEP - HEADER);
}

static int begin(void *unused)
{
	(void)unused;
	return SQLITE_OK;
}

static void end(void *unused)
{
	(void)unused;
}

void store_memory(void)
{
	static const sqlite3_mem_methods methods = {
		.xMalloc = take,
		.xFree = give_back,
		.xRealloc = resize,
		.xSize = size_of,
		.xRoundup = round_up,
		.xInit = begin,
		.xShutdown = end,
	};

	/* Memory that is not counted takes no lock. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	if (!MALLOC_CHECKS)
		sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

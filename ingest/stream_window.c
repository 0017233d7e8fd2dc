#include "stream_window.h"

#include "stream.h"
#include "util/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GATHERED_KEPT ((size_t)1 << 20)

/* The largest record, and what its last block brings along. */
#define LARGE_SIZE (STREAM_RECORD_MAX + GATHERED_KEPT)

/*
 * Only one stream of the process gathers a record that is larger than what each may
 * keep: records of 16 MiB in several logs at once take no more memory than one. It is
 * mapped and unmapped, since malloc would keep such memory, one for each thread.
 */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t was_freed;
	bool taken;
} large = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static uint8_t *map_large(void)
{
	void *memory =
		mmap(NULL, LARGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

/* gathered[] moves there. */
static void take_large(struct window *window)
{
	uint8_t *memory;

	pthread_mutex_lock(&large.mutex);
	while (large.taken)
		pthread_cond_wait(&large.was_freed, &large.mutex);
	large.taken = window->has_large = true;
	pthread_mutex_unlock(&large.mutex);
	memory = map_large();
	if (window->cap)
		memcpy(memory, window->gathered, window->cap);
	free(window->gathered);
	window->gathered = memory;
	window->cap = LARGE_SIZE;
}

static void free_large(struct window *window)
{
	munmap(window->gathered, LARGE_SIZE);
	window->gathered = NULL;
	window->cap = 0;
	pthread_mutex_lock(&large.mutex);
	large.taken = window->has_large = false;
	pthread_cond_signal(&large.was_freed);
	pthread_mutex_unlock(&large.mutex);
}

static void give_back(struct window *window)
{
	if (window->in_block)
		unpack_ahead_give_back(window->unpack);
	window->in_block = false;
	if (window->has_large)
		free_large(window);
}

/* The window moves into the block. What is left of it stands in front of that, or is put there. */
static void move_into(struct window *window, struct unpack_block *block)
{
	size_t left = window_available(window);
	uint8_t *front = block->data - left;

	if (left > block->before && front != window->bytes + window->pos)
		memcpy(front, window->bytes + window->pos, left - block->before);
	give_back(window);
	window->in_block = true;
	window->bytes = front;
	window->pos = 0;
	window->len = left + block->len;
}

static void reserve(struct window *window, size_t want)
{
	if (want <= window->cap)
		return;
	if (want > GATHERED_KEPT) {
		take_large(window);
		return;
	}
	window->cap = want > 2 * window->cap ? want : 2 * window->cap;
	window->gathered = xrealloc(window->gathered, window->cap);
}

/* The window becomes what is left of it and the block, in gathered[]. */
static void gather(struct window *window, const struct unpack_block *block)
{
	size_t left = window_available(window);

	/* A window there is, even if there is nothing to gather in it. */
	reserve(window, 1);
	if (window->in_block) {
		reserve(window, left + block->len);
		memcpy(window->gathered, window->bytes + window->pos, left);
		unpack_ahead_give_back(window->unpack);
		window->in_block = false;
	} else {
		memmove(window->gathered, window->gathered + window->pos, left);
		reserve(window, left + block->len);
	}
	memcpy(window->gathered + left, block->data, block->len);
	window->bytes = window->gathered;
	window->pos = 0;
	window->len = left + block->len;
	unpack_ahead_give_back(window->unpack);
}

int window_refill(struct window *window, struct err *err)
{
	struct unpack_block *block;
	int rc = unpack_ahead_next(window->unpack, &block, err);

	if (rc <= 0)
		return rc;
	if (window_available(window) <= UNPACK_ROOM)
		move_into(window, block);
	else
		gather(window, block);
	return 1;
}

int window_need(struct window *window, size_t want, struct err *err)
{
	while (window_available(window) < want) {
		int rc = window_refill(window, err);

		if (rc <= 0)
			return rc;
	}
	return 1;
}

/* What is left is less than a block. */
void window_let_go(struct window *window)
{
	size_t left = window_available(window);
	uint8_t *rest = xmalloc(left + 1);

	memcpy(rest, window->bytes + window->pos, left);
	free_large(window);
	window->bytes = window->gathered = rest;
	window->cap = left;
	window->pos = 0;
	window->len = left;
}

void window_release(struct window *window)
{
	if (window->has_large)
		free_large(window);
	unpack_ahead_free(window->unpack);
	free(window->gathered);
}

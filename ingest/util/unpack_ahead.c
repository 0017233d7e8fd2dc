#include "util/unpack_ahead.h"

#include "util/mem.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * All blocks together stay in the second-level cache of a core, so that what one
 * core has made the other still finds near.
 */
#define AHEAD_SIZE ((size_t)64 << 10)
#define AHEAD_COUNT 4
/* Without the thread. */
#define OWN_SIZE ((size_t)32 << 10)
/* Each may be larger by what unpack_next() gives at most. */
static_assert(AHEAD_COUNT * (AHEAD_SIZE + ((size_t)128 << 10)) + UNPACK_ROOM <= UNPACK_STANDS,
	      "blocks have to stand until they are given back");

struct slot {
	struct unpack_block block;
	int rc; /* unpack_next()'s word: 1, or what stands behind the block */
	struct err err;
	uint64_t bytes_in, bytes_out; /* up to its end */
};

struct unpack_ahead {
	struct unpack *unpack; /* the thread's while it runs */
	struct slot slots[AHEAD_COUNT];
	enum unpack_packing packing;
	enum unpack_ending ending;
	bool in_thread;		 /* as soon as there is a second block */
	bool tried;		 /* to start it */
	size_t size;		 /* of a block, or a little less */
	const struct slot *last; /* given to the reader, and nothing follows */
	uint64_t taken;		 /* blocks given to the reader */
	uint64_t bytes_in, bytes_out;

	bool running;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t was_filled, was_freed;
	uint64_t filled, freed; /* blocks so far; those between are full or held */
	bool stop;
};

static struct slot *slot_at(struct unpack_ahead *ahead, uint64_t number)
{
	return &ahead->slots[number % AHEAD_COUNT];
}

/* Small zstd blocks (Buck2 flushes often) share one of ours. */
static void fill(struct unpack *unpack, struct slot *slot, size_t size)
{
	slot->rc = unpack_next(unpack, size, &slot->block, &slot->err);
	slot->bytes_in = unpack_bytes_in(unpack);
	slot->bytes_out = unpack_bytes_out(unpack);
}

/* ---- the thread ---- */

/* The number of the next block to fill. false: no more are wanted. */
static bool wait_for_room(struct unpack_ahead *ahead, uint64_t *out_number)
{
	bool wanted;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->stop && ahead->filled - ahead->freed == AHEAD_COUNT)
		pthread_cond_wait(&ahead->was_freed, &ahead->mutex);
	*out_number = ahead->filled;
	wanted = !ahead->stop;
	pthread_mutex_unlock(&ahead->mutex);
	return wanted;
}

static void note_filled(struct unpack_ahead *ahead)
{
	pthread_mutex_lock(&ahead->mutex);
	ahead->filled++;
	pthread_cond_signal(&ahead->was_filled);
	pthread_mutex_unlock(&ahead->mutex);
}

static void *run(void *argument)
{
	struct unpack_ahead *ahead = argument;
	uint64_t number;
	int more = 1;

	while (more > 0 && wait_for_room(ahead, &number)) {
		struct slot *slot = slot_at(ahead, number);

		fill(ahead->unpack, slot, ahead->size);
		more = slot->rc; /* before the slot is the reader's */
		note_filled(ahead);
	}
	return NULL;
}

/*
 * Signals are for the threads that know what to do with them. Where no thread can
 * be had (a limit on processes), the reader fills the blocks itself.
 */
static void start(struct unpack_ahead *ahead)
{
	sigset_t all, before;

	ahead->tried = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ahead->running = pthread_create(&ahead->thread, NULL, run, ahead) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop(struct unpack_ahead *ahead)
{
	if (!ahead->running)
		return;
	pthread_mutex_lock(&ahead->mutex);
	ahead->stop = true;
	pthread_cond_signal(&ahead->was_freed);
	pthread_mutex_unlock(&ahead->mutex);
	pthread_join(ahead->thread, NULL);
	ahead->running = false;
}

/* ---- the reader ---- */

int unpack_ahead_open(struct unpack_ahead **out_ahead, int fd, const char *name, bool in_thread,
		      struct err *err)
{
	struct unpack_ahead *ahead;
	struct unpack *unpack;

	if (unpack_open(&unpack, fd, name, err) < 0)
		return -1;
	ahead = xcalloc(1, sizeof(*ahead));
	ahead->unpack = unpack;
	ahead->packing = unpack_packing(unpack);
	ahead->size = OWN_SIZE;
	if (in_thread)
		unpack_ahead_go(ahead);
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->was_filled, NULL);
	pthread_cond_init(&ahead->was_freed, NULL);
	*out_ahead = ahead;
	return 0;
}

void unpack_ahead_go(struct unpack_ahead *ahead)
{
	ahead->in_thread = true;
	ahead->size = AHEAD_SIZE;
}

void unpack_ahead_free(struct unpack_ahead *ahead)
{
	if (!ahead)
		return;
	stop(ahead);
	pthread_cond_destroy(&ahead->was_freed);
	pthread_cond_destroy(&ahead->was_filled);
	pthread_mutex_destroy(&ahead->mutex);
	unpack_free(ahead->unpack);
	free(ahead);
}

static struct slot *take_filled(struct unpack_ahead *ahead)
{
	if (!ahead->running) {
		fill(ahead->unpack, slot_at(ahead, ahead->taken), ahead->size);
		ahead->filled++;
	} else {
		pthread_mutex_lock(&ahead->mutex);
		while (ahead->filled == ahead->taken)
			pthread_cond_wait(&ahead->was_filled, &ahead->mutex);
		pthread_mutex_unlock(&ahead->mutex);
	}
	return slot_at(ahead, ahead->taken++);
}

/* Behind the last block. */
static int say_end(struct unpack_ahead *ahead, struct err *err)
{
	ahead->ending = unpack_ending(ahead->unpack);
	if (ahead->last->rc < 0)
		*err = ahead->last->err;
	return ahead->last->rc;
}

int unpack_ahead_next(struct unpack_ahead *ahead, struct unpack_block **out_block, struct err *err)
{
	struct slot *slot;

	if (ahead->last)
		return say_end(ahead, err);
	slot = take_filled(ahead);
	if (slot->rc <= 0)
		ahead->last = slot;
	else if (ahead->in_thread && !ahead->tried)
		start(ahead);
	ahead->bytes_in = slot->bytes_in;
	ahead->bytes_out = slot->bytes_out;
	if (!slot->block.len)
		return say_end(ahead, err);
	*out_block = &slot->block;
	return 1;
}

void unpack_ahead_give_back(struct unpack_ahead *ahead)
{
	pthread_mutex_lock(&ahead->mutex);
	ahead->freed++;
	pthread_cond_signal(&ahead->was_freed);
	pthread_mutex_unlock(&ahead->mutex);
}

enum unpack_packing unpack_ahead_packing(const struct unpack_ahead *ahead)
{
	return ahead->packing;
}

enum unpack_ending unpack_ahead_ending(const struct unpack_ahead *ahead)
{
	return ahead->ending;
}

const char *unpack_ahead_fault(const struct unpack_ahead *ahead)
{
	return ahead->ending == UNPACK_BROKEN ? unpack_fault(ahead->unpack) : "";
}

uint64_t unpack_ahead_bytes_in(const struct unpack_ahead *ahead)
{
	return ahead->bytes_in;
}

uint64_t unpack_ahead_bytes_out(const struct unpack_ahead *ahead)
{
	return ahead->bytes_out;
}

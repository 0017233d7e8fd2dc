#include "util/unpack_ring.h"

#include "util/unpack.h"

#include <assert.h>
#include <sys/mman.h>

/* Of x86-64, and of aarch64 with pages of 4 KiB. Where it is another, the advice is of no use. */
#define HUGE_PAGE ((size_t)2 << 20)
/* zstd may look at so many bytes behind the ring: ZSTD_decodingBufferSize_min(). */
#define BEYOND ((size_t)64)
/* The piece that is being written, and what was left where the one before did not fit. */
#define BESIDE (2 * UNPACK_PIECE_MAX)
/* More than UNPACK_ROOM, so that the ring begins with a huge page, and both with a page. */
#define FRONT HUGE_PAGE
/*
 * What can be used of it: whole pages of any size, but less than a huge one, which the first
 * touch would make where the system makes them unasked.
 */
#define FRONT_USED ((size_t)64 << 10)
static_assert(FRONT_USED >= UNPACK_ROOM && FRONT_USED < HUGE_PAGE, "the reader's, and no more");
/* As Buck2 packs. */
#define USUAL_WINDOW ((uint64_t)4 << 20)

void unpack_ring_init(struct unpack_ring *ring)
{
	*ring = (struct unpack_ring){.start = NULL};
}

void unpack_ring_release(struct unpack_ring *ring)
{
	int i;

	for (i = 0; i < UNPACK_RING_MAPS; i++)
		if (ring->maps[i].memory)
			munmap(ring->maps[i].memory, ring->maps[i].len);
	unpack_ring_init(ring);
}

/*
 * Addresses for the usual windows, and anew for the largest where one is wanted. Not for the
 * largest at once: for a few readers that is more than some limits (ulimit -v) leave.
 */
static bool move(struct unpack_ring *ring, size_t most, int number)
{
	size_t len = HUGE_PAGE + FRONT + most + BESIDE + BEYOND;
	uint8_t *at = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return false;
	ring->maps[number].memory = at;
	ring->maps[number].len = len;
	at += (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
	ring->start = at + FRONT;
	ring->size = ring->at = 0;
	return true;
}

static bool find_place(struct unpack_ring *ring, uint64_t window)
{
	if (window <= USUAL_WINDOW)
		return ring->start || move(ring, USUAL_WINDOW, 0);
	return ring->maps[1].memory || move(ring, UNPACK_WINDOW_MAX, 1);
}

/* What follows the last whole huge page has small ones: it may be only just begun. */
static void advise(const struct unpack_ring *ring)
{
#ifdef MADV_HUGEPAGE
	/* Which a kernel may not know. */
	madvise(ring->start, ring->size - ring->size % HUGE_PAGE, MADV_HUGEPAGE);
#else
	(void)ring;
#endif
}

bool unpack_ring_reserve(struct unpack_ring *ring, uint64_t window, bool huge)
{
	size_t size = (window > UNPACK_STANDS ? (size_t)window : UNPACK_STANDS) + BESIDE;
	uint8_t *from;

	if (size <= ring->size)
		return true;
	if (!find_place(ring, window))
		return false;
	from = ring->start - FRONT_USED;
	if (mprotect(from, FRONT_USED + size + BEYOND, PROT_READ | PROT_WRITE) < 0)
		return false;
	ring->size = size;
	if (huge)
		advise(ring);
	return true;
}

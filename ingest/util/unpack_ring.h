/*
 * Where unpacked bytes stand: a ring, so that zstd can look back for its window in what it gave
 * out, and neither of the two needs a copy. Pieces are written one right behind the other, until
 * another one might not fit; the next one stands at the ring's start.
 *
 * For unpack.c only.
 */
#ifndef BR2_UNPACK_RING_H
#define BR2_UNPACK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No piece is larger: a block of zstd, RFC 8878 §3.1.1.2.4. */
#define UNPACK_PIECE_MAX ((size_t)128 << 10)

#define UNPACK_RING_MAPS 2

struct unpack_ring {
	uint8_t *start; /* UNPACK_ROOM bytes in front of it are the reader's */
	size_t size, at;
	struct {
		void *memory; /* NULL: none yet */
		size_t len;
	} maps[UNPACK_RING_MAPS]; /* for usual windows, and for the largest */
};

/* Nothing is taken before unpack_ring_reserve(). */
void unpack_ring_init(struct unpack_ring *ring);
void unpack_ring_release(struct unpack_ring *ring);

/*
 * From here on the last `window` bytes (UNPACK_WINDOW_MAX at most) stand while a piece is
 * written, and UNPACK_STANDS at least; what stands goes on to stand, also where the ring moves,
 * as it may once, for a large window: `start` is another then, and `at` 0. `huge`: asks for huge
 * pages, which the system makes at the first touch, 2 MiB at once. zstd copies from anywhere in
 * its window, and with pages of 4 KiB the processor's table of them is too short for that.
 * false: there is no memory.
 */
bool unpack_ring_reserve(struct unpack_ring *ring, uint64_t window, bool huge);

/* Does a piece fit behind the last one? */
static inline bool unpack_ring_fits(const struct unpack_ring *ring)
{
	return ring->size - ring->at >= UNPACK_PIECE_MAX;
}

#endif

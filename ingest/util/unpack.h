/*
 * A file descriptor -> its bytes, decompressed: plain, gzip or zstd, told by
 * the first bytes and never by a name. Several zstd frames (skippable ones
 * too) and gzip members in a row are one stream of bytes. Memory is bounded by
 * the window that a frame may ask for.
 *
 * A file that ends inside a frame is no error: everything up to the cut is
 * given, then the end, and unpack_ending() says that it was cut.
 *
 * Knows nothing of what the bytes mean. Owner of zstd.h and zlib.h.
 */
#ifndef BR2_UNPACK_H
#define BR2_UNPACK_H

#include "util/err.h"

#include <stddef.h>
#include <stdint.h>

/* The largest zstd window that is read, as for `zstd -d` without --long. */
#define UNPACK_WINDOW_MAX ((uint64_t)128 << 20)

enum unpack_packing { UNPACK_PLAIN, UNPACK_GZIP, UNPACK_ZSTD };

enum unpack_ending {
	UNPACK_OPEN = 0, /* not at the end yet */
	UNPACK_WHOLE,	 /* the last frame is closed; plain files always end so */
	UNPACK_CUT,	 /* ended inside a frame */
	UNPACK_BROKEN,	 /* bytes that do not decompress: see unpack_fault() */
};

struct unpack;

/* So many bytes that were given stand while more are read. */
#define UNPACK_STANDS ((size_t)1 << 20)
/* So many in front of a block are its reader's, but for those that came before and stand. */
#define UNPACK_ROOM ((size_t)16 << 10)

struct unpack_block {
	uint8_t *data;
	size_t len;
	size_t before; /* bytes given before that stand right in front of data, UNPACK_ROOM at most
			*/
};

/*
 * Takes over the descriptor (also on failure) and reads it from where it
 * stands. `name` is for messages and copied. -1: cannot be read (ERR_IO).
 */
int unpack_open(struct unpack **out_unpack, int fd, const char *name, struct err *err);
void unpack_free(struct unpack *unpack);

/*
 * Gives the next bytes: `want` (at least 1) or up to 128 KiB more, or less at the end and where
 * its memory ends. They stand until UNPACK_STANDS more were given. 1: one byte at least, and
 * more may follow; 0: behind them, if any, is the end, whole, cut or broken; -1: behind them,
 * if any, the read failed (ERR_IO). The next call then gives none and says the same.
 */
int unpack_next(struct unpack *unpack, size_t want, struct unpack_block *out_block,
		struct err *err);

/* How the file began. */
enum unpack_packing unpack_packing(const struct unpack *unpack);
enum unpack_ending unpack_ending(const struct unpack *unpack);
/* One line on what is broken; "" unless UNPACK_BROKEN. */
const char *unpack_fault(const struct unpack *unpack);
/* Bytes taken from the file, and bytes given by unpack_next(). */
uint64_t unpack_bytes_in(const struct unpack *unpack);
uint64_t unpack_bytes_out(const struct unpack *unpack);

#endif

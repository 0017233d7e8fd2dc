/*
 * The blocks of unpack.h, made by a thread of their own while the reader works on
 * those before: decompressing takes as long as reading what comes out.
 *
 * Few blocks are made ahead, so memory is bounded and the thread is never far
 * ahead. Bytes are not copied on their way: the reader works in the block, and
 * where a record begins in the one before, that nearly always stands right in
 * front of it; else the reader may put there what is left of it.
 * Everything is told where it would have been without the thread: the end, a
 * cut, damage and a failed read come after all bytes before them.
 */
#ifndef BR2_UNPACK_AHEAD_H
#define BR2_UNPACK_AHEAD_H

#include "util/unpack.h"

#include <stdbool.h>

struct unpack_ahead;

/*
 * As unpack_open(). The thread begins with the second block: small files need none.
 * `in_thread` false: never, each block is made when it is asked for; for a reader
 * that has no core to spare.
 */
int unpack_ahead_open(struct unpack_ahead **out_ahead, int fd, const char *name, bool in_thread,
		      struct err *err);
/* Now there is a core to spare: the thread begins with the next block. Twice is once. */
void unpack_ahead_go(struct unpack_ahead *ahead);
/* Ends the thread, wherever it is; all blocks go. NULL is fine. */
void unpack_ahead_free(struct unpack_ahead *ahead);

/*
 * 1: *out_block, of one byte at least, is the reader's until it gives it back, and the last
 * UNPACK_ROOM bytes of it for one block longer; 0: the end; -1: the read
 * failed (ERR_IO). Two blocks at most may be held: the thread needs the others.
 */
int unpack_ahead_next(struct unpack_ahead *ahead, struct unpack_block **out_block, struct err *err);
/* Gives back the oldest block that the reader holds. */
void unpack_ahead_give_back(struct unpack_ahead *ahead);

enum unpack_packing unpack_ahead_packing(const struct unpack_ahead *ahead);
/* UNPACK_OPEN until unpack_ahead_next() has said the end. */
enum unpack_ending unpack_ahead_ending(const struct unpack_ahead *ahead);
/* One line on what is broken; "" unless UNPACK_BROKEN. */
const char *unpack_ahead_fault(const struct unpack_ahead *ahead);
/* Bytes of the file that were taken for the blocks given so far, and of those blocks. */
uint64_t unpack_ahead_bytes_in(const struct unpack_ahead *ahead);
uint64_t unpack_ahead_bytes_out(const struct unpack_ahead *ahead);

#endif

/*
 * The window of a stream: what was unpacked and is not yet passed over, in one piece. It
 * lies in the newest block, where records are shown in place, and begins in front of it
 * where a record does. Only a record that is too long for that is gathered in a
 * buffer of our own, which grows up to the largest body.
 *
 * For stream*.c only.
 */
#ifndef BR2_STREAM_WINDOW_H
#define BR2_STREAM_WINDOW_H

#include "util/err.h"
#include "util/unpack_ahead.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as zeroes. */
struct window {
	struct unpack_ahead *unpack; /* owned */
	const uint8_t *bytes;
	size_t pos, len;   /* bytes[pos..len) is not passed over: the user moves pos */
	bool in_block;	   /* bytes[] lies in a block; else in gathered[] */
	uint8_t *gathered; /* NULL */
	size_t cap;
	bool has_large; /* gathered[] is mapped, and holds the largest body */
};

static inline size_t window_available(const struct window *window)
{
	return window->len - window->pos;
}

/* One more block; what is left moves. 1: the window is larger; 0: the end; -1. */
int window_refill(struct window *window, struct err *err);
/* Has `want` bytes from pos on in the window. 1: yes; 0: the file ends before; -1. */
int window_need(struct window *window, size_t want, struct err *err);
/* Gives back the large buffer, which is there; what is left moves. */
void window_let_go(struct window *window);
void window_release(struct window *window);

#endif

/*
 * A growable byte string. `data` is never NULL and always NUL-terminated, so
 * it can be printed; bytes may hold NULs of their own, so `len` is the truth.
 * This is a low-level primitive: it calls nothing above util/mem.
 */
#ifndef BR2_BUF_H
#define BR2_BUF_H

#include <stddef.h>

struct buf {
	char *data;
	size_t len;
	size_t cap; /* allocated, without the NUL; 0: data is the shared empty string */
};

extern char buf_empty[];
#define BUF_INIT                \
	{                       \
		buf_empty, 0, 0 \
	}

void buf_init(struct buf *buf);
/* Frees the memory and makes the buffer empty again. */
void buf_release(struct buf *buf);
/* Empties the buffer, keeps its memory. */
void buf_clear(struct buf *buf);
/* Hands over the string (the caller frees it) and makes the buffer empty. */
char *buf_detach(struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_addstr(struct buf *buf, const char *text);
void buf_addch(struct buf *buf, char c);
void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for `extra` more bytes and returns where they go; see buf_grew(). */
char *buf_reserve(struct buf *buf, size_t extra);
/* Counts `len` bytes that were written to what buf_reserve() returned. */
void buf_grew(struct buf *buf, size_t len);

#endif

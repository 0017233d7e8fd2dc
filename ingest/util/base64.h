/* RFC 4648 base64, section 4: the alphabet with '+' and '/', padded. */
#ifndef BR2_BASE64_H
#define BR2_BASE64_H

#include "util/buf.h"

#include <stddef.h>

/* Adds the text of `len` bytes, in one line. */
void base64_encode(const void *data, size_t len, struct buf *out);
/*
 * Adds the bytes of a text. -1, with `out` as it was: a character outside the
 * alphabet, missing or misplaced padding, or bits left over that are not zero
 * (two texts never mean the same bytes).
 */
int base64_decode(const char *text, size_t len, struct buf *out);

#endif

/*
 * Adds JSON values to a buffer; commas and brackets are the caller's. What it
 * writes is valid JSON whatever the bytes: text that is not UTF-8 gets U+FFFD
 * for each stray byte, control characters are escaped.
 */
#ifndef BR2_JSON_H
#define BR2_JSON_H

#include "util/buf.h"
#include "util/str.h"

#include <stdint.h>

/* A string; null where text.data is NULL. */
void json_add_text(struct buf *buf, struct str text);
/*
 * A number; beyond 2^53, where readers that keep numbers as doubles would
 * round it without a word, a string of its digits.
 */
void json_add_integer(struct buf *buf, int64_t number);
/* The shortest decimal that reads back as the same double; null for NaN and infinities. */
void json_add_real(struct buf *buf, double number);

#endif

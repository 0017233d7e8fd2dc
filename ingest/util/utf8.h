/*
 * UTF-8 as it really arrives: names from logs hold bytes that are no UTF-8 at
 * all. One strict reader (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF) behind every place that has to choose
 * between a character and a stray byte.
 */
#ifndef BR2_UTF8_H
#define BR2_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* "\xef\xbf\xbd" */
#define UTF8_REPLACEMENT 0xfffdu

/*
 * Reads the character at `text`, which holds at least one byte, and returns the
 * bytes it takes. 0: text[0] does not begin a character; the caller steps over
 * that one byte.
 */
size_t utf8_read(const char *text, size_t len, uint32_t *out_code);

#endif

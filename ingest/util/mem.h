/*
 * Allocation that cannot fail: out of memory aborts with one line. Sizes that
 * come from input are checked against a limit before they get here.
 */
#ifndef BR2_MEM_H
#define BR2_MEM_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* xrealloc() to count * size bytes; aborts where the product overflows. */
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
/* Copies len bytes and adds a NUL. */
char *xmemdup0(const void *data, size_t len);
/* printf into a fresh string; the caller frees it. */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

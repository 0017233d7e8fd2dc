#include "util/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing is something, too: size 0 gives a pointer, so that none is ever NULL. */
static void *checked(void *memory, size_t size)
{
	if (!memory) {
		fprintf(stderr, "br2-ingest: out of memory (%zu bytes wanted)\n", size);
		abort();
	}
	return memory;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
	if (!count || !size)
		count = size = 1;
	return checked(calloc(count, size), size);
}

void *xrealloc(void *old, size_t size)
{
	return checked(realloc(old, size ? size : 1), size);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return checked(NULL, SIZE_MAX);
	return xrealloc(old, count * size);
}

char *xstrdup(const char *text)
{
	return xmemdup0(text, strlen(text));
}

char *xmemdup0(const void *data, size_t len)
{
	char *copy = xmalloc(len + 1);

	if (len)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

char *xasprintf(const char *format, ...)
{
	va_list args, again;
	char *text;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		abort();
	text = xmalloc((size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}

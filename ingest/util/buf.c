#include "util/buf.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char buf_empty[1];

void buf_init(struct buf *buf)
{
	buf->data = buf_empty;
	buf->len = buf->cap = 0;
}

void buf_release(struct buf *buf)
{
	if (buf->cap)
		free(buf->data);
	buf_init(buf);
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->cap)
		buf->data[0] = '\0';
}

char *buf_detach(struct buf *buf)
{
	char *text = buf->cap ? buf->data : xstrdup("");

	buf_init(buf);
	return text;
}

char *buf_reserve(struct buf *buf, size_t extra)
{
	size_t need = buf->len + extra;

	if (need < extra)
		abort();
	if (need > buf->cap) {
		size_t cap = buf->cap ? buf->cap : 64;

		while (cap < need)
			cap = cap > SIZE_MAX / 4 ? need : cap * 2;
		buf->data = xrealloc(buf->cap ? buf->data : NULL, cap + 1);
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

void buf_grew(struct buf *buf, size_t len)
{
	buf->len += len;
	if (buf->cap)
		buf->data[buf->len] = '\0';
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (!len)
		return;
	memcpy(buf_reserve(buf, len), data, len);
	buf_grew(buf, len);
}

void buf_addstr(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_addch(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		abort();
	vsnprintf(buf_reserve(buf, (size_t)len), (size_t)len + 1, format, again);
	va_end(again);
	buf_grew(buf, (size_t)len);
}

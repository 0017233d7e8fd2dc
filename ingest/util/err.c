#include "util/err.h"

#include "util/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int err_vset(struct err *err, enum err_kind kind, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static int err_vset(struct err *err, enum err_kind kind, const char *format, va_list args)
{
	err->kind = kind;
	if (vsnprintf(err->text, sizeof(err->text), format, args) < 0)
		err->text[0] = '\0';
	return -1;
}

int err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_vset(err, kind, format, args);
	va_end(args);
	return -1;
}

int err_errno(struct err *err, enum err_kind kind, int number, const char *format, ...)
{
	char reason[128];
	size_t used;
	va_list args;

	va_start(args, format);
	err_vset(err, kind, format, args);
	va_end(args);
	if (strerror_r(number, reason, sizeof(reason)) != 0)
		snprintf(reason, sizeof(reason), "error %d", number);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", reason);
	return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
	struct buf whole = BUF_INIT;
	char place[256];
	va_list args;

	va_start(args, format);
	if (vsnprintf(place, sizeof(place), format, args) < 0)
		place[0] = '\0';
	va_end(args);
	buf_addstr(&whole, place);
	buf_addstr(&whole, ": ");
	buf_addstr(&whole, err->text);
	if (whole.len >= sizeof(err->text))
		whole.len = sizeof(err->text) - 1;
	memcpy(err->text, whole.data, whole.len);
	err->text[whole.len] = '\0';
	buf_release(&whole);
	return -1;
}

/*
 * A borrowed run of bytes: text as it came, which may hold NULs or bytes that
 * are not UTF-8. data == NULL means unknown (SQL NULL); an empty text has a
 * non-NULL data and len 0.
 */
#ifndef BR2_STR_H
#define BR2_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
	const char *data;
	size_t len;
};

#define STR_NULL ((struct str){NULL, 0})
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})

static inline struct str str_of(const char *text)
{
	return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(struct str a, struct str b)
{
	if (!a.data || !b.data)
		return a.data == b.data;
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static inline bool str_is(struct str a, const char *text)
{
	return a.data && a.len == strlen(text) && memcmp(a.data, text, a.len) == 0;
}

static inline bool str_starts(struct str a, const char *prefix)
{
	size_t len = strlen(prefix);

	return a.data && a.len >= len && memcmp(a.data, prefix, len) == 0;
}

#endif

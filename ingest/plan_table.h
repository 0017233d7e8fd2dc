/* What the readers of plan_data.h share: rows of a query into arrays. */
#ifndef BR2_PLAN_TABLE_H
#define BR2_PLAN_TABLE_H

#include "plan_data.h"
#include "util/mem.h"

#include <stdlib.h>

/* `list`, with room for one more than `count`: it doubles at each power of two. */
static inline void *plan_grow(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	return xreallocarray(list, count ? count * 2 : 1, size);
}

static inline int64_t plan_integer(const struct value *value)
{
	return value->type == VALUE_INTEGER ? value->integer : UNKNOWN;
}

/* A copy that `texts` owns; STR_NULL for NULL. */
static inline struct str plan_keep(struct plan_texts *texts, const struct value *value)
{
	if (value->type != VALUE_TEXT)
		return STR_NULL;
	texts->list = plan_grow(texts->list, texts->count, sizeof(*texts->list));
	texts->list[texts->count] = xmemdup0(value->text.data, value->text.len);
	return (struct str){texts->list[texts->count++], value->text.len};
}

static inline void plan_texts_release(struct plan_texts *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		free(texts->list[i]);
	free(texts->list);
	*texts = (struct plan_texts){0};
}

#endif

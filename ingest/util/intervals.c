#include "util/intervals.h"

#include "util/mem.h"

#include <stdlib.h>

void intervals_release(struct intervals *list)
{
	free(list->items);
	*list = (struct intervals)INTERVALS_INIT;
}

void intervals_add(struct intervals *list, int64_t from, int64_t to)
{
	if (to < from)
		return;
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 16;
		list->items = xreallocarray(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count++] = (struct interval){from, to};
}

static int by_from(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Is `from` at most `gap` behind `to`? The ends may be as far apart as there is. */
static int is_near(int64_t to, int64_t from, int64_t gap)
{
	return from <= to || (uint64_t)from - (uint64_t)to <= (uint64_t)gap;
}

void intervals_join(struct intervals *list, int64_t gap)
{
	struct interval *items = list->items;
	size_t i, last = 0;

	if (!list->count)
		return;
	qsort(items, list->count, sizeof(*items), by_from);
	for (i = 1; i < list->count; i++) {
		if (!is_near(items[last].to, items[i].from, gap))
			items[++last] = items[i];
		else if (items[i].to > items[last].to)
			items[last].to = items[i].to;
	}
	list->count = last + 1;
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The caller frees it. */
static int64_t *sorted_ends(const struct intervals *list)
{
	int64_t *ends = xreallocarray(NULL, list->count, sizeof(*ends));
	size_t i;

	for (i = 0; i < list->count; i++)
		ends[i] = list->items[i].to;
	qsort(ends, list->count, sizeof(*ends), by_number);
	return ends;
}

/* From one place where something begins or ends to the next one; all that does so there, does at
 * once. */
void intervals_measure(struct intervals *list, int64_t *out_covered, size_t *out_most)
{
	struct interval *items = list->items;
	size_t begun = 0, ended = 0;
	int64_t at, next, *ends;

	*out_covered = 0;
	*out_most = 0;
	if (!list->count)
		return;
	qsort(items, list->count, sizeof(*items), by_from);
	ends = sorted_ends(list);
	for (at = items[0].from; ended < list->count; at = next) {
		while (begun < list->count && items[begun].from == at)
			begun++;
		while (ended < list->count && ends[ended] == at)
			ended++;
		if (ended == list->count)
			break;
		next = begun < list->count && items[begun].from < ends[ended] ? items[begun].from
									      : ends[ended];
		if (begun > ended)
			*out_covered += next - at;
		if (begun - ended > *out_most)
			*out_most = begun - ended;
	}
	free(ends);
}

void intervals_subtract(struct intervals *list, struct interval hole)
{
	struct intervals left = INTERVALS_INIT;
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct interval item = list->items[i];

		if (hole.from <= item.from && item.to <= hole.to)
			continue;
		if (item.to <= hole.from || hole.to <= item.from) {
			intervals_add(&left, item.from, item.to);
			continue;
		}
		if (item.from < hole.from)
			intervals_add(&left, item.from, hole.from);
		if (item.to > hole.to)
			intervals_add(&left, hole.to, item.to);
	}
	intervals_release(list);
	*list = left;
}

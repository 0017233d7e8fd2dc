/*
 * Stretches of a line, of time for example: what is wanted, less what is there.
 * Closed ones: two that share an end touch. Pure.
 */
#ifndef BR2_INTERVALS_H
#define BR2_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct interval {
	int64_t from, to; /* from <= to */
};

struct intervals {
	struct interval *items;
	size_t count, room;
};

#define INTERVALS_INIT     \
	{                  \
		NULL, 0, 0 \
	}

void intervals_release(struct intervals *list);
/* In no order. One that ends before it begins is none. */
void intervals_add(struct intervals *list, int64_t from, int64_t to);
/* Sorts, and makes one of those that are no more than `gap` (0 or more) apart. */
void intervals_join(struct intervals *list, int64_t gap);
/*
 * How long at least one of them lasts, and how many do at most: one that ends where another
 * one begins is not counted beside it, nor one without a length. Sorts them; their ends are
 * no farther apart than INT64_MAX.
 */
void intervals_measure(struct intervals *list, int64_t *out_covered, size_t *out_most);
/* Takes the inner of `hole` away: its ends stay. The list is sorted and joined, and stays so. */
void intervals_subtract(struct intervals *list, struct interval hole);

#endif

/*
 * A heap of numbers with keys: the smallest key comes out first, of equal keys the
 * smallest number. Grows as needed.
 */
#ifndef BR2_HEAP_H
#define BR2_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct heap_item {
	int64_t key;
	size_t number;
};

/* items[0] is the first one to come out, where count > 0. */
struct heap {
	struct heap_item *items;
	size_t count, cap;
};

#define HEAP_INIT          \
	{                  \
		NULL, 0, 0 \
	}

void heap_push(struct heap *heap, int64_t key, size_t number);
/* The heap is not empty. */
struct heap_item heap_pop(struct heap *heap);
/* Takes out an item with this number, wherever it is: it is there. O(n). */
void heap_remove(struct heap *heap, size_t number);
void heap_release(struct heap *heap);

#endif

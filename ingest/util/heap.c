#include "util/heap.h"

#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_before(const struct heap_item *a, const struct heap_item *b)
{
	return a->key != b->key ? a->key < b->key : a->number < b->number;
}

void heap_push(struct heap *heap, int64_t key, size_t number)
{
	struct heap_item item = {key, number};
	size_t at, parent;

	if (heap->count == heap->cap) {
		heap->cap = heap->cap ? heap->cap * 2 : 16;
		heap->items = xreallocarray(heap->items, heap->cap, sizeof(*heap->items));
	}
	for (at = heap->count++; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (!is_before(&item, &heap->items[parent]))
			break;
		heap->items[at] = heap->items[parent];
	}
	heap->items[at] = item;
}

struct heap_item heap_pop(struct heap *heap)
{
	struct heap_item *items = heap->items;
	struct heap_item top = items[0], last = items[--heap->count];
	size_t at, child;

	for (at = 0; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && is_before(&items[child + 1], &items[child]))
			child++;
		if (!is_before(&items[child], &last))
			break;
		items[at] = items[child];
	}
	items[at] = last;
	return top;
}

/* Its parents go down one step each, so that it is the next to come out. */
void heap_remove(struct heap *heap, size_t number)
{
	struct heap_item *items = heap->items, item;
	size_t at = 0;

	while (items[at].number != number)
		at++;
	for (item = items[at]; at > 0; at = (at - 1) / 2)
		items[at] = items[(at - 1) / 2];
	items[0] = item;
	heap_pop(heap);
}

void heap_release(struct heap *heap)
{
	free(heap->items);
	*heap = (struct heap)HEAP_INIT;
}

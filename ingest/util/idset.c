#include "util/idset.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void idset_release(struct idset *set)
{
	free(set->bits);
	*set = (struct idset)IDSET_INIT;
}

static void grow(struct idset *set, size_t size)
{
	if (size < 2 * set->size)
		size = 2 * set->size;
	set->bits = xreallocarray(set->bits, size, 1);
	memset(set->bits + set->size, 0, size - set->size);
	set->size = size;
}

void idset_add(struct idset *set, int64_t id)
{
	size_t at = (size_t)id / 8;

	if (at >= set->size)
		grow(set, at + 1);
	set->bits[at] |= (uint8_t)(1U << (id % 8));
}

void idset_cut(struct idset *set, int64_t largest)
{
	size_t at = (size_t)largest / 8;

	if (at >= set->size)
		return;
	set->bits[at] &= (uint8_t)((2U << (largest % 8)) - 1);
	memset(set->bits + at + 1, 0, set->size - at - 1);
}

bool idset_has(const struct idset *set, int64_t id)
{
	size_t at = (size_t)id / 8;

	return at < set->size && (set->bits[at] >> (id % 8) & 1);
}

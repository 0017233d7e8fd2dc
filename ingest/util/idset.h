/* A set of row ids: a bit each, up to the largest one. */
#ifndef BR2_IDSET_H
#define BR2_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idset {
	uint8_t *bits;
	size_t size; /* bytes */
};

#define IDSET_INIT      \
	{               \
		NULL, 0 \
	}

void idset_release(struct idset *set);
/* `id` >= 0 */
void idset_add(struct idset *set, int64_t id);
/* Takes out all that are larger. */
void idset_cut(struct idset *set, int64_t largest);
bool idset_has(const struct idset *set, int64_t id);

#endif

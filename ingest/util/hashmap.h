/*
 * A bounded cache from byte strings to integers. It may forget what it was told
 * (its answers are hints that save a question to the database), so it can keep
 * both its memory and the cost of a probe under a ceiling, whatever the keys:
 * a stranger's names cannot make it slow or large.
 */
#ifndef BR2_HASHMAP_H
#define BR2_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashmap_slot;

struct hashmap {
	struct hashmap_slot *slots;
	size_t slot_count; /* a power of two */
	char *bytes;	   /* all keys, one after the other */
	size_t bytes_used, bytes_max;
};

/* Room for about `max_entries` keys of `max_bytes` bytes in all; allocated at once. */
void hashmap_init(struct hashmap *map, size_t max_entries, size_t max_bytes);
void hashmap_release(struct hashmap *map);
/* Forgets everything. */
void hashmap_clear(struct hashmap *map);

/* True and *out_value, or false: not known (any more). */
bool hashmap_get(const struct hashmap *map, const void *key, size_t len, int64_t *out_value);
/* Copies the key. A key longer than the whole room is not kept. */
void hashmap_put(struct hashmap *map, const void *key, size_t len, int64_t value);

#endif

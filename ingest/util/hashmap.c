#include "util/hashmap.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Slots that a key may stand in: from its own place on. */
#define PROBES 16

struct hashmap_slot {
	uint64_t hash; /* 0: empty */
	size_t offset, len;
	int64_t value;
};

/* Eight bytes at a time, mixed as splitmix64 does: quick, and good in its low bits. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t hash_of(const void *key, size_t len)
{
	const unsigned char *at = key;
	uint64_t hash = mix(len + UINT64_C(0x9e3779b97f4a7c15)), word;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
	}
	word = 0;
	if (len)
		memcpy(&word, at, len);
	hash = mix(hash ^ word);
	return hash ? hash : 1;
}

void hashmap_init(struct hashmap *map, size_t max_entries, size_t max_bytes)
{
	/* Half full at most, so that a chain of PROBES slots rarely overflows. */
	map->slot_count = 2 * (size_t)PROBES;
	while (map->slot_count < 2 * max_entries)
		map->slot_count *= 2;
	map->slots = xcalloc(map->slot_count, sizeof(*map->slots));
	map->bytes = xmalloc(max_bytes);
	map->bytes_used = 0;
	map->bytes_max = max_bytes;
}

void hashmap_release(struct hashmap *map)
{
	free(map->slots);
	free(map->bytes);
	memset(map, 0, sizeof(*map));
}

void hashmap_clear(struct hashmap *map)
{
	memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
	map->bytes_used = 0;
}

static bool holds(const struct hashmap *map, const struct hashmap_slot *slot, const void *key,
		  size_t len, uint64_t hash)
{
	return slot->hash == hash && slot->len == len &&
	       (len == 0 || memcmp(map->bytes + slot->offset, key, len) == 0);
}

/* The key's slot; else an empty one; else the key's first, whose tenant must go. */
static struct hashmap_slot *find(const struct hashmap *map, const void *key, size_t len,
				 uint64_t hash)
{
	size_t i, mask = map->slot_count - 1;

	for (i = 0; i < PROBES; i++) {
		struct hashmap_slot *slot = &map->slots[(hash + i) & mask];

		if (!slot->hash || holds(map, slot, key, len, hash))
			return slot;
	}
	return &map->slots[hash & mask];
}

bool hashmap_get(const struct hashmap *map, const void *key, size_t len, int64_t *out_value)
{
	uint64_t hash = hash_of(key, len);
	const struct hashmap_slot *slot = find(map, key, len, hash);

	if (!holds(map, slot, key, len, hash))
		return false;
	*out_value = slot->value;
	return true;
}

void hashmap_put(struct hashmap *map, const void *key, size_t len, int64_t value)
{
	uint64_t hash = hash_of(key, len);
	struct hashmap_slot *slot;

	if (len > map->bytes_max)
		return;
	if (len > map->bytes_max - map->bytes_used)
		hashmap_clear(map);
	slot = find(map, key, len, hash);
	if (!holds(map, slot, key, len, hash)) {
		*slot = (struct hashmap_slot){.hash = hash, .offset = map->bytes_used, .len = len};
		if (len)
			memcpy(map->bytes + map->bytes_used, key, len);
		map->bytes_used += len;
	}
	slot->value = value;
}

/*
 * What a reader finds, kept until all of it is there: a list of pods may come
 * from a slow server, and the database is not to wait for it in a transaction.
 */
#ifndef BR2_CLUSTER_FOUND_H
#define BR2_CLUSTER_FOUND_H

#include "cluster.h"
#include "util/arena.h"

/* Of texts: 500 bytes each of 100,000 containers. */
#define FOUND_TEXT_MAX ((size_t)64 << 20)

enum found_kind { FOUND_CONTAINER, FOUND_TERMINATION, FOUND_OOM };

struct found_item {
	enum found_kind kind;
	union {
		struct container_spec container;
		struct termination termination;
		struct oom_count oom;
	} is;
};

struct found {
	struct found_item *items;
	size_t count, room;
	struct arena texts;
};

void found_init(struct found *found);
void found_release(struct found *found);
/*
 * The sink that fills it; its warnings go to `warning`, whose context is `found`.
 * A call fails (ERR_LIMIT) over FOUND_TEXT_MAX.
 */
struct cluster_sink found_sink(struct found *found,
			       void (*warning)(void *context, const char *text));

#endif

/*
 * Where a digest is found: beneath store.h, for store*.c only. Digests come in no order,
 * so in one index of all of them each new one would change a page of its own: read,
 * journaled and written for some bytes. Lookups of neighbouring numbers are a batch (column
 * lookup.batch), and lookup_by_digest orders each batch by itself: a new one changes pages
 * of the newest only, which stay in the cache. Not to search every batch, complete ones
 * are put into table lookup_key, several at once, in the order of their keys.
 *
 * Whoever adds a row to table lookup or deletes one says so here. store_key_lookups(),
 * which takes complete batches on, is in store.h.
 */
#ifndef BR2_STORE_LOOKUP_KEY_H
#define BR2_STORE_LOOKUP_KEY_H

#include "store.h"

/* How far table lookup_key has come: numbers of batches, as table lookup_keyed has them. */
struct keyed {
	bool known; /* the numbers are of the transaction that is open, or was the last */
	int64_t until, due;
	int64_t newest; /* of the lookup with the largest id */
};

struct found_lookup {
	int64_t lookup_id;
	enum lookup_state state;
	int64_t first_run_id, first_seq; /* of its earliest reference */
};

/* 1: *out; 0: there is none; -1. */
int lookup_find(struct store *store, int64_t instance_id, const struct digest *digest,
		struct found_lookup *out, struct err *err);
/* A row was made. */
int lookup_added(struct store *store, int64_t lookup_id, struct err *err);
/* A row was deleted; key: its digest_key, borrowed. */
int lookup_dropped(struct store *store, int64_t lookup_id, struct str key, struct err *err);

#endif

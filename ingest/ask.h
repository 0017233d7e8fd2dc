/*
 * The store's wanted digests -> the lookup engine -> the store. First it is
 * settled under which instance name each run's digests are kept (the log, the
 * configuration and the links only propose names: an answer proves one), then
 * everything wanted is asked once.
 */
#ifndef BR2_ASK_H
#define BR2_ASK_H

#include "lookup.h"
#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ask_options {
	const char *cache; /* the user's name for the cluster */
	int64_t now_ns;
	bool retry_missing;
	const char *instance; /* given by the user: no other name is tried; NULL */
	void (*progress)(void *context, uint64_t done, uint64_t wanted); /* NULL */
	void *context;
};

struct ask_tally {
	uint64_t wanted;	     /* when the asking began */
	uint64_t stored;	     /* results found and stored */
	uint64_t malformed;	     /* replies that are no ActionResult */
	uint64_t unproved;	     /* runs whose instance no answer proved */
	char unproved_instance[128]; /* the name kept for one of them */
	char refusal[256];	     /* the server's words for the last refused one; "" */
};

/*
 * Asks. 0: everything was answered, or given up on (lookup_tally() counts
 * those); -1: ERR_NET: nothing could be asked, one line says why; ERR_DB: the
 * store failed. What was answered is stored in all cases.
 */
int ask_all(struct store *store, struct lookup *lookup, const struct ask_options *options,
	    struct ask_tally *tally, struct err *err);

#endif

/*
 * Pruning: old runs go, with all that only they refer to.
 *
 * Kept of what they had: digests and results to which a younger run refers, under
 * their earliest reference that is left; and runs that executed such results, whole,
 * since a warm run is read beside its cold one. A run whose start is not known stays.
 * What is known of pods, containers and pools stays, too: it is small, and of no run.
 *
 * All in one transaction: a kill leaves the old or the new rows. Programs that
 * have the file open for writing meanwhile stop at their next transaction, since
 * ids that they hold may be another row's (store_begin()).
 */
#ifndef BR2_STORE_PRUNE_H
#define BR2_STORE_PRUNE_H

#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>

struct prune_options {
	int64_t before_ns;   /* runs that began earlier */
	const char *project; /* NULL: of all projects */
	bool dry_run;	     /* do it all, and take it back */
};

struct prune_tally {
	int64_t runs, actions, attempts, digests, results; /* dropped */
	int64_t needed;	     /* old runs that stay since younger ones' results are theirs */
	int64_t undated;     /* runs whose start is not known */
	int64_t freed_bytes; /* of pages that hold nothing any more; the file has its size until
				store_compact() */
};

/* -1: nothing was dropped. */
int store_prune(struct store *store, const struct prune_options *options,
		struct prune_tally *out_tally, struct err *err);

/*
 * Writes the file anew without its empty pages (VACUUM, which needs as much space
 * for a copy), if `wanted` or if they are an eighth of it: a prune was killed
 * before it came to this. The sizes are those of the file. -1: it is as it was.
 */
int store_compact(struct store *store, bool wanted, int64_t *out_before, int64_t *out_after,
		  struct err *err);

#endif

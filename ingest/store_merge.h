/*
 * Merging: the rows of another database come into this one, as if its logs and
 * answers had been ingested here.
 *
 * How: the other file's rows are read back into the structs that an ingest makes
 * of logs and answers, and given to the same store_put_*() functions. So what is
 * known twice is decided by the rules of the ingest, ids are found by natural keys,
 * sums are added up by the code that keeps them, and the laws of store.h hold by
 * construction: twice is once, any order gives equal rows, and what a kill leaves
 * undone the next merge does. The order within one source:
 *
 *   pods, pools, lists -> what executions were given is known before they come
 *   runs with their actions and attempts -> these make the lookups
 *   lookups and linked blobs with their answers
 *   files -> last, as in an ingest: "read to its end" is said when all is stored
 *
 * Where an ingest goes by what came last (a vain answer, a file that has grown),
 * a merge has no such order, and compares: a definite answer outweighs none, the
 * younger file the older one. Rows that are the user's to change are taken where
 * this database has none of that key and they are not as shipped; settings never.
 *
 * What is kept beside rows (sums, allotments, views) is never read from a source.
 */
#ifndef BR2_STORE_MERGE_H
#define BR2_STORE_MERGE_H

#include "store.h"
#include "util/err.h"

#include <stdint.h>

/* What one source had: new here, and known before. */
struct merge_tally {
	int64_t runs, runs_known;
	int64_t actions, actions_known;
	int64_t results, results_known;
	int64_t files, files_known;
	int64_t kept; /* rows that are the user's, of a key that this database has otherwise */
};

/* Called now and then while a merge works; never NULL. */
struct merge_watch {
	void (*progress)(void *context, const struct merge_tally *tally);
	void *context;
};

/*
 * Opens a database whose rows are to be merged, for reading only: no file is made
 * beside it, and nothing that its schema holds is run. It may be a stranger's, so
 * its tables and their indexes must be those that the shipped steps make, and whole.
 * -1: it is not such a file, or one of another schema, or its newest rows are in a
 * WAL file: err says what to do.
 */
int store_open_source(struct store **out_store, const char *path, struct err *err);

/*
 * Merges `from`, which store_open_source() opened, into `into`, in slices. Adds to
 * *tally. -1: what was committed stays, and the next merge goes on.
 */
int store_merge(struct store *into, struct store *from, const struct merge_watch *watch,
		struct merge_tally *tally, struct err *err);

#endif

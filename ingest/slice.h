/*
 * One transaction for all who store: rows of logs and answers take turns in it. Opened
 * by the first who writes, committed when it is full, or a second old: a slow server's
 * answers must not keep other writers out. For the one thread that stores.
 */
#ifndef BR2_SLICE_H
#define BR2_SLICE_H

#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>

/* What rows weigh: store.h says how many pages they touch. */
#define SLICE_ACTION 1
#define SLICE_RESULT (STORE_SLICE_ACTIONS / STORE_SLICE_RESULTS)

struct slice {
	struct store *store;
	bool open;
	uint64_t weight; /* since the last commit */
	int64_t begun_ms;
};

#define SLICE_INIT(store)            \
	{                            \
		(store), false, 0, 0 \
	}

/* Before a write. */
int slice_open(struct slice *slice, struct err *err);
/* After writes of that weight: commits now and then. */
int slice_add(struct slice *slice, uint64_t weight, struct err *err);
/* What was written stays. Nothing is open then, also where it fails. */
int slice_commit(struct slice *slice, struct err *err);
/* What was written since the last commit goes. */
void slice_drop(struct slice *slice);

#endif

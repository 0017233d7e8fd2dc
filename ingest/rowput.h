/*
 * The rows of one log -> the store, in slices: store.h says how large. Knows which
 * run the rows belong to, and passes over the actions that are stored since the log
 * was last read. For the one thread that stores.
 */
#ifndef BR2_ROWPUT_H
#define BR2_ROWPUT_H

#include "rows.h"
#include "store.h"
#include "util/err.h"

struct rowput;

struct rowput *rowput_new(struct store *store);
/* Puts the rows that come next. -1: the store failed; what was committed stays. */
int rowput_rows(struct rowput *put, const struct rows *rows, struct err *err);
/* Rolls back what is not committed; after ROW_RUN_END all is. */
void rowput_free(struct rowput *put);

#endif

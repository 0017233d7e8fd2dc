/*
 * The rows of one log -> the store, in slices. Knows which
 * run the rows belong to, and passes over the actions that are stored since the log
 * was last read. For the one thread that stores.
 */
#ifndef BR2_ROWPUT_H
#define BR2_ROWPUT_H

#include "rows.h"
#include "slice.h"
#include "util/err.h"

struct rowput;

/* The slice is borrowed. */
struct rowput *rowput_new(struct slice *slice);
/* Puts the rows that come next. -1: the store failed; what was committed stays. */
int rowput_rows(struct rowput *put, const struct rows *rows, struct err *err);
/* What is not committed is the slice's; after ROW_RUN_END all is. */
void rowput_free(struct rowput *put);

#endif

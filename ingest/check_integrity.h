/*
 * Stage 6: is the database whole? SQLite's own look at its pages and references,
 * and all that an ingest keeps beside the rows that it follows from, made anew.
 */
#ifndef BR2_CHECK_INTEGRITY_H
#define BR2_CHECK_INTEGRITY_H

#include "store.h"
#include "util/err.h"

#include <stdint.h>
#include <stdio.h>

/*
 * Prints what is wrong, a line each, a hundred of a kind at most; *out_faults: how
 * many. Application id and schema number were right, or the store were not open.
 * -1: the file is too damaged to be asked, or writing failed.
 */
int check_integrity(struct store *store, FILE *out, int64_t *out_faults, struct err *err);

#endif

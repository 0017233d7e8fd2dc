/*
 * Stage 6: is the database whole? SQLite's own look at its pages and references,
 * and all that an ingest keeps beside the rows that it follows from, made anew.
 */
#ifndef BR2_CHECK_INTEGRITY_H
#define BR2_CHECK_INTEGRITY_H

#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct integrity {
	int64_t faults, shown; /* found; printed of these, a hundred of a kind at most */
	bool more;	       /* and further ones that nobody counted */
};

/*
 * Prints what is wrong, a line each. Application id and schema number were right,
 * or the store were not open. -1: the file is too damaged to be asked, or writing
 * failed; *out_found counts what was found until then.
 */
int check_integrity(struct store *store, FILE *out, struct integrity *out_found, struct err *err);

#endif

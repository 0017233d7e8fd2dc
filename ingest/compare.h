/*
 * Stage 6: two runs side by side, from the views run_compare and
 * run_compare_packages: a page for people, or one JSON object. Knows the store
 * alone; words are those of the views.
 */
#ifndef BR2_COMPARE_H
#define BR2_COMPARE_H

#include "store.h"
#include "util/buf.h"
#include "util/err.h"

#include <stdint.h>

/* Trace ids of stored runs, or of invocations whose log is gone. Borrowed. */
struct compare {
	const char *a, *b;
	const char *how_a, *how_b; /* how they were chosen, in words; "" */
	int64_t top;		   /* length of each list */
};

/* -1 (ERR_USAGE): they are one run, or of two projects: no action could match. */
int compare_check(struct store *store, const struct compare *compare, struct err *err);
/* Adds the page for people. */
int compare_text(struct store *store, const struct compare *compare, struct buf *buf,
		 struct err *err);
/* Adds one JSON object: a member a question, an array of objects each; `top` cuts nothing. */
int compare_json(struct store *store, const struct compare *compare, struct buf *buf,
		 struct err *err);

#endif

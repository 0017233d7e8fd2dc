/*
 * Stage 6: limits that a continuous integration holds a build to, against stored
 * rows: kills for memory, max RSS. What was not looked at is told apart from what
 * is within the limit. Knows the store alone.
 */
#ifndef BR2_CHECK_H
#define BR2_CHECK_H

#include "output.h"
#include "report_scope.h"
#include "store.h"
#include "util/buf.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct check {
	const struct report_scope *scope;
	int64_t max_oom, max_rss_bytes; /* UNKNOWN: not checked */
	bool layers[LAYER_PROMETHEUS +
		    1]; /* whose word counts for max_oom; by enum evidence_layer */
	bool rows;	/* rows in `format`, not lines for people */
	enum output_format format;
};

/* "action,text,pods,prometheus", any of them: sets check->layers. -1 (ERR_USAGE): another word. */
int check_parse_layers(const char *text, struct check *check, struct err *err);

/* Prints each breach: run, label, what, evidence. */
int check_breaches(struct store *store, const struct check *check, FILE *out, int64_t *out_count,
		   struct err *err);

/* `layer` was not looked at for so many of the runs; the first one's trace id. */
typedef void check_gap_fn(void *context, struct str layer, int64_t runs, struct str first_run);
/* Calls `gap` for each layer that the check needs and that was not looked at. */
int check_gaps(struct store *store, const struct check *check, check_gap_fn *gap, void *context,
	       int64_t *out_count, struct err *err);

/* Adds one line: what was looked at. */
int check_summary(struct store *store, const struct check *check, struct buf *out, struct err *err);

#endif

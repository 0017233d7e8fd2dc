/*
 * Stage 6: which run a person means: a word of the command line -> a trace id.
 * Runs whose log is gone count, as long as results name them.
 */
#ifndef BR2_COMPARE_FIND_H
#define BR2_COMPARE_FIND_H

#include "report_scope.h"
#include "store.h"
#include "util/buf.h"
#include "util/err.h"

/* Candidates that compare_find() lists at most. */
#define COMPARE_CANDIDATES 10

/*
 * `word` is "last" or "last-N" (the N-th before it) of the scope's runs that have
 * actions; a cell's salt, which stands for its cold run, else its first warm one,
 * looked for in the scope's projects, and where they have none, in all;
 * or the beginning of a trace id, 4 digits or more. The trace id is put into
 * `out_run`, and in `out_how` what was taken, in words ("": nothing to say).
 * -1 (ERR_USAGE): none, or several, of which the first are then listed in
 * `out_candidates` ("trace id  start  project", a line each).
 */
int compare_find(struct store *store, const struct report_scope *scope, const char *word,
		 struct buf *out_run, struct buf *out_how, struct buf *out_candidates,
		 struct err *err);

#endif

/*
 * Stage 6: one action in full, by its digest: names, the runs that referred to
 * it, all attempts, every stored result; or why there is none.
 */
#ifndef BR2_REPORT_ACTION_H
#define BR2_REPORT_ACTION_H

#include "store.h"
#include "util/buf.h"
#include "util/err.h"

/* Candidates that report_action_find() lists at most. */
#define REPORT_ACTION_CANDIDATES 10

/*
 * The stored action that `text` names: HASH:SIZE, HASH-SIZE, HASH/SIZE, the
 * beginning of a hash (4 digits or more), or a link of the portal to the action
 * or to a failed result of it. 1: its "hash:size" is put into `out_digest`; 0:
 * none, or several, which are then listed in `out_candidates` ("digest  label",
 * a line each); -1: not such a text (ERR_USAGE), or the store failed.
 */
int report_action_find(struct store *store, const char *text, struct buf *out_digest,
		       struct buf *out_candidates, struct err *err);

/* Adds the page for people. `digest` is "hash:size". */
int report_action_text(struct store *store, const char *digest, struct buf *buf, struct err *err);
/* Adds one JSON object: a member a section, an array of objects each. */
int report_action_json(struct store *store, const char *digest, struct buf *buf, struct err *err);

#endif

/*
 * Between ask.c and ask_historical.c: one call of ask_all().
 */
#ifndef BR2_ASK_INTERNAL_H
#define BR2_ASK_INTERNAL_H

#include "ask.h"
#include "util/arena.h"

struct ask {
	struct store *store;
	struct lookup *lookup;
	const struct ask_options *options;
	struct ask_tally *tally;
	struct arena arena;
	struct buf words;   /* of the last result, without secrets */
	bool answered_once; /* the first call, which does not wait, is behind us */
	bool away;	    /* the server went away while instances were probed: that can wait */

	char **texts; /* that requests in flight borrow */
	size_t text_count;
	int64_t *probed; /* lookups that the probes have had answered */
	size_t probed_count;

	int64_t after_id;
	bool in_transaction;
	unsigned answers; /* since the last commit */
	int64_t begun_ms;
	uint64_t done;
};

/* The text, kept until the end; one of few. */
const char *ask_keep(struct ask *ask, const char *text);
/* Before an answer is stored. */
int ask_begin(struct ask *ask, struct err *err);
/* An answer was stored: commits now and then. */
int ask_count_answer(struct ask *ask, struct err *err);
void ask_show_progress(struct ask *ask);
/* The server's words for a refusal are what a person is told. */
void ask_note_refusal(struct ask *ask, const struct lookup_answer *answer);
enum lookup_state ask_state(enum lookup_outcome outcome);
/* lookup_run(), the very first request as a preflight. */
int ask_run(struct ask *ask, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	    struct err *err);

/* Asks for the blobs that failed attempts link. */
int ask_historical(struct ask *ask, struct err *err);

#endif

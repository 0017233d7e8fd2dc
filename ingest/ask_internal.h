/*
 * Between ask.c, ask_early.c and ask_historical.c: one asking from ask_new() to ask_free().
 */
#ifndef BR2_ASK_INTERNAL_H
#define BR2_ASK_INTERNAL_H

#include "ask.h"
#include "util/arena.h"
#include "util/idset.h"

/* Digests of a run that may prove an instance name. */
#define PROBE_DIGESTS 8

struct ask {
	struct slice *slice;
	struct store *store; /* the slice's */
	struct lookup *lookup;
	const struct ask_options *options;
	struct ask_tally *tally;
	struct arena arena;
	struct buf words;   /* of the last result, without secrets */
	bool answered_once; /* the first call, which does not wait, is behind us */
	bool away;	    /* the server went away while instances were probed: that can wait */

	char **texts; /* that requests in flight borrow */
	size_t text_count;
	struct idset asked;  /* lookups that have an answer, or are in flight */
	struct idset probed; /* runs whose instance was asked for */

	int64_t after_id;
	uint64_t done, still_open; /* answers shown; those of ask_some() that were no result */

	/* While logs are read: */
	bool begun, early, stopped; /* ask_some() was called; is at work; is over */
	struct err fault;	    /* why nothing can be asked; kind 0: it can */
	int64_t early_id;	    /* lookups up to this one were looked at */
	int64_t log_id;		    /* those behind this one came with the last log */
	int64_t run_id;		    /* runs up to this one were looked at */
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
/*
 * The very first request, without waiting for a server that is away. 1: it is answered;
 * 0: `source` has none; -1.
 */
int ask_first(struct ask *ask, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	      struct err *err);
/* lookup_run(), the very first request as a preflight. */
int ask_run(struct ask *ask, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	    struct err *err);
/* What is asked of a lookup. */
void ask_fill(struct ask *ask, const struct wanted *wanted, struct lookup_request *out);
/* Takes the answer of a lookup; `context` is the struct ask. */
int ask_take(void *context, const struct lookup_answer *answer, struct err *err);
/* Asks under which name the run's digests are kept, unless it was asked already. */
int ask_instance(struct ask *ask, const struct unproved *run, struct err *err);

/* Asks for what ask_some() has not asked yet; no call is in flight then. */
int ask_settled(struct ask *ask, struct err *err);

/* Asks for the blobs that failed attempts link. */
int ask_historical(struct ask *ask, struct err *err);

#endif

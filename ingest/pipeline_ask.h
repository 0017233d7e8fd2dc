/*
 * The pipeline's second half: the store's wanted digests -> a server or a
 * recording -> the store, with what a person must be told of it.
 */
#ifndef BR2_PIPELINE_ASK_H
#define BR2_PIPELINE_ASK_H

#include "ask.h"
#include "pipeline.h"
#include "places.h"
#include "slice.h"

struct asking;

/*
 * Settles where to ask, before any log is read: -1: an address, header, file or
 * recording that cannot be right. Nothing is sent yet. `options` is borrowed.
 */
int asking_open(struct asking **out_asking, const struct places *places,
		const struct ingest_options *options, struct err *err);
/* The database is there: `slice` and `trouble` are borrowed from here on. Nothing is sent yet. */
void asking_begin(struct asking *asking, struct slice *slice, bool *trouble);
/*
 * ask_some() and ask_log_ended(), while logs are read. What is wrong with the server
 * is told by asking_run().
 */
int asking_some(struct asking *asking, struct err *err);
int asking_log_ended(struct asking *asking, ask_comes_again_fn *comes_again, void *context,
		     struct err *err);
/*
 * Asks for everything that is still wanted. Troubles (a server that refuses, is away
 * or says no) are said and set *trouble; what was answered is stored. -1: the
 * store failed, a recording cannot be written, or an interrupt.
 */
int asking_run(struct asking *asking, struct err *err);
/* Results that were found and stored so far, those of failed actions among them. */
uint64_t asking_stored(const struct asking *asking);
void asking_free(struct asking *asking);

#endif

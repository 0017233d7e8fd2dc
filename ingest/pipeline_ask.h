/*
 * The pipeline's second half: the store's wanted digests -> a server or a
 * recording -> the store, with what a person must be told of it.
 */
#ifndef BR2_PIPELINE_ASK_H
#define BR2_PIPELINE_ASK_H

#include "pipeline.h"
#include "places.h"
#include "store.h"

struct asking;

/*
 * Settles where to ask, before any log is read: -1: an address, header, file or
 * recording that cannot be right. Nothing is sent yet. `options` is borrowed.
 */
int asking_open(struct asking **out_asking, const struct places *places,
		const struct ingest_options *options, struct err *err);
/*
 * Asks for everything that is wanted. Troubles (a server that refuses, is away
 * or says no) are said and set *trouble; what was answered is stored. -1: the
 * store failed, a recording cannot be written, or an interrupt.
 */
int asking_run(struct asking *asking, struct store *store, bool *trouble, struct err *err);
void asking_free(struct asking *asking);

#endif

/*
 * The pipeline's second half: the store's wanted digests -> a server or a
 * recording -> the store, with what a person must be told of it.
 */
#ifndef BR2_PIPELINE_ASK_H
#define BR2_PIPELINE_ASK_H

#include "pipeline.h"
#include "places.h"
#include "store.h"

/*
 * Asks for everything that is wanted. Troubles (a server that refuses, is away
 * or says no) are said and set *trouble; what was answered is stored. -1: the
 * store failed, an address or file that cannot be right, or an interrupt.
 */
int pipeline_ask(struct store *store, const struct places *places,
		 const struct ingest_options *options, bool *trouble, struct err *err);

#endif

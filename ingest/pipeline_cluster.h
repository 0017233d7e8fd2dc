/*
 * The pipeline's last part: pods and Prometheus -> the store, with what a person
 * must be told of it. Without their options nobody is asked.
 */
#ifndef BR2_PIPELINE_CLUSTER_H
#define BR2_PIPELINE_CLUSTER_H

#include "pipeline.h"
#include "store.h"

struct watching;

/*
 * Checks what was given, before any log is read; NULL in *out_watching where
 * nothing was. -1 (ERR_USAGE): an address or file of the options that cannot be
 * right. Nothing is sent yet. `options` is borrowed.
 */
int watching_open(struct watching **out_watching, const struct ingest_options *options,
		  struct err *err);
/*
 * Reads the lists of pods, then asks Prometheus about the time of those stored
 * runs that it was not asked about. Troubles are said and set *trouble; what was
 * read is stored. `store` NULL (--dry-run): lists of pods that are here are read
 * and counted, no server is asked. -1: the store failed, or an interrupt.
 */
int watching_run(struct watching *watching, struct store *store, bool *trouble, struct err *err);
void watching_free(struct watching *watching);

#endif

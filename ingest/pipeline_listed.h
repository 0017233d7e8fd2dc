/* A part of the pipeline: what each project's project.json lists as heavy -> the store. */
#ifndef BR2_PIPELINE_LISTED_H
#define BR2_PIPELINE_LISTED_H

#include "pipeline.h"
#include "store.h"

/*
 * Of each project root in the list. A file that cannot be read is said, and what
 * is stored of it stays. -1: the store's own error.
 */
int listed_store(struct store *store, const struct log_list *list, const char *project,
		 struct err *err);

#endif

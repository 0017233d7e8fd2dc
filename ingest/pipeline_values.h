/*
 * A part of the pipeline: values files and shapes -> the store, before any log, so
 * that results get their limits as they come in; and what a person must be told.
 */
#ifndef BR2_PIPELINE_VALUES_H
#define BR2_PIPELINE_VALUES_H

#include "pipeline.h"
#include "store.h"

/* Pools of which another size was stored as valid from now on. */
struct values_news {
	char **pools;
	size_t count;
};

#define VALUES_NEWS_INIT \
	{                \
		NULL, 0  \
	}

/*
 * `store` NULL: --dry-run, read and say only. Files and pools that cannot be read are said
 * and set *trouble. -1: the store's own error.
 */
int values_store(struct store *store, const struct ingest_options *options,
		 struct values_news *news, bool *trouble, struct err *err);
/* At the end: how many stored results the pools' news would cover if they were older. */
int values_tell(struct store *store, const char *cache, const struct values_news *news,
		struct err *err);
void values_news_release(struct values_news *news);

#endif

/*
 * --watch: follows trees and takes logs in as they appear and grow, pass after pass,
 * until it is told to end. New logs are opened as they come, whatever a pass is
 * doing, and are read even if they are removed before their turn.
 */
#ifndef BR2_PIPELINE_FOLLOW_H
#define BR2_PIPELINE_FOLLOW_H

#include "pipeline.h"

/* A pass that stored something: `due` logs were new or had grown, `path` is one of them. */
typedef void follow_stored_fn(void *context, size_t due, const char *path,
			      const struct ingest_tally *tally);

/*
 * Until pipeline_follow_end(); then what is held is taken in a last time. `stored` is
 * called after each pass that stored something. A pass that fails is said and tried
 * again. 0; 1: the last pass left something undone; -1: it could not begin: nothing can
 * be watched, or the first pass found a usage error.
 */
int pipeline_follow(const char *db, const struct ingest_options *options, follow_stored_fn *stored,
		    void *context, struct err *err);
/* Safe in a signal handler. */
void pipeline_follow_end(void);

#endif

/*
 * One pass of --watch: the pipeline over a list of logs, in a process of its own. What
 * goes wrong there, a crash too, ends that pass only, and its memory and connections
 * are gone with it however many weeks the watching goes on.
 */
#ifndef BR2_PIPELINE_PASS_H
#define BR2_PIPELINE_PASS_H

#include "pipeline.h"
#include "util/msg.h"

#include <sys/types.h>

struct pass_result {
	int failed; /* -1: it came to no end, `err` says why; what was stored before stays */
	struct ingest_tally tally;
	struct err err;
};

struct pass {
	pid_t process; /* 0: none runs */
	int fd;	       /* readable once its result is there, or it has ended */
};

#define PASS_INIT     \
	{             \
		0, -1 \
	}

/*
 * Begins. `said` (shared between processes, pass_memory_new()) keeps warnings from being
 * said by each pass; notes are dropped. -1: no process could be had.
 */
int pass_begin(struct pass *pass, const char *db, const struct ingest_options *options,
	       struct log_list *list, struct msg_memory *said, struct err *err);
/* Waits for its end. A process that ended without a result gives failed. */
void pass_end(struct pass *pass, struct pass_result *out_result);

/* Shared with the processes of passes. -1: no memory. */
int pass_memory_new(struct msg_memory **out_memory, struct err *err);
void pass_memory_free(struct msg_memory *memory);

#endif

/*
 * The events of one log, in order -> rows of its run (or runs: a file may hold
 * several whole logs). It keeps the open spans, so that an action's start and
 * end meet; cleans what must not be stored; gives each digest its function; finds
 * the blobs that failed attempts link; and settles under which instance names all
 * of them may be found.
 *
 * Knows no store: rowput.h puts the rows, and the pipeline the file's own row,
 * which makes it known, after all of them.
 */
#ifndef BR2_RUNLOG_H
#define BR2_RUNLOG_H

#include "model.h"
#include "rows.h"

#include <stdint.h>

struct runlog;

/* Where the log lies and what its project's configuration says. Borrowed while the runlog lives. */
struct runlog_place {
	const char *path;
	const char *held;		      /* opened in place of `path`; NULL */
	const char *project;		      /* NULL: the base name of the log's working_dir */
	int project_rank;		      /* enum project_rank */
	const char *isolation_dir;	      /* NULL: unknown */
	enum digest_function digest_function; /* of .buckconfig; DIGEST_UNKNOWN */
	const char *cache;		      /* the user's name for the cluster */
	const char *instance_flag;	      /* --instance; NULL */
	const char *pool;		      /* --pool; NULL */
	const char *buckconfig_instance;      /* NULL */
	const char *project_json_name;	      /* NULL */
	bool no_stderr;			      /* leave out what failed attempts printed */
};

struct runlog_tally {
	uint64_t runs, actions, tests, attempts,
		digests; /* digests: remote attempts that name one */
	uint64_t in_flight, incomplete_runs;
	uint64_t damaged_starts; /* of actions that did not end: not decoded before, and lost */
	uint64_t refused_starts; /* starts and stages that would have taken too much memory */
};

/*
 * Rows are added to *rows, borrowed while the runlog lives; whoever takes them out
 * may do so between two calls. NULL: only count.
 */
struct runlog *runlog_new(struct rows *rows, const struct runlog_place *place);
void runlog_free(struct runlog *runlog);
void runlog_event(struct runlog *runlog, const struct event *event);
/* The log ended: in-flight rows, instance candidates, the end of the run. */
void runlog_finish(struct runlog *runlog);
const struct runlog_tally *runlog_tally(const struct runlog *runlog);

#endif

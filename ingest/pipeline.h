/*
 * The one place where the stages meet: discover -> read -> store -> ask ->
 * store. It says on stderr what it does; data is printed by the verb.
 */
#ifndef BR2_PIPELINE_H
#define BR2_PIPELINE_H

#include "cluster_evidence.h"
#include "config.h"
#include "discover.h"
#include "lookup.h"
#include "shape.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cluster: nothing of it is read or asked unless it is named. */
struct cluster_options {
	const char *const *pods; /* --pods FILE|-|URL */
	size_t pod_count;
	const char *const *values; /* --values FILE|-, the later ones over the earlier */
	size_t value_count;
	int64_t valid_from_ns; /* --valid-from; UNKNOWN: nobody said, so from now on */
	struct shape *shapes;  /* --shape */
	size_t shape_count;
	struct http_options pods_http;	     /* for URLs; its url is not used */
	struct http_options prometheus_http; /* its url: --prometheus; NULL */
	struct cluster_selector selector;
};

/* Calls at once, at most. */
#define IN_FLIGHT_MAX 1024

struct ingest_options {
	const char *const *paths;
	size_t path_count;
	struct discover_options discover;
	struct remote_flags remote;
	struct lookup_options lookup;
	struct cluster_options cluster;
	const char *cache;    /* the user's name for the cluster; "" */
	const char *instance; /* --instance; NULL */
	const char *pool;     /* --pool; NULL */
	const char *record;   /* --record FILE; NULL */
	const char *replay;   /* --replay FILE; NULL */
	int64_t now_ns;
	bool no_remote;
	bool dry_run;
	bool retry_missing;
	bool no_stderr; /* leave out what failed actions printed */
};

struct ingest_tally {
	uint64_t files, known, read, vanished, unreadable, cut, broken;
	uint64_t runs, actions, tests, attempts, digests, in_flight;
	uint64_t malformed, too_large;
	uint64_t bytes_read, bytes_decoded;
	uint64_t results; /* found and stored */
	bool trouble;	  /* something of exit code 2 happened; it was said */
};

/*
 * Does it all. `db` is not opened with dry_run. The list that was found is
 * handed to the caller, who releases it; where only the cluster was asked about,
 * outside of any project, no log is read, no server asked, and the list is empty. -1: nothing could
 * be done (usage, database); troubles on the way are said, counted and set tally->trouble.
 */
int pipeline_run(const char *db, const struct ingest_options *options, struct log_list *out_list,
		 struct ingest_tally *tally, struct err *err);
/* The same for a list that the caller has, sorted as discover() sorts it. */
int pipeline_take(const char *db, const struct ingest_options *options, struct log_list *list,
		  struct ingest_tally *tally, struct err *err);
/* Makes pipeline_run() end soon, at the next record or answer; safe in a signal handler. */
void pipeline_interrupt(void);
bool pipeline_interrupted(void);

#endif

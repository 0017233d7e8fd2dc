/*
 * Stage 5: rows in, rows out. One SQLite file; tables from schema/, views from
 * queries/. The only users of <sqlite3.h> are store*.c.
 *
 * Laws (tests): storing the same log twice changes nothing, not a byte of the
 * file; halves equal the whole; any order of logs gives equal rows; a kill at
 * any moment is repaired by the next ingest. So: every put is "insert, or
 * complete what is unknown", nothing that was found is overwritten, and
 * whatever depends on several logs (a run's project, a digest's first
 * reference) is decided by comparing, not by who came first.
 *
 * Writes happen between store_begin() and store_commit(), in slices that fit
 * the page cache, so that readers wait only at a COMMIT: STORE_SLICE_ACTIONS
 * actions with an attempt each, or STORE_SLICE_RESULTS results.
 */
#ifndef BR2_STORE_H
#define BR2_STORE_H

#include "cluster.h"
#include "model.h"
#include "shape.h"
#include "util/buf.h"
#include "util/err.h"
#include "util/intervals.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/* STORE_SOURCE: see store_merge.h */
enum store_access { STORE_READ, STORE_WRITE, STORE_SOURCE };

/* stderr of a failed attempt: so many of its last bytes are kept. */
#define STORE_STDERR_MAX ((size_t)64 << 10)

/*
 * Most of the pages that a row touches are leaves of indexes in no order (a
 * digest, a package, a wall time): one page each for an action, three for a result.
 * A page is written twice at a COMMIT (journal, file), so small slices cost more:
 * 1,000 actions and 500 results take 1.3 times the CPU of these. Measured at
 * 300,000 rows: no page is spilled before its COMMIT.
 */
#define STORE_SLICE_ACTIONS 3000
#define STORE_SLICE_RESULTS 1500

/*
 * Opens the file; STORE_WRITE creates it (and its folder) if missing, takes an
 * older schema forward, and makes the views anew where their text differs. -1:
 * not ours, made by a newer version, locked for longer than a minute, no access.
 */
int store_open(struct store **out_store, const char *path, enum store_access access,
	       struct err *err);
/* NULL is fine. */
void store_close(struct store *store);
/*
 * Names of canned views that could not be made because a view or table of that
 * name is the user's: borrowed, worth a warning.
 */
size_t store_foreign_views(const struct store *store, const char *const **out_names);

int store_begin(struct store *store, struct err *err); /* BEGIN IMMEDIATE */
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

/*
 * Around questions, of which each would lock the file for itself: what they read is of
 * one moment, and others can read, but not COMMIT, meanwhile. Also inside a transaction.
 */
int store_hold(struct store *store, struct err *err);
void store_release(struct store *store);

/* ---- logs ------------------------------------------------------------------ */

/* 1: this very file (path, bytes, mtime) was read to its end as it stands; 0; -1. */
int store_knows_file(struct store *store, const char *path, int64_t bytes, int64_t mtime_ns,
		     struct err *err);

/* Where a run was seen. */
struct sighting {
	const char *path;	   /* NULL: nowhere, when a database is merged that does not know */
	const char *project;	   /* never NULL */
	int project_rank;	   /* enum project_rank; greater wins */
	const char *isolation_dir; /* NULL: unknown */
};

/*
 * What a log says of its run as a whole; unknown members do not overwrite known
 * ones. Where two logs of a run disagree the greater value stays, so that their
 * order does not matter.
 */
struct run_facts {
	struct str trace_id;
	struct str command, argv_json, working_dir; /* argv cleaned: redact.h */
	struct str host, os, os_version, arch, user, buck2_revision, daemon_uuid, revision;
	struct str error;
	int64_t start_ns, duration_us, succeeded, exit_code, error_count;
	int64_t digest_function;
	bool complete;
};

#define RUN_FACTS_INIT                                                                   \
	{                                                                                \
		.start_ns = UNKNOWN, .duration_us = UNKNOWN, .succeeded = UNKNOWN,       \
		.exit_code = UNKNOWN, .error_count = UNKNOWN, .digest_function = UNKNOWN \
	}

/* No run's id: a prune dropped this one, and nothing of it is to be stored. */
#define STORE_PRUNED 0

/* Makes or completes the run; *out_run_id is good for this store handle, or STORE_PRUNED. */
int store_put_run(struct store *store, const struct run_facts *facts,
		  const struct sighting *sighting, int64_t *out_run_id, struct err *err);
/*
 * *out_seq: this file showed the run before, and its actions up to that number
 * (struct action_row's seq) are stored; 0: none for certain. A log that has grown
 * needs to be stored only from there on.
 */
int store_stored_until(struct store *store, int64_t run_id, const char *path, int64_t *out_seq,
		       struct err *err);
/* The run's -c values, already cleaned. The last one of a key wins. */
int store_put_config(struct store *store, int64_t run_id, const struct config_value *values,
		     size_t count, struct err *err);

/* Under which instance the run's digests are asked. */
struct instance_choice {
	const char *cache, *name, *source;
	bool proved;
};

/*
 * Sets the run's instance. A proved one (an answer came) is
 * only replaced by a proved one, an unproved one also by one from a better
 * source, or the same source's longer name. When it changes, the run's attempts
 * move to the digests of the new instance (and digests that nobody refers to any
 * more go).
 */
int store_put_instance(struct store *store, int64_t run_id, const struct instance_choice *choice,
		       struct err *err);
/* 1 and the run's choice (texts borrowed until the next call); 0: none yet; -1. */
int store_get_instance(struct store *store, int64_t run_id, struct instance_choice *out_choice,
		       struct err *err);

/*
 * An ended action with its attempts. `seq` is its record's number in its log,
 * start_ns the time of its start. Digests of remote attempts become wanted
 * lookups under the run's instance (which must be set), and the blobs that they
 * link are wanted, too. Ends an in-flight row.
 */
int store_put_action(struct store *store, int64_t run_id, uint64_t span_id, uint64_t seq,
		     int64_t start_ns, const struct action *action, struct err *err);

struct started {
	uint64_t span_id, seq;
	int64_t start_ns;
	const struct action *action; /* names and type */
	struct stage stage;	     /* digest.hash_len 0: none seen */
	uint64_t stage_seq;	     /* number of the stage's record; the greatest wins */
};

/*
 * A started action without an end so far; nothing happens if its end is stored,
 * or the run is complete (a complete run has nothing in flight).
 */
int store_put_in_flight(struct store *store, int64_t run_id, const struct started *started,
			struct err *err);
/*
 * The span will never end: drops the in-flight row, and remembers that, so that
 * a shorter copy of the log does not bring it back. For spans of actions only.
 */
int store_drop_in_flight(struct store *store, int64_t run_id, uint64_t span_id, struct err *err);

/*
 * The paths through the build's graph; `seq` is their record's number in its log.
 * Of several records the first one stays, so they are replaced where this one is
 * earlier.
 */
int store_put_graph(struct store *store, int64_t run_id, uint64_t seq,
		    const struct build_graph *graph, struct err *err);

struct log_outcome {
	const char *path;
	int64_t bytes, mtime_ns; /* as they were when it was opened */
	const char *ending;	 /* whole, cut, broken */
	uint64_t records, malformed, too_large;
	const char *note; /* NULL */
};

/* The file's own row; written last, so that a kill before it means "read again". */
int store_put_log(struct store *store, const struct log_outcome *outcome, struct err *err);

/* ---- lookups ---------------------------------------------------------------- */

struct wanted {
	int64_t lookup_id;
	const char *instance; /* borrowed until the next call */
	struct digest digest;
};

/*
 * The next digest to ask of cluster `cache`, in order of lookup_id, after
 * `after_id` (0 to begin). Wanted: never answered, or not answered with a result
 * while its newest run is younger than setting retry_missing_days at `now_ns`,
 * or `retry_missing`; refused, unreachable and failed calls always. Never those
 * whose every remote attempt failed, nor those of runs whose instance was not
 * chosen. 1; 0: none left; -1.
 */
int store_next_wanted(struct store *store, const char *cache, int64_t after_id, int64_t now_ns,
		      bool retry_missing, struct wanted *out_wanted, struct err *err);
/* How many of those there are. */
int store_count_wanted(struct store *store, const char *cache, int64_t now_ns, bool retry_missing,
		       int64_t *out_count, struct err *err);

/*
 * The next one after `after_id` that was never asked, and may be while logs are still
 * read: of a run whose instance is proved, or under the name `given` by the user
 * (NULL: none is). 1; 0: none now; -1.
 */
int store_next_settled(struct store *store, const char *cache, const char *given, int64_t after_id,
		       struct wanted *out_wanted, struct err *err);
/* The largest id so far: what is stored from now on comes after it. 0: none. */
int store_newest_lookup(struct store *store, int64_t *out_id, struct err *err);
int store_newest_run(struct store *store, int64_t *out_id, struct err *err);

/* lookup.state; see schema/0001_init.sql */
enum lookup_state {
	STATE_WANTED = 0,
	STATE_FOUND = 1,
	STATE_NOT_FOUND = 2,
	STATE_OUTPUTS_EVICTED = 3,
	STATE_REFUSED = 4,
	STATE_INVALID = 5,
	STATE_TOO_LARGE = 6,
	STATE_ERROR = 7,
	STATE_UNREACHABLE = 8,
	STATE_MALFORMED = 9,
	STATE_OTHER_ACTION = 10, /* of a linked blob only */
};

/* A vain answer. STATE_FOUND is never taken back; equal answers write nothing. */
int store_put_state(struct store *store, int64_t lookup_id, enum lookup_state state,
		    const char *message, struct err *err);
/* A result of the action cache. The first one stays; sets STATE_FOUND. */
int store_put_result(struct store *store, int64_t lookup_id, const struct result *result,
		     struct err *err);

/* ---- historical results: blobs that failed attempts link ---- */

/* An attempt of a run; run_id is good for this store handle. */
struct attempt_key {
	int64_t run_id, span_id, idx;
};

struct wanted_blob {
	struct attempt_key key;
	struct digest digest;
	struct digest action;	 /* its attempt's, which the blob must name */
	const char *instance;	 /* its attempt's; borrowed until the next call, as message is */
	struct str message;	 /* the text that links it */
	enum lookup_state state; /* so far */
};

/*
 * The next linked blob to ask of cluster `cache`, in order of its key, after
 * `after` (all 0 to begin). Wanted: never answered; refused, unreachable and
 * failed calls always; what has gone or was not accepted while its run is younger
 * than setting retry_missing_days at `now_ns`; with `retry_missing` all but those
 * that were found. 1; 0: none left; -1.
 */
int store_next_historical(struct store *store, const char *cache, const struct attempt_key *after,
			  int64_t now_ns, bool retry_missing, struct wanted_blob *out_wanted,
			  struct err *err);
/* How many of those there are. */
int store_count_historical(struct store *store, const char *cache, int64_t now_ns,
			   bool retry_missing, int64_t *out_count, struct err *err);
/*
 * The next attempt after `after` that links the same blob as `of`, is asked under
 * the same instance and has no result yet: one execution can be the answer to
 * several commands that asked for it at the same time. 1; 0: none left; -1.
 */
int store_next_twin(struct store *store, const struct attempt_key *of,
		    const struct attempt_key *after, struct attempt_key *out_key,
		    struct digest *out_action, struct err *err);
/* A vain answer. STATE_FOUND is never taken back; equal answers write nothing. */
int store_put_historical_state(struct store *store, const struct attempt_key *key,
			       enum lookup_state state, const char *message, struct err *err);
/* A result of the attempt's own. The first one stays; sets STATE_FOUND. */
int store_put_historical(struct store *store, const struct attempt_key *key,
			 const struct result *result, struct err *err);

/* ---- instances ---- */

/*
 * Instance names under which the run's digests may be found, in the order of
 * instance_candidates(). Adds to those that are known; a name keeps its best source.
 */
int store_put_candidates(struct store *store, int64_t run_id, const struct instance_choice *choices,
			 size_t count, struct err *err);

/*
 * Proposes an instance name to each run that was seen in the file `path` and of
 * this cluster, and whose instance nothing has proved yet.
 */
int store_name_instance(struct store *store, const char *path, const struct instance_choice *choice,
			struct err *err);

/*
 * The same for the digest function: digests of such runs that were stored under
 * another function of the same length move to this one. Runs whose log names the
 * function itself keep it.
 */
int store_name_function(struct store *store, const char *path, enum digest_function function,
			struct err *err);

/*
 * Another cluster than `cache` to which a run belongs that was seen in the file and has
 * remote attempts, the first by name. `unproved`: also where no answer has proved it.
 * 1: *out_cache, borrowed until the next call; 0: there is none; -1.
 */
int store_find_elsewhere(struct store *store, const char *path, const char *cache, bool unproved,
			 const char **out_cache, struct err *err);

/*
 * `proposal`, never UNKNOWN, is all of that for the runs of a file, as one number.
 * 1: it was proposed to them as they are stored; 0: it was not, or something was stored
 * of one of them since; -1.
 */
int store_has_proposed(struct store *store, const char *path, int64_t proposal, struct err *err);
int store_note_proposed(struct store *store, const char *path, int64_t proposal, struct err *err);

struct unproved {
	int64_t run_id;
	struct str trace_id; /* borrowed until the next call, as all below */
	const struct instance_choice *candidates;
	size_t candidate_count;
	const struct digest *digests;
	size_t digest_count;
};

/*
 * The lookup of a digest under an instance name of cluster `cache`, and its
 * state: what a probe has had answered is stored by this. 1; 0: no such lookup; -1.
 */
int store_find_lookup(struct store *store, const char *cache, const char *instance,
		      const struct digest *digest, int64_t *out_lookup_id,
		      enum lookup_state *out_state, struct err *err);

/*
 * The next run of cluster `cache` after `after_run_id` whose instance nothing has proved yet, its
 * candidates in order and up to `max_digests` digests of its successful remote
 * attempts; runs without any of either are left out. 1; 0: none left; -1.
 */
int store_next_unproved(struct store *store, const char *cache, int64_t after_run_id,
			size_t max_digests, struct unproved *out_unproved, struct err *err);

/* ---- what a cluster says ------------------------------------------------------ */

/* A pod's container; of two known values the greater stays. */
int store_put_container(struct store *store, const struct container_spec *spec, struct err *err);
/* One without a time of its end says nothing that could be joined, and is not stored. */
int store_put_termination(struct store *store, const struct termination *end, struct err *err);
int store_put_oom_count(struct store *store, const struct oom_count *oom, struct err *err);

/* Who was asked about whom. */
struct look {
	enum evidence_layer layer;
	const char *cache;    /* the user's name for the cluster; "" */
	const char *selector; /* "namespace/container" of Prometheus; "" of pods */
};

/* What happened in `span` (ns) was looked at. Looks that touch become one. */
int store_put_look(struct store *store, const struct look *look, struct interval span,
		   struct err *err);
/* Adds what was looked at so far; they do not touch. */
int store_get_looks(struct store *store, const struct look *look, struct intervals *out_looks,
		    struct err *err);

/*
 * What a result's container used, and what a life of a container used in a
 * minute. Of two answers the one with more samples stays, else the one with the
 * better status: Prometheus forgets, and what is young is asked about again.
 */
int store_put_result_usage(struct store *store, const struct result_usage *usage, struct err *err);
int store_put_minute_usage(struct store *store, const struct minute_usage *usage, struct err *err);

/* ---- what workers are given ----------------------------------------------------- */

/*
 * What the chart gives a pool of cluster `cache` from valid_from_ns on. `observed`:
 * nobody said since when, so that a row is put only if the one in force then says
 * something else. Otherwise the row is put, in place of one of the same moment. 1:
 * written; 0: nothing new; -1.
 */
int store_put_pool(struct store *store, const char *cache, const struct pool_spec *pool,
		   int64_t valid_from_ns, bool observed, struct err *err);
/*
 * What such a row would change, asked before it is put. 1: something else is in force at that
 * time, or nothing; 0: the same; -1. *out_until_ns: when a later row says something else again;
 * UNKNOWN: none does.
 */
int store_pool_news(struct store *store, const char *cache, const struct pool_spec *pool,
		    int64_t valid_from_ns, int64_t *out_until_ns, struct err *err);
/*
 * How many stored results of the pool nothing is known of because they began before its first
 * row: an earlier one would cover them.
 */
int store_count_uncovered(struct store *store, const char *cache, const char *pool,
			  int64_t *out_results, struct err *err);
/* A shape of the user's, in place of one of that name. 1: written; 0: nothing new; -1. */
int store_put_shape(struct store *store, const struct shape *shape, struct err *err);
/*
 * Stored results are given what their containers and pools say by now, in slices
 * of its own: not inside a transaction. New results get theirs when they are put;
 * so this has something to do only after pods, containers, pool_spec or the rule
 * changed, whoever changed them.
 */
int store_allot(struct store *store, struct err *err);
/*
 * Once some batches of lookups are complete their keys are put into table lookup_key, in
 * transactions of its own: not inside one. To be called after each that stored attempts.
 */
int store_key_lookups(struct store *store, struct err *err);
/*
 * Packages some of whose stored results have moved (to another package, project or
 * allotment) are summed up anew, in slices of its own: not inside a transaction.
 */
int store_sum_packages(struct store *store, struct err *err);
/* The same of invocations some of whose results are new, have moved or are gone. */
int store_sum_invocations(struct store *store, struct err *err);

/* `heavy` of a project's project.json. */
struct listing {
	const char *project, *path;
	int64_t mtime_ns;
	const char *const *packages; /* each once */
	size_t count;
};

/*
 * The list replaces what was read of the same file; of two files of a project the
 * one with the greater (mtime, path) stays.
 */
int store_put_listing(struct store *store, const struct listing *listing, struct err *err);

/* ---- questions ---------------------------------------------------------------- */

enum value_type { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value {
	enum value_type type;
	int64_t integer;
	double real;
	struct str text; /* TEXT and BLOB; borrowed during the row callback */
};

/* A parameter by name, e.g. ":project". */
struct param {
	const char *name;
	struct value value;
};

struct row {
	const char *const *names;
	const struct value *values;
	size_t count;
};

/* Return 0 to go on, 1 to stop, -1 with err set. */
typedef int store_row_fn(void *context, const struct row *row, struct err *err);

/*
 * Runs one SELECT of ours with parameters (never text put together from input;
 * a view's name goes through store_quote_name()). `row` may be NULL.
 */
int store_query(struct store *store, const char *sql, const struct param *params, size_t count,
		store_row_fn *row, void *context, struct err *err);
/* A row for each pool of the cache that is enabled at that time and not in `names`, a JSON array.
 */
int store_pools_besides(struct store *store, const char *cache, struct str names, int64_t at_ns,
			store_row_fn *row, void *context, struct err *err);
/* Adds "name", quoted as an SQL identifier. */
void store_quote_name(struct buf *buf, const char *name);
/* Pages, schema version and the like, for `check --db` and messages. */
const char *store_path(const struct store *store);

#endif

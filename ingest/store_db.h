/*
 * Beneath store.h, for store*.c only: the handle, prepared statements with
 * named parameters, and values in and out. Every value that enters a table
 * passes through a bind_*() here: UNKNOWN and STR_NULL become NULL, text becomes
 * valid UTF-8 without NULs, whatever a log holds.
 *
 * A statement is used like this; binding errors wait until the step:
 *
 *	struct statement *s = db_use(store, ST_X, "SELECT a FROM t WHERE b = :b");
 *
 *	bind_int(s, ":b", b);
 *	found = db_step(s, err);     1 a row, 0 none, -1
 *	if (found > 0)
 *		a = column_int(s, 0);
 *	db_reset(s);                 columns are gone from here on
 */
#ifndef BR2_STORE_DB_H
#define BR2_STORE_DB_H

#include "store.h"
#include "store_lookup_key.h"
#include "util/buf.h"
#include "util/hashmap.h"

struct sqlite3;
struct sqlite3_stmt;

/* One for each SQL text in store*.c that is prepared once and kept. */
enum statement_id {
	ST_BEGIN,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_HOLD,
	ST_RELEASE,
	/* store_schema.c, store_tables.c, store_views.c */
	ST_APPLICATION_ID,
	ST_USER_VERSION,
	ST_OBJECT_COUNT,
	ST_OBJECTS,
	ST_INDEXES,
	ST_INDEX_PLAIN,
	ST_SETTING_GONE,
	ST_VIEW_NAMES_CLAIMED,
	ST_VIEWS_STORED,
	ST_VIEW_STATE,
	ST_VIEW_CLAIM,
	ST_VIEW_DISCLAIM,
	ST_VIEW_CLAIMED,
	/* store_names.c */
	ST_NAME_FIRST, /* two for each table of names */
	ST_NAME_LAST = ST_NAME_FIRST + 13,
	ST_INSTANCE_INSERT,
	ST_INSTANCE_SELECT,
	ST_TARGET_INSERT,
	ST_TARGET_SELECT,
	ST_ACTION_NAME_INSERT,
	ST_ACTION_NAME_SELECT,
	ST_REQUEST_INSERT,
	ST_REQUEST_SELECT,
	/* store_log.c */
	ST_FILE_KNOWN,
	ST_FILE_INSERT,
	ST_FILE_PUT,
	ST_RUN_SELECT,
	ST_RUN_MERGE,
	ST_SIGHTING_PUT,
	ST_SIGHTING_BEST,
	ST_RUN_PLACE,
	ST_RUN_RESULTS,
	ST_RESULT_PROJECT,
	ST_RUN_LOOKUPS,
	ST_RUN_LANDS,
	ST_CONFIG_PUT,
	/* store_grown.c */
	ST_STORED_UNTIL,
	/* store_instance.c */
	ST_RUN_INSTANCE,
	ST_RUN_INSTANCE_PUT,
	ST_CHOICE_SELECT,
	ST_ATTEMPTS_OF_RUN,
	ST_ATTEMPT_MOVE,
	ST_LOOKUP_COPY,
	ST_LOOKUP_DROP,
	ST_LOOKUP_FORGET,
	ST_CANDIDATE_PUT,
	ST_RUN_TO_NAME,
	ST_RUN_ELSEWHERE,
	ST_RUN_TO_MOVE,
	ST_PROPOSED,
	ST_PROPOSED_NOTE,
	ST_PROPOSED_ANEW,
	ST_ATTEMPTS_OF_FUNCTION,
	ST_UNPROVED_RUN,
	ST_UNPROVED_CANDIDATES,
	ST_UNPROVED_DIGESTS,
	/* store_action.c */
	ST_ACTION_PUT,
	ST_ACTION_COMPLETE,
	ST_ACTION_TEXT_PUT,
	ST_ATTEMPT_PUT,
	ST_ATTEMPT_DIGEST_PUT,
	ST_ATTEMPT_TEXT_PUT,
	ST_ATTEMPT_STDERR_PUT,
	ST_IN_FLIGHT_PUT,
	ST_IN_FLIGHT_DROP,
	ST_IN_FLIGHT_ANY,
	ST_CANCELLED_PUT,
	/* store_lookup.c */
	ST_LOOKUP_INSERT,
	ST_LOOKUP_FIRST,
	ST_LOOKUP_EARLIER,
	ST_LOOKUP_NEXT,
	ST_LOOKUP_SETTLED,
	ST_LOOKUP_NEWEST,
	ST_RUN_NEWEST,
	ST_LOOKUP_COUNT,
	ST_LOOKUP_STATE,
	ST_LOOKUP_REFER,
	ST_RESULT_REFER,
	ST_RESULT_MOVED,
	/* store_lookup_key.c */
	ST_LOOKUP_FIND_FIRST, /* for each number of batches two */
	ST_LOOKUP_FIND_LAST = ST_LOOKUP_FIND_FIRST + 7,
	ST_KEYED_SELECT,
	ST_KEYED_DUE,
	ST_KEYED_UNTIL,
	ST_KEY_PUT,
	ST_KEY_DROP,
	ST_KEYS_PUT,
	/* store_historical.c */
	ST_HISTORICAL_LINK,
	ST_HISTORICAL_NEXT,
	ST_HISTORICAL_COUNT,
	ST_HISTORICAL_TWIN,
	ST_HISTORICAL_KNOWN,
	ST_HISTORICAL_STATE,
	ST_HISTORICAL_LOOKUP,
	ST_HISTORICAL_MOVE,
	ST_HISTORICAL_FORGET,
	/* store_result.c */
	ST_RESULT_PUT,
	ST_RESULT_COLUMNS,
	ST_RESULT_FOUND,
	ST_RESULT_TIME_PUT,
	ST_RUSAGE_PUT,
	ST_FILE_POOL_PUT,
	ST_INPUT_ROOT_PUT,
	ST_EXPENSE_PUT,
	ST_AUX_PUT,
	ST_IMPLAUSIBLE_PUT,
	/* store_graph.c */
	ST_GRAPH_PUT,
	ST_STEPS_DROP,
	ST_STEP_PUT,
	/* store_totals.c */
	ST_TOTAL_FIRST, /* two for each table of sums */
	ST_TOTAL_LAST = ST_TOTAL_FIRST + 13,
	/* store_sums.c */
	ST_SIZED_SELECT,
	/* store_package_sums.c */
	ST_PACKAGE_SUM_ADD,
	ST_PACKAGE_SUM_DROP,
	ST_PACKAGE_SUM_ANEW,
	ST_PACKAGE_DUE_PUT,
	ST_PACKAGE_DUE_ANY,
	ST_PACKAGE_DUE_DROP,
	/* store_invocation_sums.c */
	ST_INVOCATION_NEW,
	ST_INVOCATION_MOVED,
	ST_INVOCATION_DUE_FIRST,
	ST_INVOCATION_DUE_DROP,
	ST_INVOCATION_SUM_DROP,
	ST_INVOCATION_WORKED,
	ST_INVOCATION_SUM_PUT,
	ST_INVOCATION_SUM_ANEW,
	/* store_cluster.c */
	ST_POD_PUT,
	ST_POD_SELECT,
	/* store_container.c */
	ST_CONTAINER_PUT,
	ST_CONTAINER_AGREE,
	ST_SAID_PUT,
	ST_POD_AGREE,
	/* store_cluster.c */
	ST_TERMINATION_PUT,
	ST_OOM_COUNT_PUT,
	ST_LOOK_COVERS,
	ST_LOOK_TOUCHED,
	ST_LOOK_DROP,
	ST_LOOK_PUT,
	ST_LOOK_SELECT,
	/* store_samples.c */
	ST_RESULT_USAGE_PUT,
	ST_LIFE_PUT,
	ST_LIFE_SELECT,
	ST_MINUTE_USAGE_PUT,
	/* store_pool.c */
	ST_POOL_SAME,
	ST_POOL_PUT,
	ST_POOL_UNTIL,
	ST_POOL_UNCOVERED,
	ST_SHAPE_PUT,
	/* store_allot.c */
	ST_DATA_VERSION,
	ST_ALLOTMENT_INSERT,
	ST_ALLOTMENT_SELECT,
	ST_ALLOT_POOLS,
	ST_ALLOT_WORKER,
	ST_ALLOT_CONTAINER,
	ST_ALLOT_BY_POOL,
	ST_ALLOT_EXECUTION,
	ST_ALLOT_PUT,
	ST_ALLOT_OF_ATTEMPT,
	ST_ALLOT_DUE_POD,
	ST_ALLOT_RULE_DUE,
	ST_ALLOT_RULE_PUT,
	ST_ALLOT_SPECS,
	ST_ALLOT_DUE_POOLS,
	ST_ALLOT_POOLS_DROP,
	ST_ALLOT_POOLS_PUT,
	ST_ALLOT_DUE_LAST,
	ST_ALLOT_DUE_WORKERS,
	ST_ALLOT_RESULTS,
	ST_ALLOT_DUE_DROP,
	/* store_listed.c */
	ST_LISTED_FILE,
	ST_LISTED_FILE_PUT,
	ST_LISTED_SELECT,
	ST_LISTED_DROP,
	ST_LISTED_PUT,
	/* store_source.c */
	ST_SOURCE_REFERENCES,
	/* store_merge*.c: FROM_ of a source, INTO_ of the database */
	ST_FROM_RUNS,
	ST_FROM_RUN_LOGS,
	ST_FROM_CONFIG,
	ST_FROM_CANDIDATES,
	ST_FROM_FUNCTION,
	ST_FROM_TRACE,
	ST_FROM_ACTIONS,
	ST_FROM_ATTEMPT_COUNT,
	ST_FROM_ATTEMPTS,
	ST_FROM_FLIGHTS,
	ST_FROM_CANCELLED,
	ST_FROM_GRAPH,
	ST_FROM_STEPS,
	ST_FROM_LOOKUPS,
	ST_FROM_HISTORICAL,
	ST_FROM_RESULT,
	ST_FROM_EXPENSES,
	ST_FROM_AUX,
	ST_FROM_CONTAINERS,
	ST_FROM_TERMINATIONS,
	ST_FROM_OOMS,
	ST_FROM_LOOKS,
	ST_FROM_MINUTES,
	ST_FROM_FILES,
	ST_FROM_LISTINGS,
	ST_FROM_LISTED,
	ST_INTO_RUN,
	ST_INTO_CONFIG,
	ST_INTO_ACTION,
	ST_INTO_LOOKUP,
	ST_INTO_RESULT,
	ST_INTO_PLACE,
	ST_INTO_GONE,
	ST_INTO_HISTORICAL,
	ST_INTO_HISTORICAL_RESULT,
	ST_INTO_FILE_KNOWN,
	ST_INTO_FILE,
	ST_INTO_LISTING,
	ST_INTO_PRUNED_DROP,
	ST_INTO_PRUNED_PUT,
	ST_FROM_PRUNED,
	ST_FROM_PLACE,
	/* store_prune.c, store_sums_anew.c */
	ST_PRUNE_OLD,
	ST_PRUNE_COUNT,
	ST_PRUNE_MOVED,
	ST_PRUNED,
	ST_DROPPINGS,
	ST_FREE_BYTES,
	ST_FILE_BYTES,
	ST_SUMS_RESULTS,
	ST_COUNT
};

#define STATEMENT_PARAMS_MAX 40

struct statement {
	struct store *store;
	struct sqlite3_stmt *handle;
	const char *names[STATEMENT_PARAMS_MAX]; /* of parameter 1, 2, …; in name_text */
	char *name_text;
	int count; /* parameters */
	int next;  /* the one that is expected now: they mostly come in order */
	int fault; /* SQLite's code of the first bind that failed */
};

/* Wanted digests that were read ahead of the caller. */
#define WANTED_BATCH 128

struct wanted_row {
	int64_t lookup_id;
	size_t name_at; /* of the instance, in names */
	struct digest digest;
};

struct wanted_batch {
	struct wanted_row rows[WANTED_BATCH];
	size_t count, next; /* rows[next] is given next */
	struct buf names;   /* first the cluster's, then the instances' */
	enum statement_id of;
	int64_t now_ns;
	bool retry_missing;
};

/* Queued, fetch, run, upload. */
enum phase { PHASE_QUEUED, PHASE_FETCH, PHASE_RUN, PHASE_UPLOAD, PHASE_COUNT };

/* As long as the tables are not ready; before the first transaction. */
#define DROPPINGS_IGNORED (-2)
#define DROPPINGS_UNREAD (-1)

struct source_stamp {
	int64_t bytes, mtime_s, mtime_ns;
};

struct store {
	struct sqlite3 *db;
	char *path;
	enum store_access access;
	struct err fault;  /* the transaction's first one: it cannot be committed any more */
	int64_t droppings; /* number of the last one that this handle knows of, or one below */
	struct sqlite3 *shipped;   /* of a source: the tables as the steps make them */
	struct source_stamp stamp; /* of a source: its file as it was opened */
	struct statement statements[ST_COUNT];

	/* Ids of names, good until a rollback: names are never deleted. */
	struct hashmap names;
	struct buf key, text, label; /* scratch of store_names.c and bind_text() */

	/* The run whose attempts are being stored, and its instance; 0: none. */
	int64_t run_id, instance_id;
	int64_t landed_run_id; /* a run that has nothing in flight; 0: none is known */
	struct totals *totals; /* of store_totals.c; NULL: nothing was added up yet */

	int64_t new_result_id; /* the first result of the transaction; 0: none yet */

	struct keyed keyed;
	struct wanted_batch wanted;
	struct allot *allot; /* of store_allot.c; NULL: nothing was allotted yet */

	char **foreign_views;
	size_t foreign_count;

	/* What out parameters of the last call borrow. */
	struct buf borrowed[3];
	struct instance_choice *candidates;
	size_t candidate_count;
	struct digest *digests;
};

/*
 * Sets err from the database's last error: "PATH: WHAT: why". Returns -1. A transaction
 * in which it was called cannot be committed.
 */
int db_error(struct store *store, const char *what, struct err *err);
/* Runs SQL without parameters or rows. */
int db_exec(struct store *store, const char *sql, struct err *err);

/* The statement, prepared at its first use, reset, all parameters NULL. */
struct statement *db_use(struct store *store, enum statement_id id, const char *sql);
void db_finalize(struct store *store);

/* Parameters are found by name. Texts and blobs are borrowed until the step is done. */
void bind_int(struct statement *s, const char *name, int64_t value);
void bind_real(struct statement *s, const char *name, double value);
void bind_text(struct statement *s, const char *name, struct str text);
void bind_blob(struct statement *s, const char *name, const void *data, size_t len);
/* Parameters :function, :hash and :size. */
void bind_digest(struct statement *s, const struct digest *digest);

/* 1: a row; 0: done (and reset); -1 (and reset). */
int db_step(struct statement *s, struct err *err);
/* A statement that always has a row: 0, at its first row; -1 (and reset). */
int db_row(struct statement *s, struct err *err);
/* A statement of one number, and reset: 1: *out_number; 0: it has no row; -1. */
int db_find(struct statement *s, int64_t *out_number, struct err *err);
/* A statement without rows: 0; -1. */
int db_done(struct statement *s, struct err *err);
void db_reset(struct statement *s);
/* Rows that the last statement wrote. */
int64_t db_changes(const struct store *store);
int64_t db_last_id(const struct store *store);

int64_t column_int(struct statement *s, int column); /* UNKNOWN for NULL */
struct str column_text(struct statement *s, int column);
struct str column_blob(struct statement *s, int column);
/* Columns function, hash, size_bytes, beginning at `column`. */
void column_digest(struct statement *s, int column, struct digest *out);

/*
 * Text as the tables hold it: itself where it is UTF-8 without NULs, else a copy
 * in *scratch with U+FFFD for each stray byte and NUL.
 */
struct str text_clean(struct str text, struct buf *scratch);

/* ---- between store*.c ---- */

enum name_table {
	NAME_PROJECT,
	NAME_PACKAGE,
	NAME_CONFIGURATION,
	NAME_CATEGORY,
	NAME_WORKER,
	NAME_PLATFORM,
	NAME_RULE,
	NAME_TABLES
};

/* The id of a name, which is made if need be. STR_NULL: '' */
int name_intern(struct store *store, enum name_table table, struct str name, int64_t *out_id,
		struct err *err);
/* The same; STR_NULL: UNKNOWN. */
int name_intern_or_null(struct store *store, enum name_table table, struct str name,
			int64_t *out_id, struct err *err);
int name_intern_instance(struct store *store, const char *cache, const char *name, int64_t *out_id,
			 struct err *err);
/* 1: *out_id; 0: there is none by that name; -1. */
int name_find_instance(struct store *store, const char *cache, const char *name, int64_t *out_id,
		       struct err *err);
int name_intern_action(struct store *store, const struct action_name *name, int64_t *out_id,
		       struct err *err);
int name_intern_request(struct store *store, const struct request_metadata *request,
			int64_t *out_id, struct err *err);
void name_forget(struct store *store);

/* Who refers to a digest: an action of a run. */
struct reference {
	int64_t run_id, seq, name_id;
};

/* Below 0: `a` is the better guess of a run's instance; 0: they are equal. */
int instance_order(const struct instance_choice *a, const struct instance_choice *b);
/*
 * The run's digests move to this function, those of its length, unless its log
 * names one itself.
 */
int run_move_function(struct store *store, int64_t run_id, enum digest_function function,
		      struct err *err);
/* The files that showed the run are to be proposed to again: something is stored of it. */
int run_propose_anew(struct store *store, int64_t run_id, struct err *err);
/* The run's instance_id, or UNKNOWN if it has none. */
int run_instance(struct store *store, int64_t run_id, int64_t *out_instance_id, struct err *err);

/* The lookup of a digest under an instance, made if need be; notes who refers to it. */
int lookup_intern(struct store *store, int64_t instance_id, const struct digest *digest,
		  const struct reference *from, int64_t *out_lookup_id, struct err *err);
/* Finds the lookup's earliest reference anew. */
int lookup_refer_anew(struct store *store, int64_t lookup_id, struct err *err);
/* The copies of its reference that its results keep for their indexes follow. */
int lookup_refer_results(struct store *store, int64_t lookup_id, struct err *err);

/* The id of pods of that name; it is made if need be. */
int pod_intern(struct store *store, struct str namespace, struct str name, int64_t *out_pod_id,
	       struct err *err);

/* Parameters :run, :span, :idx. */
void bind_attempt(struct statement *s, const struct attempt_key *key);
/* The blob that an attempt links becomes wanted. */
int historical_link(struct store *store, const struct attempt_key *key, const struct digest *blob,
		    struct err *err);
/*
 * The attempt has moved to this lookup: its result goes with it; a blob that was
 * not found under the other instance is wanted again.
 */
int historical_move(struct store *store, const struct attempt_key *key, int64_t lookup_id,
		    struct err *err);

/* Where a result hangs. */
struct result_owner {
	int64_t lookup_id;
	const struct attempt_key *attempt; /* of a historical one; else NULL */
	bool known; /* another attempt has the same execution: it is not summed up again */
};

/* What decides what an execution was given. */
struct execution {
	int64_t worker_id, lookup_id;
	int64_t start_ns; /* of its command; else of the worker's work, else when it was queued */
};

/* Inside a transaction: its row of allotment, which is made if need be; UNKNOWN: not known. */
int allot_find(struct store *store, const struct execution *execution, int64_t *out_id,
	       struct err *err);
/* The same for a stored result, whose row takes it. */
int allot_again(struct store *store, int64_t result_id, struct err *err);
/* The same for the result that hangs on an attempt, if there is one. */
int allot_attempt_again(struct store *store, const struct attempt_key *key, struct err *err);
/* More is known of a pod's containers: store_allot() is to look at its results. */
int allot_due_pod(struct store *store, struct str pod, struct err *err);
/* A transaction begins: forgets what another process may have changed. */
int allot_begin(struct store *store, struct err *err);
void allot_forget(struct store *store);
void allot_free(struct store *store);

/* Tables whose rows are sums, and the sums in other tables' rows. */
enum total_table {
	TOTAL_WORKER,
	TOTAL_REQUEST,
	TOTAL_BUCKET,
	TOTAL_PHASE,
	TOTAL_SIZE,
	TOTAL_BUSY,
	TOTAL_ACTIONS,
	TOTAL_TABLES
};

#define TOTAL_KEYS_MAX 5
#define TOTAL_VALUES_MAX 8

/* What is added to a row, in the order of store_totals.c's columns; the first one counts. */
struct total_row {
	int64_t table;			  /* enum total_table */
	int64_t keys[TOTAL_KEYS_MAX];	  /* never UNKNOWN; the rest 0 */
	int64_t values[TOTAL_VALUES_MAX]; /* UNKNOWN only where the least or greatest is kept */
};

/* Inside a transaction: the row has it at the COMMIT. */
int totals_add(struct store *store, const struct total_row *row, struct err *err);
/* Writes what was added since the last COMMIT. */
int totals_put(struct store *store, struct err *err);
void totals_forget(struct store *store);
void totals_free(struct store *store);

/* What is read back of a stored result: what its reference and the schema make of it. */
struct result_columns {
	int64_t category_id, project_id, bucket, memory_mib, centicores;
};

/* All these sums anew, inside a transaction; not those of packages. */
int sums_anew(struct store *store, struct err *err);

/* Makes or empties the temporary table gone_result, of ids of results that are to go. */
int gone_begin(struct store *store, struct err *err);
/* They go; their packages and invocations are due to be summed up. Other sums: sums_anew(). */
int gone_drop(struct store *store, struct err *err);
/* From the next transaction on: later ones stop where another process has dropped rows since. */
void droppings_watch(struct store *store);
/* Inside a transaction that has begun. -1: it has. */
int droppings_check(struct store *store, struct err *err);
/* This transaction dropped rows: others stop. */
int droppings_note(struct store *store, struct err *err);
/* 1: a prune dropped this run, and it is not to come back; 0; -1. */
int run_is_pruned(struct store *store, struct str trace_id, struct err *err);

/* What of a result the kept sums take up. UNKNOWN ids and values: none. */
struct summand {
	int64_t worker_id, request_id, allotment_id;
	struct result_columns columns; /* of a counted one */
	bool from_cache, counted, failed;
	int64_t wall_ns, cpu_ns, rss_bytes, first_ns, last_ns;
	int64_t phase_ns[PHASE_COUNT]; /* < 0: the clocks disagree */
};

/* A new result enters all sums. */
int sums_add(struct store *store, const struct summand *summand, struct err *err);
/* Around a change of a stored result's category, allotment or project: it moves in size_count and
 * busy_sum. */
int sizes_leave(struct store *store, int64_t result_id, struct err *err);
int sizes_join(struct store *store, int64_t result_id, struct err *err);

/* A result was put: its package's sums have it at the COMMIT. */
void package_sums_new(struct store *store, int64_t result_id);
/* Around a change of a stored result's package, project or allotment. */
int package_sums_move(struct store *store, int64_t result_id, struct err *err);
/* Writes what was put since the last COMMIT. */
int package_sums_put(struct store *store, struct err *err);
void package_sums_forget(struct store *store);

/* Before package_sums_put(): who had what was put executed is due to be summed up. */
int invocation_sums_put(struct store *store, struct err *err);
/* The same of an attempt's result, if there is one: it has moved to another lookup. */
int invocation_sums_move(struct store *store, const struct attempt_key *key, struct err *err);
/* The same of the results in gone_result, before they go. */
int invocation_sums_leave(struct store *store, struct err *err);

/* Stores a result with all its parts. 1; 0: the first one stays, or the lookup is gone; -1. */
int result_put(struct store *store, const struct result_owner *owner, const struct result *result,
	       struct err *err);

#endif

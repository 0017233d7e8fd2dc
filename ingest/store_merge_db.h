/* Between store_merge*.c: the work at hand, and rows read back into structs. */
#ifndef BR2_STORE_MERGE_DB_H
#define BR2_STORE_MERGE_DB_H

#include "store_db.h"
#include "store_merge.h"
#include "util/arena.h"

/* A result of the source that takes the place of a lookup's. */
struct conflict {
	int64_t from_result_id, lookup_id;
};

struct merge {
	struct store *into, *from;
	const struct merge_watch *watch;
	struct merge_tally *tally;
	size_t rows;	     /* since the last COMMIT */
	struct arena arena;  /* one action, path or result at a time */
	struct arena rarely; /* what a caller keeps while `arena` is used */
	struct conflict *conflicts;
	size_t conflict_count;
	int64_t from_run_id, into_run_id; /* the last pair that was asked for; 0: none */
};

/* Counts rows; commits a slice that is full, and begins the next one. */
int merge_rows(struct merge *merge, size_t rows, struct err *err);

/* This database's run of a source's run_id. 1; 0: it has none; -1. */
int merge_find_run(struct merge *merge, int64_t from_run_id, int64_t *out_run_id, struct err *err);

/* Each a part of a source; in a transaction of `into` but for what the header says. */
int merge_cluster(struct merge *merge, struct err *err); /* store_merge_cluster.c */
int merge_samples(struct merge *merge, struct err *err);
int merge_user(struct merge *merge, struct err *err); /* store_merge_user.c */
int merge_files(struct merge *merge, struct err *err);
int merge_runs(struct merge *merge, struct err *err); /* store_merge_run.c */
int merge_pruned(struct merge *merge, struct err *err);
int merge_lookups(struct merge *merge, struct err *err); /* store_merge_answer.c */
int merge_historical(struct merge *merge, struct err *err);

/* Below 0: the source's result is the one that stays; 0: it is the same. */
int merge_compare_results(struct merge *merge, int64_t from_result_id, int64_t into_result_id,
			  int *out_order, struct err *err); /* store_merge_conflict.c */
void merge_note_conflict(struct merge *merge, int64_t from_result_id, int64_t lookup_id);
/* What was noted is done: in one transaction, which is not to be cut into slices. */
int merge_conflicts(struct merge *merge, struct err *err);
/* The database's result of the action cache of a lookup. 1; 0; -1. */
int merge_find_result(struct merge *merge, int64_t lookup_id, int64_t *out_result_id,
		      struct err *err); /* store_merge_answer.c */

/* The actions of a run; `function`: their digests are of it, DIGEST_UNKNOWN: as they are. */
int merge_actions(struct merge *merge, int64_t from_run_id, int64_t run_id,
		  enum digest_function function, struct err *err); /* store_merge_action.c */
/* Those in flight, and those that will never end. */
int merge_flights(struct merge *merge, int64_t from_run_id, int64_t run_id, struct err *err);
/* The paths through its graph. */
int merge_graph(struct merge *merge, int64_t from_run_id, int64_t run_id, struct err *err);

/* A result of the source, all that it points to in merge->rarely; *out_usage.status 0: it has no
 * such row. 1; 0: there is none; -1. */
int merge_read_result(struct merge *merge, int64_t result_id, struct result *out,
		      struct result_usage *out_usage, struct err *err); /* store_merge_result.c */

/* ---- columns, one after the other ---- */

struct columns {
	struct statement *row;
	int at;
};

static inline int64_t next_int(struct columns *columns)
{
	return column_int(columns->row, columns->at++);
}

/* Borrowed until the statement's next step; NULL: STR_NULL. */
static inline struct str next_text(struct columns *columns)
{
	return column_text(columns->row, columns->at++);
}

/* Five columns: buck_package, package, category, identifier, configuration; borrowed. */
void next_name(struct columns *columns, struct action_name *out);
/*
 * Three columns: function, hash, size_bytes; none where hash is NULL. -1: it is
 * none that a log or a cache could name.
 */
int next_digest(struct columns *columns, struct digest *out, struct err *err);
/* A copy in the arena; STR_NULL stays so. -1: more than one record can hold. */
int keep_text(struct merge *merge, struct arena *arena, struct str text, struct str *out,
	      struct err *err);
/* Room for `count` items, zeroed; NULL (err set) where that is too much. */
void *keep_room(struct merge *merge, struct arena *arena, size_t count, size_t size,
		struct err *err);

/* For SELECTs of next_name(), from an action_name n. */
#define NAME_COLUMNS "t.buck_package, p.name, c.name, n.identifier, f.name"
#define NAME_JOINS(join)                                        \
	" " join " target t ON t.target_id = n.target_id " join \
	" package p ON p.package_id = t.package_id " join       \
	" category c ON c.category_id = n.category_id " join    \
	" configuration f ON f.configuration_id = n.configuration_id"

#endif

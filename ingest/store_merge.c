#include "store_merge.h"

#include "store_merge_db.h"
#include "store_source.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* One action of a log fits a record of 16 MiB; text as the tables hold it may be three times that.
 */
#define ARENA_MAX ((size_t)48 << 20)

/* ---- slices ---- */

int merge_rows(struct merge *merge, size_t rows, struct err *err)
{
	merge->rows += rows;
	if (merge->rows < STORE_SLICE_ACTIONS)
		return 0;
	merge->rows = 0;
	if (store_commit(merge->into, err) < 0 || store_key_lookups(merge->into, err) < 0)
		return -1;
	merge->watch->progress(merge->watch->context, merge->tally);
	return store_begin(merge->into, err);
}

/* A part in transactions of its own. */
static int in_slices(struct merge *merge, int (*part)(struct merge *merge, struct err *err),
		     struct err *err)
{
	if (store_begin(merge->into, err) < 0)
		return -1;
	if (part(merge, err) < 0) {
		store_rollback(merge->into);
		return -1;
	}
	merge->rows = 0;
	return store_commit(merge->into, err) < 0 ? -1 : store_key_lookups(merge->into, err);
}

/* ---- columns ---- */

void next_name(struct columns *columns, struct action_name *out)
{
	out->buck_package = next_text(columns);
	out->target = next_text(columns);
	out->category = next_text(columns);
	out->identifier = next_text(columns);
	out->configuration = next_text(columns);
}

int next_digest(struct columns *columns, struct digest *out, struct err *err)
{
	struct str hash = column_blob(columns->row, columns->at + 1);

	column_digest(columns->row, columns->at, out);
	columns->at += 3;
	if (!hash.data && !hash.len)
		return 0;
	if (hash.len >= 2 && hash.len <= DIGEST_HASH_MAX)
		return 0;
	return err_set(err, ERR_DB, "%s: damaged: a digest of %zu bytes", columns->row->store->path,
		       hash.len);
}

void *keep_room(struct merge *merge, struct arena *arena, size_t count, size_t size,
		struct err *err)
{
	void *room = NULL;

	if (count < ARENA_MAX / size)
		room = arena_alloc(arena, count * size + 1);
	if (room)
		memset(room, 0, count * size + 1);
	else
		err_set(err, ERR_LIMIT, "%s: a row of it is larger than any log's record can be",
			merge->from->path);
	return room;
}

int keep_text(struct merge *merge, struct arena *arena, struct str text, struct str *out,
	      struct err *err)
{
	char *copy;

	*out = STR_NULL;
	if (!text.data)
		return 0;
	copy = keep_room(merge, arena, text.len, 1, err);
	if (!copy)
		return -1;
	memcpy(copy, text.data, text.len);
	*out = (struct str){copy, text.len};
	return 0;
}

/* ---- runs by their trace ids ---- */

static int find_by_trace(struct merge *merge, struct str trace_id, int64_t *out_run_id,
			 struct err *err)
{
	struct statement *s = db_use(merge->into, ST_INTO_RUN,
				     "SELECT run_id FROM run WHERE trace_id = :trace_id");

	bind_text(s, ":trace_id", trace_id);
	return db_find(s, out_run_id, err);
}

/* Rows come run by run, as a rule. */
int merge_find_run(struct merge *merge, int64_t from_run_id, int64_t *out_run_id, struct err *err)
{
	struct statement *s;
	int found;

	*out_run_id = merge->into_run_id;
	if (merge->from_run_id == from_run_id)
		return 1;
	s = db_use(merge->from, ST_FROM_TRACE, "SELECT trace_id FROM run WHERE run_id = :run");
	bind_int(s, ":run", from_run_id);
	found = db_step(s, err);
	if (found > 0)
		found = find_by_trace(merge, column_text(s, 0), out_run_id, err);
	db_reset(s);
	if (found > 0) {
		merge->from_run_id = from_run_id;
		merge->into_run_id = *out_run_id;
	}
	return found;
}

/* ---- the whole ---- */

static int merge_all(struct merge *merge, struct err *err)
{
	if (in_slices(merge, merge_cluster, err) < 0 || in_slices(merge, merge_user, err) < 0 ||
	    store_allot(merge->into, err) < 0 || in_slices(merge, merge_runs, err) < 0 ||
	    in_slices(merge, merge_pruned, err) < 0 || in_slices(merge, merge_lookups, err) < 0 ||
	    in_slices(merge, merge_conflicts, err) < 0 ||
	    in_slices(merge, merge_historical, err) < 0 ||
	    in_slices(merge, merge_samples, err) < 0 || source_unchanged(merge->from, err) < 0)
		return -1;
	if (in_slices(merge, merge_files, err) < 0 || store_allot(merge->into, err) < 0)
		return -1;
	if (store_sum_packages(merge->into, err) < 0)
		return -1;
	return store_sum_invocations(merge->into, err);
}

int store_merge(struct store *into, struct store *from, const struct merge_watch *watch,
		struct merge_tally *tally, struct err *err)
{
	struct merge merge = {.into = into, .from = from, .watch = watch, .tally = tally};
	int rc;

	arena_init(&merge.arena, ARENA_MAX);
	arena_init(&merge.rarely, ARENA_MAX);
	rc = merge_all(&merge, err);
	free(merge.conflicts);
	arena_release(&merge.arena);
	arena_release(&merge.rarely);
	return rc;
}

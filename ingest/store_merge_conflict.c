/*
 * Two results of one digest: the action cache had another one later. An ingest that
 * finds one never asks again, so the first one stays; that is the one of the earlier
 * execution, whichever database has it. Few, as a rule: all in one transaction, at
 * whose end the kept sums are made anew.
 */
#include "store_merge_db.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void merge_note_conflict(struct merge *merge, int64_t from_result_id, int64_t lookup_id)
{
	merge->conflicts = xreallocarray(merge->conflicts, merge->conflict_count + 1,
					 sizeof(*merge->conflicts));
	merge->conflicts[merge->conflict_count++] = (struct conflict){from_result_id, lookup_id};
}

/* In an order that both databases agree on; what is not known comes last. */
#define ORDER                                                                                   \
	"t.base_ns IS NULL, ifnull(t.base_ns, 0), ifnull(r.wall_ns, -1), ifnull(r.cpu_ns, -1)," \
	" ifnull(r.max_rss_bytes, -1), ifnull(r.exit_code, -1), ifnull(w.name, '')"
#define ORDER_COUNT 7

struct place {
	int64_t numbers[ORDER_COUNT - 1];
	struct str worker; /* borrowed from the statement, which is not reset */
};

static struct statement *read_place(struct store *store, enum statement_id id, int64_t result_id,
				    struct place *out, struct err *err)
{
	struct statement *s = db_use(store, id,
				     "SELECT " ORDER " FROM result r"
				     " LEFT JOIN result_time t ON t.result_id = r.result_id"
				     " LEFT JOIN worker w ON w.worker_id = r.worker_id"
				     " WHERE r.result_id = :result");
	int i;

	bind_int(s, ":result", result_id);
	if (db_row(s, err) < 0)
		return NULL;
	for (i = 0; i < ORDER_COUNT - 1; i++)
		out->numbers[i] = column_int(s, i);
	out->worker = column_text(s, ORDER_COUNT - 1);
	return s;
}

static int compare_texts(struct str a, struct str b)
{
	int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_places(const struct place *a, const struct place *b)
{
	size_t i;

	for (i = 0; i < ORDER_COUNT - 1; i++)
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] < b->numbers[i] ? -1 : 1;
	return compare_texts(a->worker, b->worker);
}

int merge_compare_results(struct merge *merge, int64_t from_result_id, int64_t into_result_id,
			  int *out_order, struct err *err)
{
	struct place theirs, ours;
	struct statement *from =
		read_place(merge->from, ST_FROM_PLACE, from_result_id, &theirs, err);
	struct statement *into =
		from ? read_place(merge->into, ST_INTO_PLACE, into_result_id, &ours, err) : NULL;

	if (into) {
		*out_order = compare_places(&theirs, &ours);
		db_reset(into);
	}
	if (from)
		db_reset(from);
	return into ? 0 : -1;
}

/* ---- the earlier one takes its place ---- */

static int choose_gone(struct merge *merge, struct err *err)
{
	size_t i;

	if (gone_begin(merge->into, err) < 0)
		return -1;
	for (i = 0; i < merge->conflict_count; i++) {
		struct statement *s = db_use(merge->into, ST_INTO_GONE,
					     "INSERT INTO gone_result SELECT result_id FROM result"
					     " WHERE lookup_id = :lookup AND source = 1"
					     " ON CONFLICT DO NOTHING");

		bind_int(s, ":lookup", merge->conflicts[i].lookup_id);
		if (db_done(s, err) < 0)
			return -1;
	}
	return 0;
}

static int put_earlier(struct merge *merge, const struct conflict *conflict, struct err *err)
{
	struct result result;
	struct result_usage usage;
	int found = merge_read_result(merge, conflict->from_result_id, &result, &usage, err);

	if (found <= 0)
		return found;
	if (store_put_result(merge->into, conflict->lookup_id, &result, err) < 0)
		return -1;
	if (!usage.status)
		return 0;
	found = merge_find_result(merge, conflict->lookup_id, &usage.result_id, err);
	return found > 0 ? store_put_result_usage(merge->into, &usage, err) : found;
}

/* A worker or request whose last result went has no row, as if it had never been met. */
#define DROP_NAMES                                                                     \
	"DELETE FROM worker WHERE results = 0 AND worker_id NOT IN (SELECT worker_id"  \
	" FROM result WHERE worker_id IS NOT NULL);"                                   \
	"DELETE FROM request WHERE results = 0 AND NOT EXISTS (SELECT 1 FROM result r" \
	" WHERE r.request_id = request.request_id)"

int merge_conflicts(struct merge *merge, struct err *err)
{
	size_t i;

	if (!merge->conflict_count)
		return 0;
	if (choose_gone(merge, err) < 0 || gone_drop(merge->into, err) < 0)
		return -1;
	for (i = 0; i < merge->conflict_count; i++)
		if (put_earlier(merge, &merge->conflicts[i], err) < 0)
			return -1;
	if (sums_anew(merge->into, err) < 0 || db_exec(merge->into, DROP_NAMES, err) < 0)
		return -1;
	name_forget(merge->into);
	return droppings_note(merge->into, err);
}

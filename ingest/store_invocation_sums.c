/*
 * What invocations' executions add up to over time: a sum of moments, which no later
 * result can be added to. An invocation whose results change is noted in invocation_due,
 * and the views make its figures themselves until store_sum_invocations() has kept them.
 * check_invocation_sums.sql looks whether they are right.
 */
#include "store_db.h"

#define NOTE                                                                   \
	"INSERT INTO invocation_due (invocation) SELECT DISTINCT q.invocation" \
	" FROM result r CROSS JOIN request q ON q.request_id = r.request_id"   \
	" WHERE q.invocation IS NOT NULL AND q.invocation NOT IN"              \
	" (SELECT invocation FROM invocation_due) AND "

int invocation_sums_put(struct store *store, struct err *err)
{
	struct statement *s;

	if (!store->new_result_id)
		return 0;
	s = db_use(store, ST_INVOCATION_NEW, NOTE "r.result_id >= :first");
	bind_int(s, ":first", store->new_result_id);
	return db_done(s, err);
}

int invocation_sums_move(struct store *store, const struct attempt_key *key, struct err *err)
{
	struct statement *s =
		db_use(store, ST_INVOCATION_MOVED,
		       NOTE "r.source = 2 AND r.attempt_run_id = :run"
			    " AND r.attempt_span_id = :span AND r.attempt_idx = :idx");

	bind_attempt(s, key);
	return db_done(s, err);
}

int invocation_sums_leave(struct store *store, struct err *err)
{
	return db_exec(store, NOTE "r.result_id IN (SELECT id FROM gone_result)", err);
}

/* ---- summing up anew ---- */

/* 1; 0: none is due; -1. */
static int first_due(struct store *store, struct buf *out, struct err *err)
{
	struct statement *s =
		db_use(store, ST_INVOCATION_DUE_FIRST,
		       "SELECT invocation FROM invocation_due ORDER BY invocation LIMIT 1");
	int found = db_step(s, err);

	buf_clear(out);
	if (found > 0)
		buf_add(out, column_text(s, 0).data, column_text(s, 0).len);
	db_reset(s);
	return found;
}

static int with_invocation(struct statement *s, const struct buf *invocation, struct err *err)
{
	bind_text(s, ":invocation", (struct str){invocation->data, invocation->len});
	return db_done(s, err);
}

/* As a parameter: compared with a subquery, the view would be made of all. Where all results are
 * gone it has no row. */
static int sum_anew(struct store *store, const struct buf *invocation, struct err *err)
{
	if (with_invocation(db_use(store, ST_INVOCATION_SUM_DROP,
				   "DELETE FROM invocation_sum WHERE invocation = :invocation"),
			    invocation, err) < 0 ||
	    with_invocation(db_use(store, ST_INVOCATION_SUM_ANEW,
				   "INSERT INTO invocation_sum SELECT * FROM _invocation_made"
				   " WHERE invocation = :invocation"),
			    invocation, err) < 0)
		return -1;
	return with_invocation(db_use(store, ST_INVOCATION_DUE_DROP,
				      "DELETE FROM invocation_due WHERE invocation = :invocation"),
			       invocation, err);
}

/* One after the other, so that no more moments than one's are sorted at a time. 1; 0: none was due;
 * -1. */
static int sum_first(struct store *store, struct buf *scratch, struct err *err)
{
	int found;

	if (store_begin(store, err) < 0)
		return -1;
	found = first_due(store, scratch, err);
	if (found < 0 || (found > 0 && sum_anew(store, scratch, err) < 0)) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err) < 0 ? -1 : found;
}

int store_sum_invocations(struct store *store, struct err *err)
{
	struct buf scratch = BUF_INIT;
	int found = first_due(store, &scratch, err);

	while (found > 0)
		found = sum_first(store, &scratch, err);
	buf_release(&scratch);
	return found;
}

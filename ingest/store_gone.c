/*
 * Rows that go, and who must know of it. Results go with all their parts, and out of
 * the sums of their packages and invocations.
 */
#include "store_db.h"

int gone_begin(struct store *store, struct err *err)
{
	return db_exec(store,
		       "CREATE TEMP TABLE IF NOT EXISTS gone_result (id INTEGER PRIMARY KEY);"
		       "DELETE FROM gone_result",
		       err);
}

static int leave_packages(struct store *store, struct err *err)
{
	return db_exec(store,
		       "INSERT INTO package_due (package_id) SELECT DISTINCT package_id FROM result"
		       " WHERE result_id IN (SELECT id FROM gone_result) ON CONFLICT DO NOTHING;"
		       "DELETE FROM package_sum WHERE package_id IN"
		       " (SELECT package_id FROM package_due)",
		       err);
}

/* Its own row last. */
int gone_drop(struct store *store, struct err *err)
{
	static const char *const tables[] = {
		"result_time",	    "rusage",		"file_pool_usage",
		"input_root_usage", "expense",		"aux_message",
		"implausible",	    "result_container", "result"};
	struct buf sql = BUF_INIT;
	size_t i;
	int rc;

	if (leave_packages(store, err) < 0 || invocation_sums_leave(store, err) < 0)
		return -1;
	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		buf_addf(&sql, "DELETE FROM %s WHERE result_id IN (SELECT id FROM gone_result);",
			 tables[i]);
	rc = db_exec(store, sql.data, err);
	buf_release(&sql);
	return rc;
}

/* ---- who has the database open meanwhile ---- */

static int count_droppings(struct store *store, int64_t *out, struct err *err)
{
	struct statement *s =
		db_use(store, ST_DROPPINGS, "SELECT ifnull(max(dropping_id), 0) FROM dropping");

	if (db_row(s, err) < 0)
		return -1;
	*out = column_int(s, 0);
	db_reset(s);
	return 0;
}

void droppings_watch(struct store *store)
{
	store->droppings = DROPPINGS_UNREAD;
}

int droppings_check(struct store *store, struct err *err)
{
	int64_t now;

	if (store->droppings == DROPPINGS_IGNORED)
		return 0;
	if (count_droppings(store, &now, err) < 0)
		return -1;
	if (store->droppings == DROPPINGS_UNREAD)
		store->droppings = now;
	if (now == store->droppings)
		return 0;
	return err_set(err, ERR_DB,
		       "%s: another program has dropped rows meanwhile: run this once more",
		       store->path);
}

/* Its own handle knows: if the transaction fails it stops, too, which does no harm. */
int droppings_note(struct store *store, struct err *err)
{
	if (db_exec(store, "INSERT INTO dropping DEFAULT VALUES", err) < 0)
		return -1;
	return count_droppings(store, &store->droppings, err);
}

#include "store_prune.h"

#include "store_db.h"

#include <sqlite3.h>

/* ---- what goes ---- */

/*
 * pruned: the runs; gone_lookup: digests that only they need; moved: digests that now
 * belong to another reference. In a temporary database, as gone_result of store_gone.c.
 */
#define SETS                                                                    \
	"CREATE TEMP TABLE IF NOT EXISTS pruned (id INTEGER PRIMARY KEY);"      \
	"CREATE TEMP TABLE IF NOT EXISTS needed (id INTEGER PRIMARY KEY);"      \
	"CREATE TEMP TABLE IF NOT EXISTS gone_lookup (id INTEGER PRIMARY KEY);" \
	"CREATE TEMP TABLE IF NOT EXISTS moved (id INTEGER PRIMARY KEY);"       \
	"DELETE FROM pruned; DELETE FROM needed; DELETE FROM gone_lookup;"      \
	"DELETE FROM moved"

static int choose_old(struct store *store, const struct prune_options *options, struct err *err)
{
	struct statement *s = db_use(store, ST_PRUNE_OLD,
				     "INSERT INTO pruned SELECT r.run_id FROM run r"
				     " JOIN project p ON p.project_id = r.project_id"
				     " WHERE r.start_ns < :before"
				     " AND (:project IS NULL OR p.name = :project)");

	bind_int(s, ":before", options->before_ns);
	bind_text(s, ":project", str_of(options->project));
	return db_done(s, err);
}

/*
 * Old runs that executed what a young one refers to stay. What those in turn refer
 * to does not keep others: else one run could keep all before it.
 */
#define SPARE_NEEDED                                                                              \
	"INSERT INTO needed SELECT r.run_id FROM run r WHERE r.run_id IN (SELECT id FROM pruned)" \
	" AND EXISTS (SELECT 1 FROM request q JOIN result s ON s.request_id = q.request_id"       \
	" JOIN attempt a ON a.lookup_id = s.lookup_id WHERE q.invocation = r.trace_id"            \
	" AND a.run_id NOT IN (SELECT id FROM pruned));"                                          \
	"DELETE FROM pruned WHERE id IN (SELECT id FROM needed)"

/* A digest's first run is pruned with it, or another one of its runs takes it over. */
#define CHOOSE_REST                                                                          \
	"INSERT INTO gone_lookup SELECT l.lookup_id FROM lookup l"                           \
	" WHERE l.first_run_id IN (SELECT id FROM pruned) AND NOT EXISTS (SELECT 1"          \
	" FROM attempt a WHERE a.lookup_id = l.lookup_id"                                    \
	" AND a.run_id NOT IN (SELECT id FROM pruned));"                                     \
	"INSERT INTO moved SELECT lookup_id FROM lookup WHERE first_run_id IN"               \
	" (SELECT id FROM pruned) AND lookup_id NOT IN (SELECT id FROM gone_lookup);"        \
	"INSERT INTO gone_result SELECT result_id FROM result WHERE lookup_id IN (SELECT id" \
	" FROM gone_lookup) OR (source = 2 AND attempt_run_id IN (SELECT id FROM pruned))"

static int count_all(struct store *store, struct prune_tally *out, struct err *err)
{
	struct statement *s =
		db_use(store, ST_PRUNE_COUNT,
		       "SELECT (SELECT count(*) FROM pruned), (SELECT ifnull(sum(actions), 0)"
		       " FROM action_count WHERE run_id IN (SELECT id FROM pruned)),"
		       " (SELECT count(*) FROM attempt WHERE run_id IN (SELECT id FROM pruned)),"
		       " (SELECT count(*) FROM gone_lookup), (SELECT count(*) FROM gone_result),"
		       " (SELECT count(*) FROM needed),"
		       " (SELECT count(*) FROM run WHERE start_ns IS NULL)");

	if (db_row(s, err) < 0)
		return -1;
	out->runs = column_int(s, 0);
	out->actions = column_int(s, 1);
	out->attempts = column_int(s, 2);
	out->digests = column_int(s, 3);
	out->results = column_int(s, 4);
	out->needed = column_int(s, 5);
	out->undated = column_int(s, 6);
	db_reset(s);
	return 0;
}

static int choose(struct store *store, const struct prune_options *options,
		  struct prune_tally *tally, struct err *err)
{
	if (db_exec(store, SETS, err) < 0 || gone_begin(store, err) < 0 ||
	    choose_old(store, options, err) < 0 || db_exec(store, SPARE_NEEDED, err) < 0 ||
	    db_exec(store, CHOOSE_REST, err) < 0)
		return -1;
	return count_all(store, tally, err);
}

/* ---- going ---- */

#define OF_RUN(table) "DELETE FROM " table " WHERE run_id IN (SELECT id FROM pruned);"

static const char drop_rows[] =
	"INSERT INTO pruned_run (trace_id) SELECT trace_id FROM run"
	" WHERE run_id IN (SELECT id FROM pruned);" OF_RUN("attempt_stderr") OF_RUN("attempt_text")
		OF_RUN("attempt_digest") OF_RUN("historical") OF_RUN("attempt")
			OF_RUN("action_text") OF_RUN("action_count") OF_RUN("action")
				OF_RUN("in_flight") OF_RUN("cancelled_span") OF_RUN("path_step")
					OF_RUN("build_graph") OF_RUN("instance_candidate")
						OF_RUN("run_log") OF_RUN("run_config");

/* Numbers of the newest ones are given again: no batch beyond them has its keys. */
static const char drop_lookups[] =
	"DELETE FROM lookup_key WHERE (key, lookup_id) IN (SELECT digest_key, lookup_id"
	" FROM lookup WHERE lookup_id IN (SELECT id FROM gone_lookup));"
	"DELETE FROM lookup WHERE lookup_id IN (SELECT id FROM gone_lookup);"
	"UPDATE lookup_keyed SET (until_batch, due_batch) = (SELECT min(until_batch, newest),"
	" min(due_batch, newest) FROM (SELECT ifnull((SELECT batch FROM lookup"
	" ORDER BY lookup_id DESC LIMIT 1), 0) AS newest))";

/* After digests have found who refers to them first now. */
static const char drop_runs[] = OF_RUN(
	"run") "DELETE FROM worker WHERE worker_id NOT IN (SELECT worker_id FROM result"
	       " WHERE worker_id IS NOT NULL);"
	       "DELETE FROM request WHERE NOT EXISTS (SELECT 1 FROM result r"
	       " WHERE r.request_id = request.request_id);"
	       "DELETE FROM action_name WHERE name_id NOT IN (SELECT name_id FROM action"
	       " UNION SELECT name_id FROM lookup UNION SELECT name_id FROM result"
	       " UNION SELECT name_id FROM in_flight"
	       " UNION SELECT name_id FROM path_step WHERE name_id IS NOT NULL);"
	       "DELETE FROM target WHERE target_id NOT IN (SELECT target_id FROM action_name);"
	       "DELETE FROM package WHERE package_id NOT IN (SELECT package_id FROM target"
	       " UNION SELECT package_id FROM result UNION SELECT package_id FROM package_due);"
	       "DELETE FROM configuration WHERE configuration_id NOT IN"
	       " (SELECT configuration_id FROM action_name);"
	       "DELETE FROM platform WHERE platform_id NOT IN (SELECT platform_id FROM attempt"
	       " WHERE platform_id IS NOT NULL)";

static int refer_anew(struct store *store, struct err *err)
{
	struct statement *s = db_use(store, ST_PRUNE_MOVED, "SELECT id FROM moved");
	int more;

	while ((more = db_step(s, err)) > 0)
		if (lookup_refer_anew(store, column_int(s, 0), err) < 0) {
			db_reset(s);
			return -1;
		}
	return more;
}

static int free_bytes(struct store *store, int64_t *out, struct err *err)
{
	struct statement *s = db_use(store, ST_FREE_BYTES,
				     "SELECT f.freelist_count * p.page_size FROM"
				     " pragma_freelist_count f, pragma_page_size p");

	if (db_row(s, err) < 0)
		return -1;
	*out = column_int(s, 0);
	db_reset(s);
	return 0;
}

/* What is gathered for kept sums is written before they are made anew. */
static int drop(struct store *store, struct prune_tally *tally, struct err *err)
{
	int64_t before, after;

	if (free_bytes(store, &before, err) < 0 || gone_drop(store, err) < 0 ||
	    db_exec(store, drop_rows, err) < 0 || db_exec(store, drop_lookups, err) < 0 ||
	    refer_anew(store, err) < 0 || sums_anew(store, err) < 0 ||
	    db_exec(store, drop_runs, err) < 0 || free_bytes(store, &after, err) < 0)
		return -1;
	tally->freed_bytes = after - before;
	name_forget(store);
	return droppings_note(store, err);
}

static int prune(struct store *store, const struct prune_options *options,
		 struct prune_tally *tally, struct err *err)
{
	if (choose(store, options, tally, err) < 0)
		return -1;
	if (!tally->runs)
		return 0;
	return drop(store, tally, err);
}

int store_prune(struct store *store, const struct prune_options *options,
		struct prune_tally *out_tally, struct err *err)
{
	*out_tally = (struct prune_tally){0};
	if (store_begin(store, err) < 0)
		return -1;
	if (prune(store, options, out_tally, err) < 0) {
		store_rollback(store);
		return -1;
	}
	if (options->dry_run) {
		store_rollback(store);
		return 0;
	}
	/* Also where nothing is old: a prune was killed before it came to this. */
	if (store_commit(store, err) < 0 || store_sum_packages(store, err) < 0)
		return -1;
	return store_sum_invocations(store, err);
}

/* ---- runs that are not to come back ---- */

int run_is_pruned(struct store *store, struct str trace_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_PRUNED, "SELECT 1 FROM pruned_run WHERE trace_id = :trace_id");
	int found;

	bind_text(s, ":trace_id", trace_id);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

/* ---- the file ---- */

static int file_bytes(struct store *store, int64_t *out, struct err *err)
{
	struct statement *s = db_use(store, ST_FILE_BYTES,
				     "SELECT c.page_count * p.page_size FROM pragma_page_count c,"
				     " pragma_page_size p");

	if (db_row(s, err) < 0)
		return -1;
	*out = column_int(s, 0);
	db_reset(s);
	return 0;
}

/* It writes to a second database, which it attaches, with a cache of the same size. */
static int vacuum(struct store *store, struct err *err)
{
	int limit = sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 1);
	int rc = db_exec(store, "PRAGMA cache_size = -4096; PRAGMA shrink_memory; VACUUM", err);

	sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, limit);
	return rc;
}

int store_compact(struct store *store, bool wanted, int64_t *out_before, int64_t *out_after,
		  struct err *err)
{
	int64_t unused;

	if (file_bytes(store, out_before, err) < 0 || free_bytes(store, &unused, err) < 0)
		return -1;
	*out_after = *out_before;
	if (!wanted && unused < *out_before / 8)
		return 0;
	if (vacuum(store, err) < 0)
		return -1;
	return file_bytes(store, out_after, err);
}

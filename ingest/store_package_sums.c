/*
 * Sums of packages' counted results, by project and of all projects. New results are added
 * before the COMMIT, all of a slice at once: they are the ones with the largest ids. Where a
 * stored result moves, a largest value could not be taken back; so the sums of its package
 * are dropped and the package is noted in package_due, and the views add its results up
 * themselves until store_sum_packages() has. check_package_sums.sql says the same in SQL alone.
 */
#include "store_db.h"

/* Packages that are summed up anew in one transaction. */
#define SLICE "256"

/* What results add up to, each once of its project and once of all. */
#define PARTS_OF(results)                                                                   \
	"INSERT INTO package_sum (project_id, package_id, limit_bytes, results, unknown,"   \
	" wall_s, wall_rest_ns, cpu_s, cpu_rest_ns, wall_max_ns, rss_max_bytes, cores_max)" \
	" SELECT iif(k.is_all, 0, r.project_id), r.package_id,"                             \
	" ifnull(a.memory_limit_bytes, 0), count(*), sum(r.max_rss_bytes IS NULL),"         \
	" sum(ifnull(r.wall_ns, 0) / 1000000000), sum(ifnull(r.wall_ns, 0) % 1000000000),"  \
	" sum(r.cpu_ns / 1000000000), sum(r.cpu_ns % 1000000000), max(r.wall_ns),"          \
	" max(r.max_rss_bytes), max(r.cores) FROM " results                                 \
	" CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k"                             \
	" LEFT JOIN allotment a ON a.allotment_id = r.allotment_id"                         \
	" WHERE r.source = 1 AND r.cpu_ns IS NOT NULL"
#define PARTS_NEW                                                       \
	" AND r.result_id >= :first"                                    \
	" AND r.package_id NOT IN (SELECT package_id FROM package_due)" \
	" GROUP BY 1, 2, 3"
#define DUE_SLICE "(SELECT package_id FROM package_due ORDER BY package_id LIMIT " SLICE ")"

/* They join what is there; NULL: not known of one of both. */
#define GREATEST(of) of " = coalesce(max(" of ", excluded." of "), " of ", excluded." of ")"
#define PARTS_JOIN                                                      \
	" ON CONFLICT DO UPDATE SET"                                    \
	" results = results + excluded.results,"                        \
	" unknown = unknown + excluded.unknown,"                        \
	" wall_s = wall_s + excluded.wall_s,"                           \
	" wall_rest_ns = wall_rest_ns + excluded.wall_rest_ns,"         \
	" cpu_s = cpu_s + excluded.cpu_s,"                              \
	" cpu_rest_ns = cpu_rest_ns + excluded.cpu_rest_ns, " GREATEST( \
		"wall_max_ns") ", " GREATEST("rss_max_bytes") ", " GREATEST("cores_max")

void package_sums_new(struct store *store, int64_t result_id)
{
	if (!store->new_result_id)
		store->new_result_id = result_id;
}

void package_sums_forget(struct store *store)
{
	store->new_result_id = 0;
}

int package_sums_put(struct store *store, struct err *err)
{
	struct statement *s;

	if (!store->new_result_id)
		return 0;
	s = db_use(store, ST_PACKAGE_SUM_ADD, PARTS_OF("result r") PARTS_NEW PARTS_JOIN);
	bind_int(s, ":first", store->new_result_id);
	if (db_done(s, err) < 0)
		return -1;
	package_sums_forget(store);
	return 0;
}

/* ---- stored results that move ---- */

static int drop_sums(struct store *store, int64_t result_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_PACKAGE_SUM_DROP,
		       "DELETE FROM package_sum WHERE package_id ="
		       " (SELECT package_id FROM result WHERE result_id = :result)"
		       " AND project_id IN (SELECT 0 UNION ALL SELECT project_id FROM project)");

	bind_int(s, ":result", result_id);
	return db_done(s, err);
}

/* A result that is new in this transaction enters at its end, as it is by then. */
int package_sums_move(struct store *store, int64_t result_id, struct err *err)
{
	struct statement *s;

	if (store->new_result_id && result_id >= store->new_result_id)
		return 0;
	s = db_use(store, ST_PACKAGE_DUE_PUT,
		   "INSERT INTO package_due (package_id) SELECT package_id FROM result"
		   " WHERE result_id = :result AND source = 1 AND cpu_ns IS NOT NULL"
		   " ON CONFLICT DO NOTHING");
	bind_int(s, ":result", result_id);
	if (db_done(s, err) < 0)
		return -1;
	return db_changes(store) ? drop_sums(store, result_id, err) : 0;
}

/* ---- summing up anew ---- */

static int is_due(struct store *store, struct err *err)
{
	struct statement *s =
		db_use(store, ST_PACKAGE_DUE_ANY, "SELECT 1 FROM package_due LIMIT 1");
	int found = db_step(s, err);

	db_reset(s);
	return found;
}

static int sum_slice(struct store *store, struct err *err)
{
	if (db_done(db_use(store, ST_PACKAGE_SUM_ANEW,
			   PARTS_OF(DUE_SLICE
				    " d CROSS JOIN result r INDEXED BY result_package"
				    " ON r.package_id = d.package_id") " GROUP BY 1, 2, 3"),
		    err) < 0)
		return -1;
	return db_done(db_use(store, ST_PACKAGE_DUE_DROP,
			      "DELETE FROM package_due WHERE package_id IN " DUE_SLICE),
		       err);
}

int store_sum_packages(struct store *store, struct err *err)
{
	int due;

	while ((due = is_due(store, err)) > 0) {
		if (store_begin(store, err) < 0)
			return -1;
		if (sum_slice(store, err) < 0) {
			store_rollback(store);
			return -1;
		}
		if (store_commit(store, err) < 0)
			return -1;
	}
	return due;
}

/*
 * Sums that the ingest keeps beside results: by worker, by executing invocation,
 * by class of wall time, by phase, how many have which size, and what workers were busy
 * with. As indexes they would cost more than the results themselves. check_sums.sql says the same
 * in SQL alone.
 */
#include "store_db.h"

#include <string.h>

/* Sums of hostile numbers stop at the largest integer. */
static void bind_counted(struct statement *s, const struct summand *summand)
{
	bool counted = summand->counted;

	bind_int(s, ":counted", counted);
	bind_int(s, ":wall_ns", counted && summand->wall_ns != UNKNOWN ? summand->wall_ns : 0);
	bind_int(s, ":cpu_ns", counted ? summand->cpu_ns : 0);
}

static int add_to_worker(struct store *store, const struct summand *summand, struct err *err)
{
	struct statement *s;

	if (summand->worker_id == UNKNOWN)
		return 0;
	s = db_use(store, ST_WORKER_ADD,
		   "UPDATE worker SET results = results + 1, with_usage = with_usage + :counted,"
		   " wall_ns = wall_ns + min(:wall_ns, 9223372036854775807 - wall_ns),"
		   " cpu_ns = cpu_ns + min(:cpu_ns, 9223372036854775807 - cpu_ns),"
		   " failed = failed + :failed,"
		   " rss_min_bytes = coalesce(min(rss_min_bytes, :rss), rss_min_bytes, :rss),"
		   " rss_max_bytes = coalesce(max(rss_max_bytes, :rss), rss_max_bytes, :rss)"
		   " WHERE worker_id = :worker");
	bind_counted(s, summand);
	bind_int(s, ":failed", summand->failed);
	bind_int(s, ":rss", summand->rss_bytes);
	bind_int(s, ":worker", summand->worker_id);
	return db_done(s, err);
}

static int add_to_request(struct store *store, const struct summand *summand, struct err *err)
{
	struct statement *s;

	if (summand->request_id == UNKNOWN)
		return 0;
	s = db_use(store, ST_REQUEST_ADD,
		   "UPDATE request SET results = results + 1, with_usage = with_usage + :counted,"
		   " wall_ns = wall_ns + min(:wall_ns, 9223372036854775807 - wall_ns),"
		   " cpu_ns = cpu_ns + min(:cpu_ns, 9223372036854775807 - cpu_ns),"
		   " first_ns = coalesce(min(first_ns, :first_ns), first_ns, :first_ns),"
		   " last_ns = coalesce(max(last_ns, :last_ns), last_ns, :last_ns)"
		   " WHERE request_id = :request");
	bind_counted(s, summand);
	bind_int(s, ":first_ns", summand->first_ns);
	bind_int(s, ":last_ns", summand->last_ns);
	bind_int(s, ":request", summand->request_id);
	return db_done(s, err);
}

/* Of counted results only; whole seconds and the rest apart, so that no sum is too large. */
static int add_to_bucket(struct store *store, int64_t result_id, struct err *err)
{
	struct statement *s = db_use(
		store, ST_BUCKET_ADD,
		"INSERT INTO bucket_sum (bucket, results, wall_s, wall_rest_ns, cpu_s,"
		" cpu_rest_ns, rss_max_bytes) SELECT ifnull(bucket, -1), 1,"
		" ifnull(wall_ns, 0) / 1000000000, ifnull(wall_ns, 0) % 1000000000,"
		" cpu_ns / 1000000000, cpu_ns % 1000000000, max_rss_bytes FROM result"
		" WHERE result_id = :result AND source = 1 AND cpu_ns IS NOT NULL"
		" ON CONFLICT DO UPDATE SET results = results + 1,"
		" wall_s = wall_s + excluded.wall_s,"
		" wall_rest_ns = wall_rest_ns + excluded.wall_rest_ns,"
		" cpu_s = cpu_s + excluded.cpu_s,"
		" cpu_rest_ns = cpu_rest_ns + excluded.cpu_rest_ns, rss_max_bytes = coalesce("
		"max(rss_max_bytes, excluded.rss_max_bytes), rss_max_bytes,"
		" excluded.rss_max_bytes)");

	bind_int(s, ":result", result_id);
	return db_done(s, err);
}

static void add_to_phases(struct store *store, const struct summand *summand)
{
	size_t i;

	for (i = 0; i < PHASE_COUNT; i++) {
		struct phase_sum *sum = &store->phases[i];
		int64_t ns = summand->phase_ns[i];

		if (ns == UNKNOWN)
			continue;
		sum->skewed += ns < 0;
		if (ns < 0)
			continue;
		sum->known++;
		sum->total_s += ns / 1000000000;
		sum->total_rest_ns += ns % 1000000000;
		if (ns > sum->max_ns)
			sum->max_ns = ns;
	}
}

static int put_phase(struct store *store, int64_t phase_id, const struct phase_sum *sum,
		     struct err *err)
{
	struct statement *s = db_use(
		store, ST_PHASE_ADD,
		"INSERT INTO phase_sum (phase_id, known, skewed, total_s, total_rest_ns,"
		" max_ns) VALUES (:phase, :known, :skewed, :total_s, :total_rest_ns, :max_ns)"
		" ON CONFLICT DO UPDATE SET known = known + excluded.known,"
		" skewed = skewed + excluded.skewed, total_s = total_s + excluded.total_s,"
		" total_rest_ns = total_rest_ns + excluded.total_rest_ns,"
		" max_ns = max(max_ns, excluded.max_ns)");

	bind_int(s, ":phase", phase_id);
	bind_int(s, ":known", sum->known);
	bind_int(s, ":skewed", sum->skewed);
	bind_int(s, ":total_s", sum->total_s);
	bind_int(s, ":total_rest_ns", sum->total_rest_ns);
	bind_int(s, ":max_ns", sum->max_ns);
	return db_done(s, err);
}

int phase_sums_put(struct store *store, struct err *err)
{
	size_t i;

	for (i = 0; i < PHASE_COUNT; i++)
		if ((store->phases[i].known || store->phases[i].skewed) &&
		    put_phase(store, (int64_t)i + 1, &store->phases[i], err) < 0)
			return -1;
	memset(store->phases, 0, sizeof(store->phases));
	return 0;
}

int sums_add(struct store *store, int64_t result_id, const struct summand *summand, struct err *err)
{
	if (add_to_worker(store, summand, err) < 0 || add_to_request(store, summand, err) < 0)
		return -1;
	if (summand->from_cache)
		add_to_phases(store, summand);
	if (!summand->counted)
		return 0;
	return add_to_bucket(store, result_id, err) < 0 ? -1 : sizes_join(store, result_id, err);
}

/* ---- sizes ---- */

/* The row of size_count to which a counted result belongs; two of them, one a kind. */
#define CELL                                               \
	"ifnull(r.allotment_id, 0), r.category_id, :kind," \
	" ifnull(CASE :kind WHEN 1 THEN r.memory_mib ELSE r.centicores END, -1), r.project_id"
#define OF_RESULT \
	" FROM result r WHERE r.result_id = :result AND r.source = 1 AND r.cpu_ns IS NOT NULL"

enum size_kind { SIZE_MEMORY = 1, SIZE_CORES = 2 };

static int count_size(struct store *store, int64_t result_id, enum size_kind kind, int64_t sign,
		      struct err *err)
{
	struct statement *s =
		db_use(store, ST_SIZE_COUNT,
		       "INSERT INTO size_count (allotment_id, category_id, kind, size, project_id,"
		       " results, wall_s, wall_rest_ns) SELECT " CELL ", :sign,"
		       " :sign * (ifnull(r.wall_ns, 0) / 1000000000),"
		       " :sign * (ifnull(r.wall_ns, 0) % 1000000000)" OF_RESULT
		       " ON CONFLICT DO UPDATE SET results = results + excluded.results,"
		       " wall_s = wall_s + excluded.wall_s,"
		       " wall_rest_ns = wall_rest_ns + excluded.wall_rest_ns");

	bind_int(s, ":kind", kind);
	bind_int(s, ":sign", sign);
	bind_int(s, ":result", result_id);
	return db_done(s, err);
}

static int leave_size(struct store *store, int64_t result_id, enum size_kind kind, struct err *err)
{
	struct statement *s;

	if (count_size(store, result_id, kind, -1, err) < 0)
		return -1;
	s = db_use(
		store, ST_SIZE_DROP,
		"DELETE FROM size_count WHERE results = 0"
		" AND (allotment_id, category_id, kind, size, project_id) = (SELECT " CELL OF_RESULT
		")");
	bind_int(s, ":kind", kind);
	bind_int(s, ":result", result_id);
	return db_done(s, err);
}

/* ---- what workers were busy with ---- */

static int count_busy(struct store *store, int64_t result_id, int64_t sign, struct err *err)
{
#define ADD(sum) " " sum " = " sum " + excluded." sum
	struct statement *s = db_use(
		store, ST_BUSY_COUNT,
		"INSERT INTO busy_sum (allotment_id, project_id, results, known, busy_high,"
		" busy_low, cpu_high, cpu_low, held_high, held_low)"
		" SELECT allotment_id, project_id, :sign, :sign * known, :sign * busy_high,"
		" :sign * busy_low, :sign * cpu_high, :sign * cpu_low, :sign * held_high,"
		" :sign * held_low FROM _busy_part WHERE result_id = :result"
		" ON CONFLICT DO UPDATE SET" ADD("results") "," ADD("known") "," ADD("busy_high") "," ADD(
			"busy_low") "," ADD("cpu_high") "," ADD("cpu_low") "," ADD("held_high") "," ADD("held_low"));
#undef ADD

	bind_int(s, ":sign", sign);
	bind_int(s, ":result", result_id);
	return db_done(s, err);
}

static int leave_busy(struct store *store, int64_t result_id, struct err *err)
{
	struct statement *s;

	if (count_busy(store, result_id, -1, err) < 0)
		return -1;
	s = db_use(store, ST_BUSY_DROP,
		   "DELETE FROM busy_sum WHERE results = 0 AND (allotment_id, project_id)"
		   " = (SELECT allotment_id, project_id FROM _busy_part"
		   " WHERE result_id = :result)");
	bind_int(s, ":result", result_id);
	return db_done(s, err);
}

/* ---- both ---- */

int sizes_join(struct store *store, int64_t result_id, struct err *err)
{
	if (count_size(store, result_id, SIZE_MEMORY, 1, err) < 0)
		return -1;
	if (count_size(store, result_id, SIZE_CORES, 1, err) < 0)
		return -1;
	return count_busy(store, result_id, 1, err);
}

int sizes_leave(struct store *store, int64_t result_id, struct err *err)
{
	if (leave_size(store, result_id, SIZE_MEMORY, err) < 0)
		return -1;
	if (leave_size(store, result_id, SIZE_CORES, err) < 0)
		return -1;
	return leave_busy(store, result_id, err);
}

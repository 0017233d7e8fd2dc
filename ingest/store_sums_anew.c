/*
 * Kept sums made anew from the results that are left, by the same code that adds
 * new ones: what went may have been a largest or smallest value, which no sum can
 * give back.
 */
#include "store_db.h"

#define CLEAR                                                                                  \
	"DELETE FROM bucket_sum; DELETE FROM phase_sum; DELETE FROM size_count;"               \
	"DELETE FROM busy_sum;"                                                                \
	"UPDATE worker SET results = 0, failed = 0, with_usage = 0, wall_ns = 0, cpu_ns = 0,"  \
	" rss_min_bytes = NULL, rss_max_bytes = NULL;"                                         \
	"UPDATE request SET results = 0, with_usage = 0, wall_ns = 0, cpu_ns = 0, first_ns = " \
	"NULL,"                                                                                \
	" last_ns = NULL"

/* An execution that several attempts link is summed up once. */
static struct statement *use_results(struct store *store)
{
	return db_use(
		store, ST_SUMS_RESULTS,
		"SELECT r.worker_id, r.request_id, r.allotment_id, r.category_id, r.project_id,"
		" r.bucket, r.memory_mib, r.centicores, r.source = 1,"
		" r.source = 1 AND r.cpu_ns IS NOT NULL, ifnull(r.exit_code, 0) <> 0"
		" OR r.termination_signal IS NOT NULL, r.wall_ns, r.cpu_ns, r.max_rss_bytes,"
		" b.base_ns, coalesce(t.worker_completed_ns, t.upload_completed_ns,"
		" t.execution_completed_ns, b.base_ns), p.queued_ns, p.fetch_ns, p.run_ns,"
		" p.upload_ns FROM result r LEFT JOIN result_time b ON b.result_id = r.result_id"
		" LEFT JOIN _time t ON t.result_id = r.result_id"
		" LEFT JOIN _span p ON p.result_id = r.result_id WHERE r.source = 1"
		" OR NOT EXISTS (SELECT 1 FROM historical h JOIN historical k ON k.hash = h.hash"
		" AND k.size_bytes = h.size_bytes AND k.function = h.function AND k.state = 1"
		" WHERE (h.run_id, h.span_id, h.idx) = (r.attempt_run_id, r.attempt_span_id,"
		" r.attempt_idx) AND (k.run_id, k.span_id, k.idx) < (h.run_id, h.span_id, h.idx))"
		" ORDER BY r.result_id");
}

static void read_summand(struct statement *s, struct summand *out)
{
	int i;

	*out = (struct summand){
		.worker_id = column_int(s, 0),
		.request_id = column_int(s, 1),
		.allotment_id = column_int(s, 2),
		.columns = {.category_id = column_int(s, 3),
			    .project_id = column_int(s, 4),
			    .bucket = column_int(s, 5),
			    .memory_mib = column_int(s, 6),
			    .centicores = column_int(s, 7)},
		.from_cache = column_int(s, 8) > 0,
		.counted = column_int(s, 9) > 0,
		.failed = column_int(s, 10) > 0,
		.wall_ns = column_int(s, 11),
		.cpu_ns = column_int(s, 12),
		.rss_bytes = column_int(s, 13),
		.first_ns = column_int(s, 14),
		.last_ns = column_int(s, 15),
	};
	for (i = 0; i < PHASE_COUNT; i++)
		out->phase_ns[i] = column_int(s, 16 + i);
}

int sums_anew(struct store *store, struct err *err)
{
	struct summand summand;
	struct statement *s;
	int more;

	if (totals_put(store, err) < 0 || db_exec(store, CLEAR, err) < 0)
		return -1;
	s = use_results(store);
	while ((more = db_step(s, err)) > 0) {
		read_summand(s, &summand);
		if (sums_add(store, &summand, err) < 0) {
			db_reset(s);
			return -1;
		}
	}
	return more < 0 ? -1 : totals_put(store, err);
}

/*
 * Which sums a result enters that the ingest keeps beside results: by worker, by executing
 * invocation, by class of wall time, by phase, how many have which size, and what workers were
 * busy with. As indexes they would cost more than the results themselves. check_sums.sql says the
 * same in SQL alone.
 */
#include "store_db.h"

#define NS_PER_S 1000000000
/* Of a phase, as _busy_part has it: three of them fit an integer. */
#define PHASE_MAX_NS (INT64_MAX / 4)

/* Of counted results, 0 where it is not known. */
static int64_t counted_wall(const struct summand *summand)
{
	return summand->counted && summand->wall_ns != UNKNOWN ? summand->wall_ns : 0;
}

static int64_t counted_cpu(const struct summand *summand)
{
	return summand->counted ? summand->cpu_ns : 0;
}

static int add_to_worker(struct store *store, const struct summand *summand, struct err *err)
{
	const struct total_row row = {
		TOTAL_WORKER,
		{summand->worker_id},
		{1, summand->counted, counted_wall(summand), counted_cpu(summand), summand->failed,
		 summand->rss_bytes, summand->rss_bytes},
	};

	return summand->worker_id == UNKNOWN ? 0 : totals_add(store, &row, err);
}

static int add_to_request(struct store *store, const struct summand *summand, struct err *err)
{
	const struct total_row row = {
		TOTAL_REQUEST,
		{summand->request_id},
		{1, summand->counted, counted_wall(summand), counted_cpu(summand),
		 summand->first_ns, summand->last_ns},
	};

	return summand->request_id == UNKNOWN ? 0 : totals_add(store, &row, err);
}

/* Of counted results only; whole seconds and the rest apart, so that no sum is too large. */
static int add_to_bucket(struct store *store, const struct summand *summand, struct err *err)
{
	int64_t wall_ns = counted_wall(summand), cpu_ns = counted_cpu(summand);
	const struct total_row row = {
		TOTAL_BUCKET,
		{summand->columns.bucket == UNKNOWN ? -1 : summand->columns.bucket},
		{1, wall_ns / NS_PER_S, wall_ns % NS_PER_S, cpu_ns / NS_PER_S, cpu_ns % NS_PER_S,
		 summand->rss_bytes},
	};

	return totals_add(store, &row, err);
}

static int add_to_phase(struct store *store, int64_t phase_id, int64_t ns, struct err *err)
{
	const struct total_row row = {
		TOTAL_PHASE,
		{phase_id},
		{ns >= 0, ns < 0, ns < 0 ? 0 : ns / NS_PER_S, ns < 0 ? 0 : ns % NS_PER_S,
		 ns < 0 ? 0 : ns},
	};

	return ns == UNKNOWN ? 0 : totals_add(store, &row, err);
}

static int add_to_phases(struct store *store, const struct summand *summand, struct err *err)
{
	int64_t i;

	for (i = 0; i < PHASE_COUNT; i++)
		if (add_to_phase(store, i + 1, summand->phase_ns[i], err) < 0)
			return -1;
	return 0;
}

/* ---- sizes, and what workers were busy with ---- */

/* What size_count and busy_sum take up of a counted result. */
struct sized {
	int64_t allotment_id; /* 0: not known */
	struct result_columns columns;
	int64_t wall_ns;
	int64_t known, busy_ns, cpu_ns, held; /* of _busy_part, the parts put together */
};

enum size_kind { SIZE_MEMORY = 1, SIZE_CORES = 2 };

static int count_size(struct store *store, const struct sized *sized, enum size_kind kind,
		      int64_t sign, struct err *err)
{
	const struct result_columns *columns = &sized->columns;
	int64_t size = kind == SIZE_MEMORY ? columns->memory_mib : columns->centicores;
	int64_t known = size == UNKNOWN ? -1 : size;
	int64_t wall_ns = sized->wall_ns == UNKNOWN ? 0 : sized->wall_ns;
	int64_t wall_s = sign * (wall_ns / NS_PER_S), rest_ns = sign * (wall_ns % NS_PER_S);
	const struct total_row one = {
		TOTAL_SIZE,
		{sized->allotment_id, columns->category_id, kind, known, columns->project_id},
		{sign, wall_s, rest_ns},
	};
	const struct total_row all = {
		TOTAL_SIZE,
		{sized->allotment_id, 0, kind, known, 0},
		{sign, wall_s, rest_ns},
	};

	return totals_add(store, &one, err) < 0 ? -1 : totals_add(store, &all, err);
}

static int64_t high(int64_t number)
{
	return number >> 32;
}

static int64_t low(int64_t number)
{
	return number & UINT32_MAX;
}

static int count_busy(struct store *store, const struct sized *sized, int64_t sign, struct err *err)
{
	const struct total_row row = {
		TOTAL_BUSY,
		{sized->allotment_id, sized->columns.project_id},
		{sign, sign * sized->known, sign * high(sized->busy_ns), sign * low(sized->busy_ns),
		 sign * high(sized->cpu_ns), sign * low(sized->cpu_ns), sign * high(sized->held),
		 sign * low(sized->held)},
	};

	return totals_add(store, &row, err);
}

static int count_sized(struct store *store, const struct sized *sized, int64_t sign,
		       struct err *err)
{
	if (count_size(store, sized, SIZE_MEMORY, sign, err) < 0 ||
	    count_size(store, sized, SIZE_CORES, sign, err) < 0)
		return -1;
	return count_busy(store, sized, sign, err);
}

/* Max RSS times wall time as _busy_part has it, to the last bit: KiB us. */
static int64_t held_of(int64_t rss_bytes, int64_t wall_ns)
{
	double held = (double)rss_bytes / 1024.0 * ((double)wall_ns / 1e3);

	return held >= (double)INT64_MAX ? INT64_MAX : (int64_t)held;
}

static int64_t capped(int64_t phase_ns)
{
	return phase_ns < PHASE_MAX_NS ? phase_ns : PHASE_MAX_NS;
}

/* As _busy_part says it once the result is stored. */
static void sized_of(const struct summand *summand, struct sized *out)
{
	const int64_t *ns = summand->phase_ns;

	*out = (struct sized){
		.allotment_id = summand->allotment_id == UNKNOWN ? 0 : summand->allotment_id,
		.columns = summand->columns,
		.wall_ns = summand->wall_ns,
	};
	/* UNKNOWN is below 0, too. */
	if (ns[PHASE_FETCH] < 0 || ns[PHASE_RUN] < 0 || ns[PHASE_UPLOAD] < 0 ||
	    summand->rss_bytes == UNKNOWN || summand->wall_ns == UNKNOWN)
		return;
	out->known = 1;
	out->busy_ns = capped(ns[PHASE_FETCH]) + capped(ns[PHASE_RUN]) + capped(ns[PHASE_UPLOAD]);
	out->cpu_ns = summand->cpu_ns;
	out->held = held_of(summand->rss_bytes, summand->wall_ns);
}

int sums_add(struct store *store, const struct summand *summand, struct err *err)
{
	struct sized sized;

	if (add_to_worker(store, summand, err) < 0 || add_to_request(store, summand, err) < 0 ||
	    (summand->from_cache && add_to_phases(store, summand, err) < 0))
		return -1;
	if (!summand->counted)
		return 0;
	sized_of(summand, &sized);
	return add_to_bucket(store, summand, err) < 0 ? -1 : count_sized(store, &sized, 1, err);
}

static int64_t joined(struct statement *s, int column)
{
	return column_int(s, column) << 32 | column_int(s, column + 1);
}

/* 1; 0: it is not counted; -1. */
static int read_sized(struct store *store, int64_t result_id, struct sized *out, struct err *err)
{
	struct statement *s =
		db_use(store, ST_SIZED_SELECT,
		       "SELECT b.allotment_id, r.category_id, r.project_id, r.memory_mib,"
		       " r.centicores, r.wall_ns, b.known, b.busy_high, b.busy_low, b.cpu_high,"
		       " b.cpu_low, b.held_high, b.held_low"
		       " FROM result r CROSS JOIN _busy_part b ON b.result_id = r.result_id"
		       " WHERE r.result_id = :result");
	int found;

	bind_int(s, ":result", result_id);
	found = db_step(s, err);
	if (found > 0)
		*out = (struct sized){
			.allotment_id = column_int(s, 0),
			.columns = {.category_id = column_int(s, 1),
				    .project_id = column_int(s, 2),
				    .memory_mib = column_int(s, 3),
				    .centicores = column_int(s, 4)},
			.wall_ns = column_int(s, 5),
			.known = column_int(s, 6),
			.busy_ns = joined(s, 7),
			.cpu_ns = joined(s, 9),
			.held = joined(s, 11),
		};
	db_reset(s);
	return found;
}

static int move_sized(struct store *store, int64_t result_id, int64_t sign, struct err *err)
{
	struct sized sized;
	int found = read_sized(store, result_id, &sized, err);

	if (found > 0 && package_sums_move(store, result_id, err) < 0)
		return -1;
	return found > 0 ? count_sized(store, &sized, sign, err) : found;
}

int sizes_join(struct store *store, int64_t result_id, struct err *err)
{
	return move_sized(store, result_id, 1, err);
}

int sizes_leave(struct store *store, int64_t result_id, struct err *err)
{
	return move_sized(store, result_id, -1, err);
}

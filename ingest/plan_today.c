#include "plan_today.h"

#include "plan_table.h"

#include <assert.h>
#include <stdlib.h>

struct maker {
	const struct plan_known *known;
	const struct plan_execution *execution;
	const struct plan_rows *rows;
	struct plan_sites *out;
	size_t *site_of_worker; /* by place in known->workers, 1 more; 0: not seen */
	int64_t *first_ns;	/* of each of these: when it began its first action here */
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The pool's place, a new one for a new pool. */
static size_t place_of_pool(struct plan_sites *out, struct str cache, struct str pool)
{
	size_t i;

	for (i = 0; i < out->count; i++)
		if (str_equal(out->pools[i].pool, pool))
			return i;
	out->pools = plan_grow(out->pools, out->count, sizeof(*out->pools));
	out->pools[out->count] = (struct plan_today){.cache = cache,
						     .pool = pool,
						     .cpu_milli = UNKNOWN,
						     .memory_bytes = UNKNOWN,
						     .limit_bytes = UNKNOWN};
	return out->count++;
}

/* What the first action whose container or pool is known was given stands for all of its pool. */
static void note_allotment(const struct plan_known *known, const struct plan_row *row,
			   struct plan_today *pool)
{
	const struct plan_allotment *given;

	if (pool->cpu_milli != UNKNOWN || pool->limit_bytes != UNKNOWN ||
	    row->allotment_id == UNKNOWN)
		return;
	given = plan_find_allotment(known, row->allotment_id);
	if (!given)
		return;
	pool->cpu_milli = given->cpu_milli;
	pool->memory_bytes = given->memory_bytes;
	pool->limit_bytes = given->limit_bytes;
}

static void take_rows(struct maker *maker)
{
	const struct plan_rows *rows = maker->rows;
	size_t i;

	for (i = 0; i < rows->count; i++) {
		const struct plan_row *row = &rows->list[i];
		const struct plan_worker *worker = plan_find_worker(maker->known, row->worker_id);
		size_t number = (size_t)(worker - maker->known->workers);

		if (!maker->site_of_worker[number]) {
			maker->site_of_worker[number] =
				place_of_pool(maker->out, maker->execution->cache, worker->pool) +
				1;
			maker->first_ns[number] = row->start_ns;
			maker->out->workers++;
		} else if (row->start_ns < maker->first_ns[number]) {
			maker->first_ns[number] = row->start_ns;
		}
		maker->out->site_of[i] = maker->site_of_worker[number] - 1;
		maker->out->pools[maker->out->site_of[i]].actions++;
		note_allotment(maker->known, row, &maker->out->pools[maker->out->site_of[i]]);
	}
}

/* When each worker of the site came; their number is *out_count. */
static int64_t *arrivals(const struct maker *maker, size_t site, size_t *out_count)
{
	int64_t *list = xcalloc(maker->out->workers, sizeof(*list));
	size_t i, count = 0;

	for (i = 0; i < maker->known->worker_count; i++)
		if (maker->site_of_worker[i] == site + 1)
			list[count++] = maker->first_ns[i];
	if (count)
		qsort(list, count, sizeof(*list), by_value);
	*out_count = count;
	return list;
}

/* ---- between two actions ---- */

static int by_worker(const void *a, const void *b)
{
	const struct plan_row *x = *(const struct plan_row *const *)a;
	const struct plan_row *y = *(const struct plan_row *const *)b;

	if (x->worker_id != y->worker_id)
		return x->worker_id < y->worker_id ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Rows in the order in which each worker took them; the caller frees the list. */
static const struct plan_row **in_turn(const struct plan_rows *rows)
{
	const struct plan_row **order = xcalloc(rows->count + 1, sizeof(*order));
	size_t i;

	for (i = 0; i < rows->count; i++)
		order[i] = &rows->list[i];
	if (rows->count)
		qsort(order, rows->count, sizeof(*order), by_worker);
	return order;
}

/* Gaps of a worker that tell of nothing but itself: the next action was there already. */
static int64_t median_turn(const struct plan_rows *rows)
{
	const struct plan_row **order = in_turn(rows);
	int64_t *gaps = xcalloc(rows->count + 1, sizeof(*gaps)), median = 0;
	size_t i, count = 0;

	for (i = 1; i < rows->count; i++) {
		const struct plan_row *last = order[i - 1], *next = order[i];

		if (last->worker_id == next->worker_id && next->arrival_ns <= last->completed_ns &&
		    next->start_ns >= last->completed_ns)
			gaps[count++] = next->start_ns - last->completed_ns;
	}
	if (count) {
		qsort(gaps, count, sizeof(*gaps), by_value);
		median = gaps[count / 2];
	}
	free(gaps);
	free(order);
	return median;
}

/* ---- sites ---- */

static size_t bounded(int64_t number, size_t least)
{
	if (number == UNKNOWN || number < (int64_t)least)
		return least;
	return number > PLAN_WORKERS_CAP ? PLAN_WORKERS_CAP : (size_t)number;
}

/* As pool_spec says, NULL for nothing, else up to the workers that were seen. */
static void note_scaling(struct plan_today *pool, const struct plan_spec *spec, size_t seen)
{
	pool->concurrency = bounded(spec ? spec->concurrency : UNKNOWN, 1);
	pool->workers_min = bounded(spec ? spec->workers_min : UNKNOWN, 0);
	pool->scaling_known = spec && spec->workers_max >= 1;
	pool->workers_max = pool->scaling_known
				    ? bounded(spec->workers_max, 1)
				    : (seen + pool->concurrency - 1) / pool->concurrency;
	if (pool->workers_max < pool->workers_min)
		pool->workers_max = pool->workers_min;
	pool->cooldown_ns = PLAN_COOLDOWN_NS;
	if (spec && spec->cooldown_s >= 0 && spec->cooldown_s <= INT32_MAX)
		pool->cooldown_ns = spec->cooldown_s * INT64_C(1000000000);
}

static const struct plan_spec *spec_at(const struct plan_known *known,
				       const struct plan_today *pool, int64_t at_ns)
{
	return pool->pool.data ? plan_find_spec(known, pool->cache, pool->pool, at_ns) : NULL;
}

static int64_t with(int64_t request, int64_t overhead)
{
	return request == UNKNOWN ? UNKNOWN : plan_add(request, overhead);
}

static struct plan_site site_of(const struct plan_settings *settings, const struct plan_today *pool,
				int64_t turn_ns)
{
	return (struct plan_site){
		.pool = {.workers_min = pool->workers_min,
			 .workers_max = pool->workers_max,
			 .concurrency = pool->concurrency,
			 .start_ns = settings->start_ns,
			 .turn_ns = turn_ns,
			 .cooldown_ns = pool->cooldown_ns},
		.pod_cpu_milli = with(pool->cpu_milli, settings->overhead_cpu_milli),
		.pod_memory_bytes = with(pool->memory_bytes, settings->overhead_bytes),
		.limit_bytes = pool->limit_bytes,
		.share = 1};
}

/* Each thread of a worker has a name of its own: a worker of the site is one of them. */
static void make_site(struct maker *maker, size_t number)
{
	struct plan_today *pool = &maker->out->pools[number];
	struct plan_site *site = &maker->out->seen[number];
	size_t seen;

	maker->out->seen_ns[number] = arrivals(maker, number, &seen);
	note_scaling(pool, spec_at(maker->known, pool, maker->rows->list[0].arrival_ns), seen);
	*site = site_of(&maker->known->settings, pool, maker->out->turn_ns);
	site->share = (int64_t)pool->concurrency;
	site->pool.concurrency = 1;
	site->pool.workers_min = 0;
	site->pool.workers_max = seen;
	site->pool.seen_ns = maker->out->seen_ns[number];
}

void plan_sites_make(const struct plan_known *known, const struct plan_execution *execution,
		     const struct plan_rows *rows, struct plan_sites *out)
{
	struct maker maker = {.known = known, .execution = execution, .rows = rows, .out = out};
	size_t i;

	*out = (struct plan_sites){0};
	maker.site_of_worker = xcalloc(known->worker_count + 1, sizeof(*maker.site_of_worker));
	maker.first_ns = xcalloc(known->worker_count + 1, sizeof(*maker.first_ns));
	out->site_of = xcalloc(rows->count + 1, sizeof(*out->site_of));
	out->turn_ns = median_turn(rows);
	take_rows(&maker);
	out->seen = xcalloc(out->count + 1, sizeof(*out->seen));
	out->seen_ns = xcalloc(out->count + 1, sizeof(*out->seen_ns));
	for (i = 0; i < out->count; i++)
		make_site(&maker, i);
	free(maker.site_of_worker);
	free(maker.first_ns);
}

void plan_sites_release(struct plan_sites *sites)
{
	size_t i;

	for (i = 0; i < sites->count; i++)
		free(sites->seen_ns[i]);
	free(sites->seen_ns);
	free(sites->seen);
	free(sites->pools);
	free(sites->site_of);
	*sites = (struct plan_sites){0};
}

/* ---- today ---- */

static struct plan_today *find_today(const struct plan_todays *todays,
				     const struct plan_today *pool)
{
	size_t i;

	for (i = 0; i < todays->count; i++)
		if (str_equal(todays->list[i].pool, pool->pool) &&
		    str_equal(todays->list[i].cache, pool->cache))
			return &todays->list[i];
	return NULL;
}

static bool is_given(const struct plan_today *pool)
{
	return pool->cpu_milli != UNKNOWN || pool->memory_bytes != UNKNOWN ||
	       pool->limit_bytes != UNKNOWN;
}

static bool is_given_otherwise(const struct plan_today *a, const struct plan_today *b)
{
	return is_given(a) && is_given(b) &&
	       (a->cpu_milli != b->cpu_milli || a->memory_bytes != b->memory_bytes ||
		a->limit_bytes != b->limit_bytes);
}

static void copy_given(struct plan_today *to, int64_t cpu_milli, int64_t memory_bytes,
		       int64_t limit_bytes)
{
	to->cpu_milli = cpu_milli;
	to->memory_bytes = memory_bytes;
	to->limit_bytes = limit_bytes;
}

/* The newest execution on it; a row of pool_spec that is in force since then is newer still. */
static struct plan_today *add_today(struct plan_todays *todays, const struct plan_known *known,
				    const struct plan_today *found, int64_t first_ns,
				    int64_t now_ns)
{
	const struct plan_spec *spec = spec_at(known, found, now_ns > first_ns ? now_ns : first_ns);
	struct plan_today *today;

	todays->list = plan_grow(todays->list, todays->count, sizeof(*todays->list));
	today = &todays->list[todays->count++];
	*today = *found;
	today->actions = 0;
	if (spec) {
		note_scaling(today, spec, 0);
		if (!today->scaling_known)
			today->workers_max = found->workers_max;
		if (spec->valid_from_ns > first_ns || !is_given(found))
			copy_given(today, spec->cpu_milli, spec->memory_bytes, spec->limit_bytes);
	}
	return today;
}

void plan_todays_note(struct plan_todays *todays, const struct plan_known *known,
		      const struct plan_sites *sites, int64_t first_ns, int64_t now_ns)
{
	size_t i;

	for (i = 0; i < sites->count; i++) {
		const struct plan_today *found = &sites->pools[i];
		struct plan_today *today = find_today(todays, found);

		if (!today)
			today = add_today(todays, known, found, first_ns, now_ns);
		if (!is_given(today))
			copy_given(today, found->cpu_milli, found->memory_bytes,
				   found->limit_bytes);
		if (!today->scaling_known && found->workers_max > today->workers_max)
			today->workers_max = found->workers_max;
		today->otherwise += is_given_otherwise(today, found);
		today->actions += found->actions;
		today->executions++;
	}
}

/* Of a site, which was made of such pools. */
static const struct plan_today *today_of(const struct plan_todays *todays,
					 const struct plan_today *pool)
{
	const struct plan_today *today = find_today(todays, pool);

	assert(today);
	return today;
}

size_t plan_todays_workers(const struct plan_todays *todays, const struct plan_sites *sites)
{
	size_t i, sum = 0;

	for (i = 0; i < sites->count; i++)
		sum += today_of(todays, &sites->pools[i])->workers_max;
	return sum;
}

struct plan_site *plan_todays_sites(const struct plan_todays *todays,
				    const struct plan_known *known, const struct plan_sites *sites)
{
	struct plan_site *list = xcalloc(sites->count + 1, sizeof(*list));
	size_t i;

	for (i = 0; i < sites->count; i++)
		list[i] = site_of(&known->settings, today_of(todays, &sites->pools[i]),
				  sites->turn_ns);
	return list;
}

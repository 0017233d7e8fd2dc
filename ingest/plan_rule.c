#include "plan_rule.h"

#include "model.h"

#include <stdbool.h>

#define MILLI 1000

static bool is_smaller(const struct shape *a, const struct shape *b)
{
	if (a->memory_limit_bytes != b->memory_limit_bytes)
		return a->memory_limit_bytes < b->memory_limit_bytes;
	return a->cpu_milli < b->cpu_milli;
}

/* 2 to the 63rd: no int64_t is larger. */
#define INT64_END 9223372036854775808.0

/* As the views reckon: in reals, which no peak overflows. */
static int64_t with_margin(int64_t bytes, double margin_pct)
{
	double sum = (double)bytes * (100 + margin_pct) / 100;

	return sum < INT64_END ? (int64_t)sum : INT64_MAX;
}

static size_t largest(const struct shape *shapes, size_t count)
{
	size_t i, best = 0;

	for (i = 1; i < count; i++)
		if (is_smaller(&shapes[best], &shapes[i]))
			best = i;
	return best;
}

/* Whether shape `a` suits better than `b`; both hold the peak. */
static bool suits_better(const struct shape *a, const struct shape *b, int64_t wide_milli)
{
	bool a_wide = a->cpu_milli > wide_milli, b_wide = b->cpu_milli > wide_milli;

	if (wide_milli != UNKNOWN && a_wide != b_wide)
		return a_wide;
	return is_smaller(a, b);
}

size_t plan_choose(const struct shape *shapes, size_t count, const struct plan_need *need,
		   double margin_pct)
{
	size_t i, best = count;
	int64_t peak;

	if (need->peak_bytes == UNKNOWN)
		return largest(shapes, count);
	peak = with_margin(need->peak_bytes, margin_pct);
	for (i = 0; i < count; i++) {
		if (shapes[i].memory_limit_bytes < peak)
			continue;
		if (best == count || suits_better(&shapes[i], &shapes[best], need->wide_milli))
			best = i;
	}
	return best == count ? largest(shapes, count) : best;
}

int64_t plan_jobs_of(const struct shape *shape, const struct plan_jobs *rule)
{
	int64_t cores = shape->cpu_milli / MILLI + (shape->cpu_milli % MILLI > 0);
	int64_t jobs = (int64_t)((double)cores + rule->extra);

	if (rule->bytes_per_job && shape->memory_limit_bytes / rule->bytes_per_job < jobs)
		jobs = shape->memory_limit_bytes / rule->bytes_per_job;
	return jobs < 1 ? 1 : jobs;
}

int64_t plan_run_with(int64_t run_ns, int64_t cpu_ns, int64_t jobs)
{
	int64_t least;

	if (run_ns == UNKNOWN || cpu_ns == UNKNOWN)
		return run_ns;
	least = cpu_ns / jobs + (cpu_ns % jobs != 0);
	return least > run_ns ? least : run_ns;
}

#include "figures.h"

#include "util/mem.h"

#include <stdlib.h>

#define NS_PER_S 1000000000

static const struct {
	const char *name;
	int64_t from_s;
} bounds[FIGURES_BUCKETS] = {
	{"0-5 s", 0}, {"5-20 s", 5}, {"20-60 s", 20}, {"60-300 s", 60}, {"300+ s", 300},
};

void figures_init(struct figures *figures)
{
	size_t i;

	*figures = (struct figures){.max_rss_bytes = UNKNOWN, .min_rss_bytes = UNKNOWN};
	for (i = 0; i < FIGURES_BUCKETS; i++) {
		figures->buckets[i].name = bounds[i].name;
		figures->buckets[i].max_rss_bytes = UNKNOWN;
	}
}

void figures_release(struct figures *figures)
{
	size_t i;

	for (i = 0; i < FIGURES_BUCKETS; i++)
		free(figures->buckets[i].cores);
	figures_init(figures);
}

static struct figures_bucket *bucket_of(struct figures *figures, int64_t wall_ns)
{
	size_t i = FIGURES_BUCKETS - 1;

	while (i > 0 && wall_ns < bounds[i].from_s * NS_PER_S)
		i--;
	return &figures->buckets[i];
}

static void add_cores(struct figures_bucket *bucket, double cores)
{
	if (bucket->actions == bucket->cap) {
		bucket->cap = bucket->cap ? bucket->cap * 2 : 64;
		bucket->cores = xreallocarray(bucket->cores, bucket->cap, sizeof(*bucket->cores));
	}
	bucket->cores[bucket->actions++] = cores;
}

void figures_add(struct figures *figures, int64_t wall_ns, int64_t cpu_ns, int64_t max_rss_bytes,
		 bool on_signal)
{
	struct figures_bucket *bucket = bucket_of(figures, wall_ns);
	double wall_s = (double)wall_ns / NS_PER_S;
	double cpu_s = (double)cpu_ns / NS_PER_S;

	add_cores(bucket, figures_cores(wall_ns, cpu_ns));
	bucket->wall_s += wall_s;
	bucket->cpu_s += cpu_s;
	figures->actions++;
	figures->on_signal += on_signal;
	figures->wall_s += wall_s;
	figures->cpu_s += cpu_s;
	if (max_rss_bytes == UNKNOWN)
		return;
	if (max_rss_bytes > bucket->max_rss_bytes)
		bucket->max_rss_bytes = max_rss_bytes;
	if (max_rss_bytes > figures->max_rss_bytes)
		figures->max_rss_bytes = max_rss_bytes;
	if (figures->min_rss_bytes == UNKNOWN || max_rss_bytes < figures->min_rss_bytes)
		figures->min_rss_bytes = max_rss_bytes;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

void figures_finish(struct figures *figures)
{
	size_t i;

	for (i = 0; i < FIGURES_BUCKETS; i++)
		if (figures->buckets[i].actions)
			qsort(figures->buckets[i].cores, figures->buckets[i].actions,
			      sizeof(double), by_value);
}

double figures_cores(int64_t wall_ns, int64_t cpu_ns)
{
	/* Below a millisecond the quotient says more about the clock than about the action. */
	return (double)cpu_ns / (double)(wall_ns > 1000000 ? wall_ns : 1000000);
}

double figures_average(double wall_s, double cpu_s)
{
	return wall_s > 0 ? cpu_s / wall_s : 0;
}

double figures_p90(const struct figures_bucket *bucket)
{
	size_t at = (size_t)((double)bucket->actions * 0.9);

	return bucket->cores[at < bucket->actions ? at : bucket->actions - 1];
}

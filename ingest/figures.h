/*
 * The report's arithmetic: wall, cpu, cores and the table by wall time, by the
 * formulas of the script that it takes over from. Pure. Memory: one double an
 * execution, for the 90th percentile.
 *
 *   cores  = cpu / max(wall, 1 ms)                    of one execution
 *   avg    = sum of cpu / sum of wall                 of several
 *   p90    = sorted[min(n - 1, floor(0.9 n))]
 */
#ifndef BR2_FIGURES_H
#define BR2_FIGURES_H

#include "model.h"

#include <stddef.h>
#include <stdint.h>

#define FIGURES_BUCKETS 5

struct figures_bucket {
	const char *name; /* as the views have it: "0-5 s" … "300+ s" */
	uint64_t actions;
	double wall_s, cpu_s;
	int64_t max_rss_bytes; /* UNKNOWN: none known */
	double *cores;	       /* of each execution; sorted by figures_finish() */
	size_t cap;
};

struct figures {
	struct figures_bucket buckets[FIGURES_BUCKETS];
	uint64_t actions;
	uint64_t on_signal;
	double wall_s, cpu_s;
	int64_t max_rss_bytes, min_rss_bytes; /* UNKNOWN: none known */
};

void figures_init(struct figures *figures);
void figures_release(struct figures *figures);
/* One execution with usage; wall_ns and cpu_ns are known, max_rss_bytes may be UNKNOWN. */
void figures_add(struct figures *figures, int64_t wall_ns, int64_t cpu_ns, int64_t max_rss_bytes,
		 bool on_signal);
/* After the last figures_add(). */
void figures_finish(struct figures *figures);

double figures_cores(int64_t wall_ns, int64_t cpu_ns);
/* The average while running; 0 for no wall time at all. */
double figures_average(double wall_s, double cpu_s);
/* Of a bucket with actions, after figures_finish(). */
double figures_p90(const struct figures_bucket *bucket);

#endif

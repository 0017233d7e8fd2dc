/*
 * What the scope's results used, read once: the points of the plots, and the sums
 * behind the page's head and its tables by wall time and by phase. Memory: 24
 * bytes an execution.
 */
#ifndef BR2_HTML_POINTS_H
#define BR2_HTML_POINTS_H

#include "figures.h"
#include "html_page.h"

#include <stddef.h>
#include <stdint.h>

/* One counted execution. */
struct point {
	double wall_s, cores;
	double peak_bytes; /* the larger one of its largest process and its container; below 0:
			      unknown */
};

enum { PHASE_QUEUED, PHASE_FETCH, PHASE_RUN, PHASE_UPLOAD, PHASE_COUNT };

struct phase {
	uint64_t known, skewed; /* of `results` */
	double sum_s, max_s;
};

struct points {
	struct point *items;
	size_t count, cap;
	size_t peaks; /* of these, with a known peak */
	struct figures figures;
	uint64_t digests;
	uint64_t untimed; /* with usage, but no wall time: no points */
	uint64_t results; /* of the action cache, without usage too */
	uint64_t by_others;
	struct phase phases[PHASE_COUNT];
};

/* `points` is released by the caller, also after -1. */
int points_read(struct html_page *page, struct points *points, struct err *err);
void points_release(struct points *points);

#endif

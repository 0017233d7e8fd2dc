/*
 * What the samples of one life of a container tell of a stretch of time: pure
 * arithmetic. Nothing is filled in between samples, nor taken from before or
 * after the stretch: that would be the figures of the action beside it. Part of
 * cluster_samples.
 */
#ifndef BR2_CLUSTER_SAMPLES_WINDOW_H
#define BR2_CLUSTER_SAMPLES_WINDOW_H

#include "cluster.h"
#include "cluster_series.h"
#include "util/intervals.h"

/* How long Prometheus takes a series for alive without a new sample. */
#define SAMPLES_AROUND_NS (INT64_C(300) * 1000000000)

/* In ascending order of time. */
struct sample_list {
	struct series_sample *items;
	size_t count, room;
};

/* Index of the first sample at or after ns; count: there is none. */
size_t samples_at(const struct sample_list *list, int64_t ns);
/* How many samples are in the span, whose ends belong to it. */
size_t samples_in(const struct sample_list *list, struct interval span);

/* Counts samples of the working set (bytes) in the span, and keeps the largest values of both. */
void window_add_memory(struct container_figures *figures, const struct sample_list *working_set,
		       const struct sample_list *anon, struct interval span);
/*
 * Adds the rises of a counter of CPU seconds between samples that are both in the
 * span, and keeps the steepest (thousandths of a core; UNKNOWN: none so far). A
 * pair in which the counter fell is none. CPU: (last - first) / (their times).
 */
void window_add_cpu(struct container_figures *figures, const struct sample_list *cpu,
		    struct interval span, int64_t *cores_peak_milli);
/*
 * The same for rises that end in the span; where they begin may be up to
 * SAMPLES_AROUND_NS before: a minute between two scrapes is a minute's worth.
 * cpu_samples counts these rises.
 */
void minute_add_cpu(struct container_figures *figures, const struct sample_list *cpu,
		    struct interval span);

/* Times between neighbouring samples. */
struct sample_gaps {
	int64_t *ns;
	size_t count, room;
};

void gaps_release(struct sample_gaps *gaps);
void gaps_add(struct sample_gaps *gaps, const struct sample_list *list, struct interval span);
/* Whole milliseconds; UNKNOWN: none. Sorts them. */
int64_t gaps_median_ms(struct sample_gaps *gaps);

#endif

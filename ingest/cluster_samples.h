/*
 * What the containers of executions used while they ran: asks Prometheus for raw
 * samples of memory and CPU around many executions at once, one question a
 * metric, and joins them here. Samples of two lives of a container (a restart
 * makes a new id) are never mixed in a rise; of two scrape jobs that deliver the
 * same life one counts.
 *
 * Memory: SAMPLES_MAX, whatever is asked; who asks about too much is told to ask
 * about less.
 */
#ifndef BR2_CLUSTER_SAMPLES_H
#define BR2_CLUSTER_SAMPLES_H

#include "cluster_evidence.h"
#include "cluster_prometheus.h"
#include "util/intervals.h"

#define SAMPLES_MAX ((size_t)64 << 20)

/* An execution in a pod. Ends belong to it. */
struct sample_window {
	int64_t result_id;
	struct str pod;
	int64_t from_ns, to_ns; /* from_ns <= to_ns */
	bool shared; /* with others that ran there at the same time: only minutes are given */
};

/* Takes what is found, in no order. Each returns 0, or -1 to stop it. */
struct usage_sink {
	void *context;
	int (*result)(void *context, const struct result_usage *usage, struct err *err);
	int (*minute)(void *context, const struct minute_usage *usage, struct err *err);
};

struct samples;

/*
 * Reads what is needed to tell of `windows`, which are borrowed until
 * samples_free(). Samples from after `known.to` are not asked for: they do not
 * exist yet; nor those before `known.from`: Prometheus has forgotten them. The
 * selector names the container that runs actions.
 *
 * 1: more than SAMPLES_MAX; -1: as prometheus_range(). *out_samples is set for 0 only.
 */
int samples_read(struct prometheus *prometheus, const struct cluster_selector *selector,
		 const struct sample_window *windows, size_t count, struct interval known,
		 struct samples **out_samples, struct err *err);
/* The same of an empty answer. */
struct samples *samples_none(const struct sample_window *windows, size_t count);
/* NULL is fine. */
void samples_free(struct samples *samples);
/* Time of the first sample of any pod's container; INT64_MAX: there is none. */
int64_t samples_first_ns(const struct samples *samples);

/*
 * Gives each window's result, and each minute of its pod's container that a
 * window touches and that has samples. `first_ns`: the oldest sample that
 * Prometheus is known to have; executions well before that are expired.
 * `settled_ns`: what happened until then has been scraped.
 */
int samples_give(const struct samples *samples, int64_t first_ns, int64_t settled_ns,
		 const struct usage_sink *sink, struct err *err);

#endif

#include "cluster_samples.h"

#include "cluster_samples_kept.h"
#include "cluster_samples_window.h"
#include "util/mem.h"

#include <stdlib.h>

#define MINUTE_NS (INT64_C(60) * 1000000000)

struct samples {
	struct kept_pods pods;
	char *container;
	/* While reading: */
	enum sampled metric;
};

/* ---- reading ---- */

/* cAdvisor's docs/storage/prometheus.md; rss is `anon` of the cgroup, and no process's max RSS. */
static const char *const metrics[SAMPLED_COUNT] = {
	[SAMPLED_WORKING_SET] = "container_memory_working_set_bytes",
	[SAMPLED_ANON] = "container_memory_rss",
	[SAMPLED_CPU] = "container_cpu_usage_seconds_total",
};

static int on_series(void *context, const struct series *series, struct err *err)
{
	struct samples *samples = context;

	return kept_pods_add(&samples->pods, samples->metric, series, err);
}

static int64_t minute_of(int64_t ns)
{
	return ns / MINUTE_NS - (ns % MINUTE_NS < 0);
}

/* Whole minutes, and what is before and after: where a rise begins, and whether a pod was there. */
static struct interval span_of(const struct sample_window *windows, size_t count,
			       struct interval known)
{
	struct interval span = {INT64_MAX, INT64_MIN};
	size_t i;

	for (i = 0; i < count; i++) {
		if (windows[i].from_ns < span.from)
			span.from = windows[i].from_ns;
		if (windows[i].to_ns > span.to)
			span.to = windows[i].to_ns;
	}
	span.from = span.from < known.from ? known.from : span.from;
	span.to = span.to > known.to ? known.to : span.to;
	span.from = minute_of(span.from) * MINUTE_NS - SAMPLES_AROUND_NS - 1;
	span.to = (minute_of(span.to) + 1) * MINUTE_NS + SAMPLES_AROUND_NS;
	span.to = span.to > known.to ? known.to : span.to;
	return span;
}

static int ask(struct samples *samples, struct prometheus *prometheus,
	       const struct cluster_selector *selector, struct interval span, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	for (samples->metric = 0; rc == 0 && samples->metric < SAMPLED_COUNT; samples->metric++) {
		buf_clear(&text);
		prometheus_add_selector(&text, metrics[samples->metric],
					cluster_selector_namespace(selector), samples->container);
		rc = prometheus_range(prometheus, text.data, span.from, span.to, on_series, samples,
				      err);
	}
	buf_release(&text);
	return rc;
}

struct samples *samples_none(const struct sample_window *windows, size_t count)
{
	struct samples *samples = xcalloc(1, sizeof(*samples));

	kept_pods_init(&samples->pods, windows, count);
	return samples;
}

int samples_read(struct prometheus *prometheus, const struct cluster_selector *selector,
		 const struct sample_window *windows, size_t count, struct interval known,
		 struct samples **out_samples, struct err *err)
{
	struct samples *samples = samples_none(windows, count);
	int rc;

	samples->container = xstrdup(cluster_selector_container(selector));
	rc = ask(samples, prometheus, selector, span_of(windows, count, known), err);
	if (rc < 0 && samples->pods.too_much)
		rc = 1;
	if (rc)
		samples_free(samples);
	else
		*out_samples = samples;
	return rc;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	kept_pods_release(&samples->pods);
	free(samples->container);
	free(samples);
}

int64_t samples_first_ns(const struct samples *samples)
{
	return samples->pods.first_ns;
}

/* ---- telling ---- */

struct telling {
	const struct samples *samples;
	int64_t first_ns, settled_ns;
	const struct usage_sink *sink;
	struct sample_gaps gaps; /* scratch */
};

static struct interval around(const struct sample_window *window)
{
	return (struct interval){window->from_ns - SAMPLES_AROUND_NS,
				 window->to_ns + SAMPLES_AROUND_NS};
}

static bool life_is_in(const struct life *life, struct interval span)
{
	return samples_in(&life->of[SAMPLED_WORKING_SET], span) ||
	       samples_in(&life->of[SAMPLED_CPU], span);
}

static bool pod_is_in(const struct kept_pod *pod, struct interval span)
{
	size_t i;

	for (i = 0; i < pod->life_count; i++)
		if (life_is_in(&pod->lives[i], span))
			return true;
	return false;
}

/* The figures span the lives; their rises do not. */
static void fold_lives(struct telling *t, const struct kept_pod *pod,
		       const struct sample_window *window, struct result_usage *usage)
{
	struct interval span = {window->from_ns, window->to_ns};
	const struct life *life;
	size_t i;

	for (i = 0; i < pod->life_count; i++) {
		life = &pod->lives[i];
		gaps_add(&t->gaps, &life->of[SAMPLED_WORKING_SET], around(window));
		if (!life_is_in(life, span))
			continue;
		usage->lives++;
		window_add_memory(&usage->figures, &life->of[SAMPLED_WORKING_SET],
				  &life->of[SAMPLED_ANON], span);
		window_add_cpu(&usage->figures, &life->of[SAMPLED_CPU], span,
			       &usage->cores_peak_milli);
	}
}

static enum sample_status status_of(const struct telling *t, const struct kept_pod *pod,
				    const struct sample_window *window,
				    const struct result_usage *usage)
{
	if (usage->lives)
		return SAMPLE_OK;
	if (pod_is_in(pod, around(window)) && !kept_pod_is_ambiguous(pod))
		return SAMPLE_NONE;
	return around(window).to < t->first_ns ? SAMPLE_EXPIRED : SAMPLE_NO_SERIES;
}

static int tell_result(struct telling *t, const struct kept_pod *pod,
		       const struct sample_window *window, struct err *err)
{
	struct result_usage usage = {
		.result_id = window->result_id,
		.status = SAMPLE_SHARED,
		.settled = around(window).to <= t->settled_ns,
		.interval_ms = UNKNOWN,
		.figures = CONTAINER_FIGURES_INIT,
		.cores_peak_milli = UNKNOWN,
	};

	t->gaps.count = 0;
	if (!window->shared) {
		if (!kept_pod_is_ambiguous(pod))
			fold_lives(t, pod, window, &usage);
		usage.status = status_of(t, pod, window, &usage);
		usage.interval_ms = gaps_median_ms(&t->gaps);
	}
	return t->sink->result(t->sink->context, &usage, err);
}

/* ---- minutes ---- */

static int tell_minute(const struct telling *t, const struct kept_pod *pod, const struct life *life,
		       int64_t minute, struct err *err)
{
	struct interval span = {minute * MINUTE_NS, (minute + 1) * MINUTE_NS - 1};
	struct minute_usage usage = {
		.namespace = str_of(life->namespace),
		.pod = pod->name,
		.container = str_of(t->samples->container),
		.container_id = str_of(life->id),
		.minute = minute,
		.figures = CONTAINER_FIGURES_INIT,
	};

	window_add_memory(&usage.figures, &life->of[SAMPLED_WORKING_SET], &life->of[SAMPLED_ANON],
			  span);
	minute_add_cpu(&usage.figures, &life->of[SAMPLED_CPU], span);
	if (!usage.figures.memory_samples && !usage.figures.cpu_samples)
		return 0;
	return t->sink->minute(t->sink->context, &usage, err);
}

static int tell_minute_of_pod(const struct telling *t, const struct kept_pod *pod, int64_t minute,
			      struct err *err)
{
	size_t i;

	for (i = 0; i < pod->life_count; i++)
		if (tell_minute(t, pod, &pod->lives[i], minute, err) < 0)
			return -1;
	return 0;
}

/* Each minute that a window touches once: windows are sorted by their beginning. */
static int tell_minutes(const struct telling *t, const struct kept_pod *pod, struct err *err)
{
	int64_t last = INT64_MIN, minute;
	size_t i;

	for (i = 0; pod->life_count && i < pod->window_count; i++) {
		minute = minute_of(pod->windows[i]->from_ns);
		for (minute = minute > last ? minute : last + 1;
		     minute <= minute_of(pod->windows[i]->to_ns); last = minute++)
			if (tell_minute_of_pod(t, pod, minute, err) < 0)
				return -1;
	}
	return 0;
}

int samples_give(const struct samples *samples, int64_t first_ns, int64_t settled_ns,
		 const struct usage_sink *sink, struct err *err)
{
	struct telling telling = {samples, first_ns, settled_ns, sink, {NULL, 0, 0}};
	const struct kept_pod *pod;
	size_t i, j;
	int rc = 0;

	for (i = 0; rc == 0 && i < samples->pods.count; i++) {
		pod = &samples->pods.items[i];
		for (j = 0; rc == 0 && j < pod->window_count; j++)
			rc = tell_result(&telling, pod, pod->windows[j], err);
		if (rc == 0)
			rc = tell_minutes(&telling, pod, err);
	}
	gaps_release(&telling.gaps);
	return rc;
}

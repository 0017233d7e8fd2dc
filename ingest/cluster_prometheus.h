/*
 * Asks Prometheus for samples as they were scraped: range selectors in instant
 * queries ("metric{…}[6h]"), in pieces of six hours. Never query_range: it fills
 * five minutes behind each sample with its value, so that a dead container's
 * figures stand in the next action's time.
 *
 * Memory does not grow with the answers: series are handed on one by one, see
 * cluster_answer.h. One request at a time.
 */
#ifndef BR2_CLUSTER_PROMETHEUS_H
#define BR2_CLUSTER_PROMETHEUS_H

#include "cluster_series.h"
#include "util/buf.h"
#include "util/http.h"

struct prometheus;

struct prometheus_stats {
	uint64_t requests, series, samples;
	uint64_t not_finite, malformed; /* samples that were dropped */
	uint64_t bytes;			/* of JSON */
	int64_t newest_ns;		/* newest sample; INT64_MIN: none */
};

/* One line that the user should see; reading goes on. */
typedef void prometheus_warning_fn(void *context, const char *text);

/*
 * `options`: the server, with its path prefix; "/api/v1/query" is added. Nothing
 * is asked yet. -1: as http_new(). `warning` is called until prometheus_free().
 */
int prometheus_new(const struct http_options *options, prometheus_warning_fn *warning,
		   void *context, struct prometheus **out_prometheus, struct err *err);
void prometheus_free(struct prometheus *prometheus);

/*
 * All samples of `selector` after from_ns and not after to_ns, each once. The
 * series of one piece of time come before those of the next; a series that goes
 * on comes again. A question that is too much for the server is asked again in
 * halves.
 *
 * -1: fn's own error; ERR_NET: not reachable, refused, an error of the server;
 * ERR_FORMAT: that is no Prometheus; ERR_LIMIT: a series too large, or over
 * three years asked. The text names the server. What fn was given stands.
 */
int prometheus_range(struct prometheus *prometheus, const char *selector, int64_t from_ns,
		     int64_t to_ns, series_fn *fn, void *context, struct err *err);
/*
 * As prometheus_range(), for what hardly ever changes: of each piece of time the
 * last value of each series, as a sample at that piece's end.
 */
int prometheus_last(struct prometheus *prometheus, const char *selector, int64_t from_ns,
		    int64_t to_ns, series_fn *fn, void *context, struct err *err);

/*
 * Adds the selector of a metric. Namespace "": all. Container NULL: the metric
 * has no such label; "": all containers, but not the sums of whole pods.
 */
void prometheus_add_selector(struct buf *out, const char *metric, const char *namespace,
			     const char *container);

/* Borrowed; valid until the next question. */
const struct prometheus_stats *prometheus_stats(const struct prometheus *prometheus);
const char *prometheus_name(const struct prometheus *prometheus);

#endif

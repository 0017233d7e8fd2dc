/*
 * An answer of Prometheus's /api/v1/query, in pieces: bytes -> series, a pure
 * function. Envelope: prometheus web/api/v1/api.go; docs/querying/api.md.
 *
 * Memory is bounded by the largest series (at most ANSWER_SERIES_MAX bytes of
 * JSON, some ten times that while it is unpacked), not by the answer.
 */
#ifndef BR2_CLUSTER_ANSWER_H
#define BR2_CLUSTER_ANSWER_H

#include "cluster_series.h"
#include "util/json_elements.h"

/* Over six hours, a container that is scraped six times a second. */
#define ANSWER_SERIES_MAX ((size_t)4 << 20)

struct answer {
	struct json_elements elements;
	int64_t after_ns, until_ns;
	series_fn *fn;
	void *context;
	struct series_label *labels;
	size_t label_room;
	struct series_sample *samples;
	size_t sample_room;
	/* What it held. */
	uint64_t series, sample_count; /* handed on */
	uint64_t not_finite;	       /* samples of NaN or an infinity: dropped */
	uint64_t malformed;	       /* samples that are none: dropped */
	int64_t newest_ns;	       /* of the samples handed on; INT64_MIN: none */
	bool stopped;		       /* by fn: the error is its own */
	bool too_much; /* the server refused the question as too large for it, or as too slow */
};

typedef void answer_warning_fn(void *context, const char *text);

/* Samples after after_ns and not after until_ns are handed on; others, and series without any, are
 * not. */
void answer_init(struct answer *answer, int64_t after_ns, int64_t until_ns, series_fn *fn,
		 void *context);
void answer_release(struct answer *answer);
/* -1: ERR_FORMAT, ERR_LIMIT, or fn's own error. */
int answer_feed(struct answer *answer, const char *data, size_t len, struct err *err);
/*
 * At the end: reads what stood around the series. `warning` gets each of the
 * server's. -1: ERR_NET, with the server's words, where it answers with an error
 * (too_much may be set); ERR_FORMAT: not JSON, cut short, not such an answer.
 */
int answer_end(struct answer *answer, answer_warning_fn *warning, void *context, struct err *err);

#endif

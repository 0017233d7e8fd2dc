/*
 * Any bytes as an answer of Prometheus. Laws: how they are cut into pieces makes
 * no difference; samples are finite, in order, and of the time that was asked.
 */
#include "cluster_answer.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <math.h>

#define AFTER_NS INT64_C(0)
#define UNTIL_NS INT64_C(4000000000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_series(void *context, const struct series *series, struct err *err)
{
	int64_t last_ns = AFTER_NS;
	size_t i;

	(void)context, (void)err;
	assert(series->sample_count > 0);
	for (i = 0; i < series->sample_count; i++) {
		assert(isfinite(series->samples[i].value));
		assert(series->samples[i].time_ns > last_ns);
		last_ns = series->samples[i].time_ns;
	}
	assert(last_ns <= UNTIL_NS);
	for (i = 0; i < series->label_count; i++)
		assert(series->labels[i].name.data && series->labels[i].value.data);
	return 0;
}

static void on_warning(void *context, const char *text)
{
	(void)context;
	assert(text);
}

static int read_answer(const uint8_t *data, size_t size, size_t piece, uint64_t *out_samples)
{
	struct answer answer;
	struct err err = ERR_INIT;
	size_t at, len;
	int rc = 0;

	answer_init(&answer, AFTER_NS, UNTIL_NS, on_series, NULL);
	for (at = 0; rc == 0 && at < size; at += len) {
		len = size - at < piece ? size - at : piece;
		rc = answer_feed(&answer, (const char *)data + at, len, &err);
	}
	if (rc == 0)
		rc = answer_end(&answer, on_warning, NULL, &err);
	assert(rc == 0 || err.kind == ERR_FORMAT || err.kind == ERR_LIMIT || err.kind == ERR_NET);
	*out_samples = answer.sample_count;
	answer_release(&answer);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole, cut;
	int rc = read_answer(data, size, size, &whole);

	assert(read_answer(data, size, 7, &cut) == rc);
	assert(whole == cut);
	return 0;
}

#include "cluster_answer.h"

#include "util/mem.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000
/* Past this, nanoseconds no longer fit. */
#define SECONDS_MAX 9e9

/* ---- samples ---- */

/* Prometheus keeps milliseconds and writes seconds, as an integer or a real. */
static bool take_time(const json_t *value, int64_t *out_ns)
{
	double seconds = json_number_value(value);

	if (!json_is_number(value) || !(fabs(seconds) < SECONDS_MAX))
		return false;
	*out_ns = llround(seconds * 1000) * NS_PER_MS;
	return true;
}

/* A text, for the sake of NaN, +Inf and -Inf. */
static bool take_value(const json_t *value, double *out_number)
{
	const char *text = json_string_value(value);
	char *end;

	if (!text || !*text)
		return false;
	*out_number = strtod(text, &end);
	return end == text + json_string_length(value);
}

static void add_sample(struct answer *a, size_t count, struct series_sample sample)
{
	if (count == a->sample_room) {
		a->sample_room = count ? 2 * count : 1024;
		a->samples = xreallocarray(a->samples, a->sample_room, sizeof(*a->samples));
	}
	a->samples[count] = sample;
}

/* Adds [time, "value"] if it is one, and one that is asked for. */
static size_t take_sample(struct answer *a, const json_t *pair, size_t count)
{
	struct series_sample sample;

	if (json_array_size(pair) != 2 || !take_time(json_array_get(pair, 0), &sample.time_ns) ||
	    !take_value(json_array_get(pair, 1), &sample.value)) {
		a->malformed++;
		return count;
	}
	if (!isfinite(sample.value)) {
		a->not_finite++;
		return count;
	}
	/* Version 2 closes ranges on both sides, version 3 leaves the left one open. */
	if (sample.time_ns <= a->after_ns || sample.time_ns > a->until_ns)
		return count;
	if (count && sample.time_ns <= a->samples[count - 1].time_ns)
		return count;
	add_sample(a, count, sample);
	return count + 1;
}

/* "values" of a matrix, "value" of a vector. "histograms" (version 3) are none of ours. */
static size_t take_samples(struct answer *a, const json_t *entry)
{
	const json_t *values = json_object_get(entry, "values");
	const json_t *value = json_object_get(entry, "value");
	size_t i, count = 0;

	for (i = 0; i < json_array_size(values); i++)
		count = take_sample(a, json_array_get(values, i), count);
	return value ? take_sample(a, value, count) : count;
}

static size_t take_labels(struct answer *a, json_t *metric)
{
	const char *name;
	json_t *value;
	size_t count = 0;

	if (json_object_size(metric) > a->label_room) {
		a->label_room = json_object_size(metric);
		a->labels = xreallocarray(a->labels, a->label_room, sizeof(*a->labels));
	}
	json_object_foreach(metric, name, value) if (json_is_string(value)) a->labels[count++] =
		(struct series_label){
			str_of(name),
			{json_string_value(value), json_string_length(value)},
		};
	return count;
}

static int take_entry(struct answer *a, const json_t *entry, struct err *err)
{
	struct series series = {.labels = NULL};

	series.sample_count = take_samples(a, entry);
	if (!series.sample_count)
		return 0;
	series.label_count = take_labels(a, json_object_get(entry, "metric"));
	series.labels = a->labels;
	series.samples = a->samples;
	a->series++;
	a->sample_count += series.sample_count;
	if (a->samples[series.sample_count - 1].time_ns > a->newest_ns)
		a->newest_ns = a->samples[series.sample_count - 1].time_ns;
	a->stopped = a->fn(a->context, &series, err) < 0;
	return a->stopped ? -1 : 0;
}

static int on_element(void *context, struct str text, struct err *err)
{
	struct answer *a = context;
	json_error_t fault;
	json_t *entry = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &fault);
	int rc;

	if (json_is_object(entry))
		rc = take_entry(a, entry, err);
	else
		rc = err_set(err, ERR_FORMAT, "a series of the answer is no JSON object: %s",
			     entry ? "another value" : fault.text);
	json_decref(entry);
	return rc;
}

/* ---- the whole ---- */

void answer_init(struct answer *answer, int64_t after_ns, int64_t until_ns, series_fn *fn,
		 void *context)
{
	static const char *const path[] = {"data", "result", NULL};

	*answer = (struct answer){
		.after_ns = after_ns,
		.until_ns = until_ns,
		.fn = fn,
		.context = context,
		.newest_ns = INT64_MIN,
	};
	json_elements_init(&answer->elements, path, ANSWER_SERIES_MAX, on_element, answer);
}

void answer_release(struct answer *answer)
{
	json_elements_release(&answer->elements);
	free(answer->labels);
	free(answer->samples);
	answer->labels = NULL;
	answer->samples = NULL;
	answer->label_room = answer->sample_room = 0;
}

int answer_feed(struct answer *answer, const char *data, size_t len, struct err *err)
{
	return json_elements_feed(&answer->elements, data, len, err);
}

static void pass_warnings(const json_t *list, answer_warning_fn *warning, void *context)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (json_is_string(json_array_get(list, i)))
			warning(context, json_string_value(json_array_get(list, i)));
}

/*
 * Half the question may do: promql/engine.go ErrTooManySamples, and timeouts
 * (--query.timeout), which come with an error type of their own.
 */
static bool is_too_much(const char *type, const char *text)
{
	return strcmp(type, "timeout") == 0 || strstr(text, "too many samples") != NULL;
}

static int take_error(struct answer *a, const json_t *rest, struct err *err)
{
	const char *type = json_string_value(json_object_get(rest, "errorType"));
	const char *text = json_string_value(json_object_get(rest, "error"));

	type = type ? type : "no type";
	text = text ? text : "no text";
	a->too_much = is_too_much(type, text);
	return err_set(err, ERR_NET, "Prometheus answers with an error: %.300s (%.40s)", text,
		       type);
}

static int take_rest(struct answer *a, const json_t *rest, answer_warning_fn *warning,
		     void *context, struct err *err)
{
	const char *status = json_string_value(json_object_get(rest, "status"));

	if (status && strcmp(status, "error") == 0)
		return take_error(a, rest, err);
	if (!status || strcmp(status, "success") != 0 || !json_elements_found(&a->elements))
		return err_set(err, ERR_FORMAT, "the answer is JSON, but none of Prometheus's");
	pass_warnings(json_object_get(rest, "warnings"), warning, context);
	pass_warnings(json_object_get(rest, "infos"), warning, context);
	return 0;
}

int answer_end(struct answer *answer, answer_warning_fn *warning, void *context, struct err *err)
{
	struct str text = json_elements_rest(&answer->elements);
	json_error_t fault;
	json_t *rest = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &fault);
	int rc;

	if (rest)
		rc = take_rest(answer, rest, warning, context, err);
	else
		rc = err_set(err, ERR_FORMAT, "the answer is not JSON, or cut short: %s",
			     fault.text);
	json_decref(rest);
	return rc;
}

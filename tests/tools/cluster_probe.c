/*
 * Prints what the cluster's readers give, one JSON object a line, with nothing
 * else of the program: for tests against a real Prometheus and made answers.
 *
 * usage: cluster_probe [OPTION…] pods SOURCE
 *        cluster_probe [OPTION…] evidence URL FROM TO
 *        cluster_probe [OPTION…] range|last URL FROM TO SELECTOR
 *
 * FROM and TO are seconds since the epoch. The last line is the tally. Warnings
 * go to standard error. Exit code: 0; 2 and one line of error; 3 usage.
 */
#include "cluster_evidence.h"
#include "cluster_pods.h"
#include "util/json.h"
#include "util/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct http_options http;
	struct cluster_selector selector;
	const char *verb, *source, *metric;
	int64_t from_ns, to_ns;
	long long silence_s, body_max;
	bool quiet;
};

/* ---- printing ---- */

static void text(struct buf *line, const char *name, struct str value)
{
	buf_addf(line, "%s\"%s\":", line->len > 1 ? "," : "", name);
	json_add_text(line, value);
}

/* A string beyond 2^53, as everywhere in the program's JSON. */
static void number(struct buf *line, const char *name, int64_t value)
{
	buf_addf(line, "%s\"%s\":", line->len > 1 ? "," : "", name);
	if (value == UNKNOWN || value == INT64_MIN)
		buf_addstr(line, "null");
	else
		json_add_integer(line, value);
}

static int print(struct buf *line)
{
	printf("%s}\n", line->data);
	buf_release(line);
	return 0;
}

static int print_container(void *context, const struct container_spec *spec, struct err *err)
{
	struct buf line = BUF_INIT;

	(void)context, (void)err;
	buf_addch(&line, '{');
	text(&line, "row", STR("container"));
	number(&line, "layer", spec->layer);
	text(&line, "namespace", spec->namespace);
	text(&line, "pod", spec->pod);
	text(&line, "uid", spec->uid);
	text(&line, "node", spec->node);
	text(&line, "container", spec->container);
	number(&line, "cpu_request", spec->cpu_request_millicores);
	number(&line, "cpu_limit", spec->cpu_limit_millicores);
	number(&line, "memory_request", spec->memory_request_bytes);
	number(&line, "memory_limit", spec->memory_limit_bytes);
	number(&line, "restarts", spec->restart_count);
	return print(&line);
}

static int print_termination(void *context, const struct termination *end, struct err *err)
{
	struct buf line = BUF_INIT;

	(void)context, (void)err;
	buf_addch(&line, '{');
	text(&line, "row", STR("termination"));
	number(&line, "layer", end->layer);
	text(&line, "namespace", end->namespace);
	text(&line, "pod", end->pod);
	text(&line, "uid", end->uid);
	text(&line, "container", end->container);
	text(&line, "container_id", end->container_id);
	text(&line, "reason", end->reason);
	number(&line, "exit_code", end->exit_code);
	number(&line, "signal", end->signal);
	number(&line, "started_ns", end->started_ns);
	number(&line, "finished_ns", end->finished_ns);
	number(&line, "restarts", end->restarts);
	return print(&line);
}

static int print_oom(void *context, const struct oom_count *oom, struct err *err)
{
	struct buf line = BUF_INIT;

	(void)context, (void)err;
	buf_addch(&line, '{');
	text(&line, "row", STR("oom"));
	number(&line, "layer", oom->layer);
	text(&line, "namespace", oom->namespace);
	text(&line, "pod", oom->pod);
	text(&line, "container", oom->container);
	text(&line, "container_id", oom->container_id);
	number(&line, "first_ns", oom->first_ns);
	number(&line, "last_ns", oom->last_ns);
	number(&line, "count", oom->count);
	return print(&line);
}

/* `context` is what main() was given. */
static int print_series(void *context, const struct series *series, struct err *err)
{
	const struct arguments *a = context;
	struct buf line = BUF_INIT;
	size_t i;

	(void)err;
	if (a->quiet)
		return 0;
	buf_addch(&line, '{');
	text(&line, "row", STR("series"));
	text(&line, "pod", series_label(series, "pod"));
	text(&line, "container", series_label(series, "container"));
	text(&line, "job", series_label(series, "job"));
	buf_addstr(&line, ",\"samples\":[");
	for (i = 0; i < series->sample_count; i++) {
		buf_addf(&line, "%s[%lld,", i ? "," : "",
			 (long long)series->samples[i].time_ns / 1000000);
		json_add_real(&line, series->samples[i].value);
		buf_addch(&line, ']');
	}
	buf_addch(&line, ']');
	return print(&line);
}

static void print_warning(void *context, const char *words)
{
	(void)context;
	fprintf(stderr, "warning: %s\n", words);
}

static void print_tally(const struct cluster_tally *tally)
{
	struct buf line = BUF_INIT;

	buf_addch(&line, '{');
	text(&line, "row", STR("tally"));
	number(&line, "pods", (int64_t)tally->pods);
	number(&line, "containers", (int64_t)tally->containers);
	number(&line, "terminations", (int64_t)tally->terminations);
	number(&line, "ooms", (int64_t)tally->ooms);
	number(&line, "passed_over", (int64_t)tally->passed_over);
	number(&line, "malformed", (int64_t)tally->malformed);
	number(&line, "unseen", (int64_t)tally->unseen);
	number(&line, "newest_ns", tally->newest_ns);
	print(&line);
}

/* Of this program alone: ru_maxrss would be that of whoever started it, where that is larger. */
static int64_t max_rss(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	int64_t bytes = UNKNOWN;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "VmHWM:", 6) == 0)
			bytes = strtoll(line + 6, NULL, 10) * 1024;
	if (file)
		fclose(file);
	return bytes;
}

static void print_stats(const struct prometheus_stats *stats)
{
	struct buf line = BUF_INIT;

	buf_addch(&line, '{');
	text(&line, "row", STR("stats"));
	number(&line, "requests", (int64_t)stats->requests);
	number(&line, "series", (int64_t)stats->series);
	number(&line, "samples", (int64_t)stats->samples);
	number(&line, "not_finite", (int64_t)stats->not_finite);
	number(&line, "malformed", (int64_t)stats->malformed);
	number(&line, "bytes", (int64_t)stats->bytes);
	number(&line, "newest_ns", stats->newest_ns);
	number(&line, "max_rss_bytes", max_rss());
	print(&line);
}

/* ---- reading ---- */

static const struct cluster_sink sink = {
	.container = print_container,
	.termination = print_termination,
	.oom = print_oom,
	.warning = print_warning,
};

static int read_pods(const struct arguments *a, struct err *err)
{
	struct cluster_tally tally = CLUSTER_TALLY_INIT;
	int rc = cluster_pods_read(a->source, &a->http, &sink, &tally, err);

	print_tally(&tally);
	return rc;
}

static int read_prometheus(struct arguments *a, struct err *err)
{
	struct cluster_tally tally = CLUSTER_TALLY_INIT;
	struct http_options options = a->http;
	struct prometheus *prometheus;
	int rc;

	options.url = a->source;
	if (prometheus_new(&options, print_warning, NULL, &prometheus, err) < 0)
		return -1;
	if (strcmp(a->verb, "evidence") == 0) {
		rc = cluster_evidence_read(prometheus, &a->selector, a->from_ns, a->to_ns, &sink,
					   &tally, err);
		print_tally(&tally);
	} else {
		rc = (strcmp(a->verb, "last") == 0 ? prometheus_last : prometheus_range)(
			prometheus, a->metric, a->from_ns, a->to_ns, print_series, a, err);
	}
	print_stats(prometheus_stats(prometheus));
	prometheus_free(prometheus);
	return rc;
}

/* ---- arguments ---- */

static int64_t seconds(const char *words)
{
	return llround(strtod(words, NULL) * 1000) * 1000000;
}

static int usage(struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "usage: cluster_probe [OPTION…] pods SOURCE | evidence URL FROM TO | "
		       "range|last URL FROM TO SELECTOR");
}

static int take_operands(struct arguments *a, int count, char **words, struct err *err)
{
	if (count < 2)
		return usage(err);
	a->verb = words[0];
	a->source = words[1];
	if (strcmp(a->verb, "pods") == 0)
		return count == 2 ? 0 : usage(err);
	if (count != (strcmp(a->verb, "evidence") == 0 ? 4 : 5))
		return usage(err);
	a->from_ns = seconds(words[2]);
	a->to_ns = seconds(words[3]);
	a->metric = words[4];
	return 0;
}

static int parse(struct arguments *a, int argc, char **argv, struct err *err)
{
	const struct option table[] = {
		{"user", 0, "NAME", OPTION_TEXT, &a->http.user, "basic authentication"},
		{"password-file", 0, "FILE", OPTION_TEXT, &a->http.password_file, "its password"},
		{"token-file", 0, "FILE", OPTION_TEXT, &a->http.token_file, "bearer token"},
		{"ca", 0, "FILE", OPTION_TEXT, &a->http.ca_file, "trusted CA"},
		{"silence", 0, "SECONDS", OPTION_NUMBER, &a->silence_s, "of a server"},
		{"body-max", 0, "BYTES", OPTION_NUMBER, &a->body_max, "of an answer"},
		{"quiet", 0, NULL, OPTION_FLAG, &a->quiet, "print no series"},
		{"namespace", 0, "NAME", OPTION_TEXT, &a->selector.namespace, "of the workers"},
		{"container", 0, "NAME", OPTION_TEXT, &a->selector.container, "of the workers"},
		{0},
	};
	const struct option *groups[] = {table, NULL};
	int operands = options_parse(groups, argc - 1, argv + 1, err);

	if (operands < 0)
		return -1;
	a->http.silence_s = a->silence_s;
	a->http.body_max = (uint64_t)a->body_max;
	return take_operands(a, operands, argv + 1, err);
}

int main(int argc, char **argv)
{
	struct arguments arguments = {
		.http = {.option_prefix = "--", .password_variable = "PROBE_PASSWORD"},
	};
	struct err err = ERR_INIT;
	int rc;

	if (parse(&arguments, argc, argv, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	if (strcmp(arguments.verb, "pods") == 0)
		rc = read_pods(&arguments, &err);
	else
		rc = read_prometheus(&arguments, &err);
	if (rc < 0)
		fprintf(stderr, "error: %s\n", err.text);
	return rc < 0 ? 2 : 0;
}

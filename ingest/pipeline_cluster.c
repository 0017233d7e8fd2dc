#include "pipeline_cluster.h"

#include "cluster_evidence.h"
#include "cluster_found.h"
#include "cluster_pods.h"
#include "pipeline_samples.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NS_PER_S INT64_C(1000000000)
/* A stretch of time costs as many requests as six hours: near ones are asked for as one. */
#define NEAR_NS (INT64_C(1800) * NS_PER_S)

struct watching {
	const struct cluster_options *options;
	const char *cache;
	int64_t now_ns; /* when the program began: what is older had its time to be scraped */
	struct prometheus *prometheus; /* NULL: not asked */
	struct store *store;	       /* NULL: --dry-run */
	bool *trouble;
};

static void on_warning(void *context, const char *text)
{
	(void)context;
	msg_warn("%s", text);
}

/* A layer that cannot be read is said; the others go on. */
static int tell_fault(const struct watching *watching, const struct err *fault, struct err *err)
{
	msg_progress_end();
	if (pipeline_interrupted())
		return err_set(err, ERR_IO, "interrupted");
	*watching->trouble = true;
	msg_error("%s", fault->text);
	return 0;
}

/* ---- storing ---- */

static int put_item(struct store *store, const struct found_item *item, struct err *err)
{
	switch (item->kind) {
	case FOUND_CONTAINER:
		return store_put_container(store, &item->is.container, err);
	case FOUND_TERMINATION:
		return store_put_termination(store, &item->is.termination, err);
	case FOUND_OOM:
		break;
	}
	return store_put_oom_count(store, &item->is.oom, err);
}

static int put_all(struct store *store, const struct found *found, const struct look *look,
		   const struct interval *span, struct err *err)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (put_item(store, &found->items[i], err) < 0)
			return -1;
	return span ? store_put_look(store, look, *span, err) : 0;
}

/* `span` NULL: nothing was looked at to its end. */
static int store_found(struct store *store, const struct found *found, const struct look *look,
		       const struct interval *span, struct err *err)
{
	if (!store)
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	if (put_all(store, found, look, span, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err);
}

/* ---- pods ---- */

static bool is_url(const char *source)
{
	return strncmp(source, "http://", 7) == 0 || strncmp(source, "https://", 8) == 0;
}

/*
 * When the pods were listed, at the earliest: a file was written then, and what
 * comes through a pipe may have been waiting there since the program began.
 */
static int64_t time_of_list(const struct watching *watching, const char *source)
{
	struct stat stat_of;

	if (is_url(source))
		return clock_now_ns();
	if (strcmp(source, "-") == 0 || stat(source, &stat_of) < 0)
		return watching->now_ns;
	return (int64_t)stat_of.st_mtim.tv_sec * NS_PER_S + stat_of.st_mtim.tv_nsec;
}

static struct interval span_of_list(const struct cluster_tally *tally, int64_t listed_ns)
{
	int64_t from_ns = tally->oldest_ns;

	return (struct interval){from_ns == UNKNOWN || from_ns > listed_ns ? listed_ns : from_ns,
				 listed_ns};
}

static void tell_pods(const char *source, const struct cluster_tally *tally)
{
	const char *name = strcmp(source, "-") == 0 ? "standard input" : source;

	if (!tally->containers)
		msg_warn("%s: a list without any pod says nothing", name);
	else
		msg_note("%s: %" PRIu64 " pods, %" PRIu64 " containers, %" PRIu64
			 " ends of containers",
			 name, tally->pods, tally->containers, tally->terminations);
}

static int read_pods(const struct watching *watching, const char *source, struct err *err)
{
	struct look look = {LAYER_PODS, watching->cache, ""};
	struct cluster_tally tally = CLUSTER_TALLY_INIT;
	struct err fault = ERR_INIT;
	struct found found;
	struct cluster_sink sink = found_sink(&found, on_warning);
	int64_t listed_ns = time_of_list(watching, source);
	struct interval span;
	int failed, stored;

	found_init(&found);
	failed = cluster_pods_read(source, &watching->options->pods_http, &sink, &tally, &fault);
	span = span_of_list(&tally, listed_ns);
	stored = store_found(watching->store, &found, &look,
			     failed || !tally.containers ? NULL : &span, err);
	found_release(&found);
	if (stored < 0)
		return -1;
	if (failed)
		return tell_fault(watching, &fault, err);
	tell_pods(source, &tally);
	return 0;
}

/* ---- what to ask Prometheus about ---- */

/* Moments that the settings make of now. */
struct horizon {
	int64_t oldest_ns;  /* Prometheus knows nothing older */
	int64_t settled_ns; /* what is younger may not be scraped yet */
};

static int take_horizon(void *context, const struct row *row, struct err *err)
{
	struct horizon *horizon = context;

	(void)err;
	horizon->oldest_ns = row->values[0].integer;
	horizon->settled_ns = row->values[1].integer;
	return 1;
}

/* A setting that the user has deleted or made a text of is as it was made. */
static int read_horizon(const struct watching *watching, struct horizon *out, struct err *err)
{
	struct param now = {":now", {.type = VALUE_INTEGER, .integer = watching->now_ns}};

	return store_query(
		watching->store,
		"SELECT CAST(:now - 3600e9 * ifnull((SELECT value FROM setting"
		" WHERE key = 'prometheus_hours' AND typeof(value) IN ('integer', 'real')), 48)"
		" AS INTEGER), CAST(:now - 1e9 * ifnull((SELECT value FROM setting"
		" WHERE key = 'prometheus_lag_s' AND typeof(value) IN ('integer', 'real')), 120)"
		" AS INTEGER)",
		&now, 1, take_horizon, out, err);
}

static int take_name(void *context, const struct row *row, struct err *err)
{
	struct buf *name = context;

	(void)err;
	buf_add(name, row->values[0].text.data, row->values[0].text.len);
	return 1;
}

/* The container in which actions run, as the views have it. */
static int read_container(const struct watching *watching, struct buf *out, struct err *err)
{
	return store_query(watching->store,
			   "SELECT CAST(value AS TEXT) FROM setting WHERE key = 'runner_container'",
			   NULL, 0, take_name, out, err);
}

struct wants {
	struct intervals list;
	int64_t oldest_ns, newest_ns;
};

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int take_run(void *context, const struct row *row, struct err *err)
{
	struct wants *wants = context;

	(void)err;
	intervals_add(&wants->list, at_least(row->values[0].integer, wants->oldest_ns),
		      at_most(row->values[1].integer, wants->newest_ns));
	return 0;
}

/*
 * Of all runs of the cluster that are not too old, less what was looked at. A log
 * may name any duration: a sum that overflows is a real number to SQLite.
 */
static int list_wants(const struct watching *watching, const struct look *look, struct wants *wants,
		      struct err *err)
{
	struct param params[] = {
		{":cache", {.type = VALUE_TEXT, .text = str_of(watching->cache)}},
		{":oldest", {.type = VALUE_INTEGER, .integer = wants->oldest_ns}},
	};
	struct intervals looks = INTERVALS_INIT;
	size_t i;
	int rc;

	rc = store_query(watching->store,
			 "SELECT CAST(from_ns AS INTEGER), CAST(to_ns AS INTEGER) FROM _run_time"
			 " WHERE cache = :cache AND from_ns IS NOT NULL AND to_ns > :oldest",
			 params, 2, take_run, wants, err);
	if (rc == 0)
		rc = store_get_looks(watching->store, look, &looks, err);
	intervals_join(&wants->list, NEAR_NS);
	for (i = 0; rc == 0 && i < looks.count; i++)
		intervals_subtract(&wants->list, looks.items[i]);
	intervals_release(&looks);
	return rc;
}

/* ---- asking Prometheus ---- */

/* Only kube-state-metrics tells of ends: without it nothing was looked at. */
static void tell_prometheus(const struct watching *watching, const struct cluster_tally *tally)
{
	const char *name = prometheus_name(watching->prometheus);

	if (tally->pods && !tally->containers)
		msg_warn("%s: knows nothing of kube-state-metrics, which tells how containers end",
			 name);
	msg_note("%s: %" PRIu64 " pods, %" PRIu64 " ends of containers, %" PRIu64
		 " kills inside of living ones (%" PRIu64 " requests)",
		 name, tally->pods, tally->terminations, tally->ooms,
		 prometheus_stats(watching->prometheus)->requests);
	if (tally->unseen)
		msg_warn("%s: %" PRIu64 " more ends of containers fell between two scrapes, and "
			 "only the restarts tell of them",
			 name, tally->unseen);
}

static void add_tally(struct cluster_tally *sum, const struct cluster_tally *tally)
{
	sum->pods = tally->pods > sum->pods ? tally->pods : sum->pods;
	sum->containers += tally->containers;
	sum->terminations += tally->terminations;
	sum->ooms += tally->ooms;
	sum->unseen += tally->unseen;
}

/* A question that is the same for all stretches of time. */
struct question {
	struct cluster_selector selector;
	struct look look;
	int64_t settled_ns;
};

/* 1: Prometheus failed, as `fault` says; 0; -1: the store did. */
static int ask_stretch(const struct watching *watching, const struct question *question,
		       struct interval span, struct cluster_tally *sum, struct err *fault,
		       struct err *err)
{
	struct cluster_tally tally = CLUSTER_TALLY_INIT;
	struct found found;
	struct cluster_sink sink = found_sink(&found, on_warning);
	struct interval settled = {span.from, at_most(span.to, question->settled_ns)};
	bool looked;
	int failed, stored;

	found_init(&found);
	failed = cluster_evidence_read(watching->prometheus, &question->selector, span.from,
				       span.to, &sink, &tally, fault);
	looked = !failed && tally.containers && settled.to >= settled.from;
	stored = store_found(watching->store, &found, &question->look, looked ? &settled : NULL,
			     err);
	found_release(&found);
	add_tally(sum, &tally);
	if (stored < 0)
		return -1;
	return failed ? 1 : 0;
}

/* 1: Prometheus failed, which is said; 0; -1: the store failed, or an interrupt. */
static int ask_wants(const struct watching *watching, const struct question *question,
		     const struct wants *wants, struct err *err)
{
	struct cluster_tally sum = CLUSTER_TALLY_INIT;
	struct err fault = ERR_INIT;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < wants->list.count; i++) {
		msg_progress("Prometheus: %zu of %zu stretches of time asked", i,
			     wants->list.count);
		rc = ask_stretch(watching, question, wants->list.items[i], &sum, &fault, err);
	}
	msg_progress_end();
	if (rc > 0)
		return tell_fault(watching, &fault, err) < 0 ? -1 : 1;
	if (rc < 0)
		return -1;
	if (wants->list.count)
		tell_prometheus(watching, &sum);
	else
		msg_note("%s: no run that it knows of and was not asked about",
			 prometheus_name(watching->prometheus));
	return 0;
}

static int ask_since(const struct watching *watching, const struct question *question,
		     int64_t oldest_ns, struct err *err)
{
	struct wants wants = {INTERVALS_INIT, oldest_ns, watching->now_ns};
	int rc = list_wants(watching, &question->look, &wants, err);

	if (rc == 0)
		rc = ask_wants(watching, question, &wants, err);
	intervals_release(&wants.list);
	return rc;
}

static int ask_samples(const struct watching *watching, const struct question *question,
		       const struct horizon *horizon, struct err *err)
{
	struct sampling sampling = {
		.prometheus = watching->prometheus,
		.store = watching->store,
		.cache = watching->cache,
		.selector = question->selector,
		.oldest_ns = horizon->oldest_ns,
		.settled_ns = horizon->settled_ns,
		.now_ns = watching->now_ns,
	};
	struct err fault = ERR_INIT;
	int rc = sampling_run(&sampling, &fault, err);

	return rc > 0 ? tell_fault(watching, &fault, err) : rc;
}

/* A server that fails is not asked further. */
static int ask_prometheus(const struct watching *watching, struct err *err)
{
	struct question question = {
		watching->options->selector, {LAYER_PROMETHEUS, watching->cache, NULL}, 0};
	struct horizon horizon = {0, 0};
	struct buf container = BUF_INIT;
	char *selector = NULL;
	int rc = -1;

	if (read_horizon(watching, &horizon, err) < 0 ||
	    read_container(watching, &container, err) < 0)
		goto out;
	if (!question.selector.container && container.len)
		question.selector.container = container.data;
	selector = cluster_selector_text(&question.selector);
	question.look.selector = selector;
	question.settled_ns = horizon.settled_ns;
	rc = ask_since(watching, &question, horizon.oldest_ns, err);
	if (rc == 0)
		rc = ask_samples(watching, &question, &horizon, err);
out:
	free(selector);
	buf_release(&container);
	return rc < 0 ? -1 : 0;
}

/* ---- the whole ---- */

int watching_run(struct watching *watching, struct store *store, bool *trouble, struct err *err)
{
	const struct cluster_options *options = watching->options;
	size_t i;

	watching->store = store;
	watching->trouble = trouble;
	for (i = 0; i < options->pod_count; i++)
		if ((store || !is_url(options->pods[i])) &&
		    read_pods(watching, options->pods[i], err) < 0)
			return -1;
	return store && watching->prometheus ? ask_prometheus(watching, err) : 0;
}

/* Is the address right, are its files there? They are read again when it is asked. */
static int check_url(const struct http_options *given, const char *url, struct err *err)
{
	struct http_options options = *given;
	struct http *http;

	options.url = url;
	if (http_new(&options, &http, err) < 0)
		return -1;
	http_free(http);
	return 0;
}

static int check_pods(const struct cluster_options *options, struct err *err)
{
	size_t i;

	for (i = 0; i < options->pod_count; i++)
		if (is_url(options->pods[i]) &&
		    check_url(&options->pods_http, options->pods[i], err) < 0)
			return err_prefix(err, "--pods");
	return 0;
}

int watching_open(struct watching **out_watching, const struct ingest_options *options,
		  struct err *err)
{
	const struct cluster_options *cluster = &options->cluster;
	struct watching *watching;

	*out_watching = NULL;
	if (!cluster->pod_count && !cluster->prometheus_http.url)
		return 0;
	if (check_pods(cluster, err) < 0)
		return -1;
	watching = xcalloc(1, sizeof(*watching));
	watching->options = cluster;
	watching->cache = options->cache;
	watching->now_ns = options->now_ns;
	if (cluster->prometheus_http.url && prometheus_new(&cluster->prometheus_http, on_warning,
							   NULL, &watching->prometheus, err) < 0) {
		free(watching);
		return err_prefix(err, "--prometheus");
	}
	*out_watching = watching;
	return 0;
}

void watching_free(struct watching *watching)
{
	if (!watching)
		return;
	prometheus_free(watching->prometheus);
	free(watching);
}

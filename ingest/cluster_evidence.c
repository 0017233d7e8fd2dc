#include "cluster_evidence.h"

#include "cluster_kept.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

/* What one container's history may hold; thrice what one that fails every minute leaves in 48
 * hours. */
#define GROUP_MAX 20000
/* How long Prometheus takes a series for alive without a new sample. */
#define AROUND_NS (INT64_C(300) * 1000000000)

/* What is asked; docs of kube-state-metrics: metrics/workload/pod-metrics.md. */
static const struct question {
	const char *name;
	enum kept_metric metric; /* KEPT_NONE: its label `resource` says which */
	bool of_container;	 /* has the label `container` */
	bool last;		 /* changes hardly ever */
	bool is_limit;
} questions[] = {
	{"kube_pod_info", KEPT_INFO, false, true, false},
	{"kube_pod_container_resource_requests", KEPT_NONE, true, true, false},
	{"kube_pod_container_resource_limits", KEPT_NONE, true, true, true},
	{"kube_pod_container_status_restarts_total", KEPT_RESTARTS, true, false, false},
	{"kube_pod_container_status_last_terminated_timestamp", KEPT_ENDED, true, false, false},
	{"kube_pod_container_status_last_terminated_reason", KEPT_REASON, true, false, false},
	{"kube_pod_container_status_last_terminated_exitcode", KEPT_EXIT, true, false, false},
	{"container_oom_events_total", KEPT_OOM, true, false, false},
};

struct reading {
	const struct cluster_sink *sink;
	struct cluster_tally *tally;
	int64_t from_ns, to_ns;
	const struct question *question; /* being asked */
	struct kept_list kept;
	const struct kept *info; /* of the pod whose containers follow */
	bool no_times;		 /* terminations without a time were seen */
};

/* The runs of one container, sorted by metric and time. */
struct group {
	struct kept *const *items;
	size_t count;
};

/* ---- what comes in ---- */

/* Resources of other names (ephemeral-storage, devices) are none of ours. */
static enum kept_metric metric_of(const struct question *question, const struct series *series)
{
	struct str resource = series_label(series, "resource");

	if (question->metric != KEPT_NONE)
		return question->metric;
	if (str_is(resource, "cpu"))
		return question->is_limit ? KEPT_CPU_LIMIT : KEPT_CPU_REQUEST;
	if (str_is(resource, "memory"))
		return question->is_limit ? KEPT_MEMORY_LIMIT : KEPT_MEMORY_REQUEST;
	return KEPT_NONE;
}

static int on_series(void *context, const struct series *series, struct err *err)
{
	struct reading *r = context;
	enum kept_metric metric = metric_of(r->question, series);

	if (metric == KEPT_NONE || !series_label(series, "pod").data ||
	    (r->question->of_container && !series_label(series, "container").data)) {
		r->tally->passed_over++;
		return 0;
	}
	return kept_add(&r->kept, metric, series, err);
}

/* ---- numbers ---- */

/* UNKNOWN where it is no count: below zero, or beyond what a double counts exactly. */
static int64_t whole(double value)
{
	return value >= 0 && value <= 9007199254740992.0 ? llround(value) : UNKNOWN;
}

static int64_t scaled(const struct kept *kept, double factor)
{
	return kept ? whole(kept->value * factor) : UNKNOWN;
}

/* The runs of one metric are neighbours. Their newest; NULL: none. */
static const struct kept *newest(struct group group, enum kept_metric metric)
{
	const struct kept *found = NULL;
	size_t i;

	for (i = 0; i < group.count; i++)
		if (group.items[i]->metric == metric &&
		    (!found || group.items[i]->last_ns > found->last_ns))
			found = group.items[i];
	return found;
}

/* ---- containers ---- */

/* Of the pod, else as the container's resources say it. */
static struct str node_of(const struct reading *r, struct group group)
{
	size_t i;

	if (r->info && kept_same(r->info, group.items[0], KEPT_CONTAINER) &&
	    r->info->text[KEPT_NODE].data)
		return r->info->text[KEPT_NODE];
	for (i = 0; i < group.count; i++)
		if (group.items[i]->text[KEPT_NODE].data)
			return group.items[i]->text[KEPT_NODE];
	return STR_NULL;
}

static int give_spec(struct reading *r, struct group group, struct err *err)
{
	const struct str *text = group.items[0]->text;
	struct container_spec spec = {
		.layer = LAYER_PROMETHEUS,
		.namespace = text[KEPT_NAMESPACE],
		.pod = text[KEPT_POD],
		.uid = text[KEPT_UID],
		.node = node_of(r, group),
		.container = text[KEPT_CONTAINER],
		.cpu_request_millicores = scaled(newest(group, KEPT_CPU_REQUEST), 1000),
		.cpu_limit_millicores = scaled(newest(group, KEPT_CPU_LIMIT), 1000),
		.memory_request_bytes = scaled(newest(group, KEPT_MEMORY_REQUEST), 1),
		.memory_limit_bytes = scaled(newest(group, KEPT_MEMORY_LIMIT), 1),
		.restart_count = scaled(newest(group, KEPT_RESTARTS), 1),
	};

	r->tally->containers++;
	return r->sink->container(r->sink->context, &spec, err);
}

/* ---- terminations ---- */

static int64_t shared_ns(const struct kept *run, int64_t first_ns, int64_t last_ns)
{
	return (run->last_ns < last_ns ? run->last_ns : last_ns) -
	       (run->first_ns > first_ns ? run->first_ns : first_ns);
}

static bool is_shorter(const struct kept *a, const struct kept *b)
{
	return a->last_ns - a->first_ns < b->last_ns - b->first_ns;
}

/*
 * The run of a metric that stood beside the time from first_ns to last_ns for
 * longest; of several, the one that says the least of other times. Metrics of one
 * scrape change together, so that one is beside it exactly; two scrape jobs are
 * off by less than an interval.
 */
static const struct kept *beside(struct group group, enum kept_metric metric, int64_t first_ns,
				 int64_t last_ns)
{
	const struct kept *best = NULL, *run;
	int64_t shared, most = 0;
	size_t i;

	for (i = 0; i < group.count; i++) {
		run = group.items[i];
		shared = shared_ns(run, first_ns, last_ns);
		if (run->metric != metric || shared < most ||
		    (metric == KEPT_REASON && run->value < 0.5))
			continue;
		if (!best || shared > most || is_shorter(run, best))
			best = run;
		most = shared;
	}
	return best;
}

static bool is_equal(const struct kept *a, const struct kept *b)
{
	return a->metric == b->metric && !(a->value < b->value) && !(a->value > b->value);
}

/* Did an earlier run (another scrape job, the piece of time before) say the same? */
static bool is_known(struct group group, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (is_equal(group.items[i], group.items[index]) &&
		    str_equal(group.items[i]->text[KEPT_TEXT_REASON],
			      group.items[index]->text[KEPT_TEXT_REASON]))
			return true;
	return false;
}

/* When the last run that says the same ends. */
static int64_t known_until(struct group group, size_t index)
{
	int64_t last_ns = group.items[index]->last_ns;
	size_t i;

	for (i = index + 1; i < group.count; i++)
		if (is_equal(group.items[i], group.items[index]) &&
		    group.items[i]->last_ns > last_ns)
			last_ns = group.items[i]->last_ns;
	return last_ns;
}

/* kube-state-metrics gives finishedAt in whole seconds. */
static int64_t ended_ns(const struct kept *kept)
{
	if (kept->metric != KEPT_ENDED || !(kept->value > 0 && kept->value < 9e9))
		return UNKNOWN;
	return llround(kept->value) * INT64_C(1000000000);
}

/* `index` is a run of KEPT_ENDED, or of KEPT_REASON where no times are known. */
static int give_termination(struct reading *r, struct group group, size_t index,
			    int64_t *in_out_restarts, struct err *err)
{
	const struct kept *run = group.items[index];
	int64_t last_ns = known_until(group, index);
	const struct kept *reason = beside(group, KEPT_REASON, run->first_ns, last_ns);
	struct termination end = {
		.layer = LAYER_PROMETHEUS,
		.namespace = run->text[KEPT_NAMESPACE],
		.pod = run->text[KEPT_POD],
		.uid = run->text[KEPT_UID],
		.container = run->text[KEPT_CONTAINER],
		.signal = UNKNOWN,
		.started_ns = UNKNOWN,
		.finished_ns = ended_ns(run),
	};

	end.reason = run->metric == KEPT_REASON ? run->text[KEPT_TEXT_REASON]
		     : reason			? reason->text[KEPT_TEXT_REASON]
						: STR_NULL;
	end.exit_code = scaled(beside(group, KEPT_EXIT, run->first_ns, last_ns), 1);
	end.restarts = scaled(beside(group, KEPT_RESTARTS, run->first_ns, last_ns), 1);
	if (*in_out_restarts != UNKNOWN && end.restarts > *in_out_restarts + 1)
		r->tally->unseen += (uint64_t)(end.restarts - *in_out_restarts - 1);
	if (end.restarts != UNKNOWN)
		*in_out_restarts = end.restarts;
	r->tally->terminations++;
	return r->sink->termination(r->sink->context, &end, err);
}

/* The count with which the time that was read begins. */
static int64_t first_restarts(struct group group)
{
	size_t i;

	for (i = 0; i < group.count; i++)
		if (group.items[i]->metric == KEPT_RESTARTS)
			return scaled(group.items[i], 1);
	return UNKNOWN;
}

static int give_terminations(struct reading *r, struct group group, struct err *err)
{
	enum kept_metric metric = newest(group, KEPT_ENDED) ? KEPT_ENDED : KEPT_REASON;
	int64_t restarts = first_restarts(group);
	size_t i;

	for (i = 0; i < group.count; i++) {
		if (group.items[i]->metric != metric || is_known(group, i) ||
		    group.items[i]->value < 0.5)
			continue;
		r->no_times |= metric == KEPT_REASON;
		if (give_termination(r, group, i, &restarts, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- kills that the container outlived ---- */

static struct str preferred_job(struct group group)
{
	struct str job = group.items[0]->text[KEPT_JOB];
	size_t i;

	for (i = 1; i < group.count; i++)
		if (series_job_before(group.items[i]->text[KEPT_JOB], job))
			job = group.items[i]->text[KEPT_JOB];
	return job;
}

static int give_rise(struct reading *r, const struct kept *before, const struct kept *run,
		     struct err *err)
{
	/* A counter that fell began anew with its kubelet. */
	double since = before && run->value >= before->value ? before->value : 0;
	struct oom_count oom = {
		.layer = LAYER_PROMETHEUS,
		.namespace = run->text[KEPT_NAMESPACE],
		.pod = run->text[KEPT_POD],
		.container = run->text[KEPT_CONTAINER],
		.container_id = run->text[KEPT_ID],
		.first_ns = before ? before->last_ns : UNKNOWN,
		.last_ns = run->first_ns,
		.count = whole(run->value - since),
	};

	/* A series that was there before the time asked for: when it rose is not known. */
	if (oom.count <= 0 || oom.last_ns <= r->from_ns || (before && oom.first_ns >= r->to_ns) ||
	    (!before && oom.last_ns > r->to_ns))
		return 0;
	r->tally->ooms++;
	return r->sink->oom(r->sink->context, &oom, err);
}

static int give_ooms(struct reading *r, struct group group, struct err *err)
{
	struct str job = preferred_job(group);
	const struct kept *before = NULL;
	size_t i;

	for (i = 0; i < group.count; i++) {
		if (!str_equal(group.items[i]->text[KEPT_JOB], job))
			continue;
		if (give_rise(r, before, group.items[i], err) < 0)
			return -1;
		before = group.items[i];
	}
	return 0;
}

/* ---- all of it ---- */

/* KEPT_OOM sorts last; where cAdvisor's series name no id, they share the others' group. */
static struct group split_ooms(struct group *group)
{
	struct group ooms = {group->items + group->count, 0};

	while (group->count && group->items[group->count - 1]->metric == KEPT_OOM) {
		group->count--;
		ooms.items--;
		ooms.count++;
	}
	return ooms;
}

static int give_group(struct reading *r, struct group group, struct err *err)
{
	struct group ooms = split_ooms(&group);

	if (group.count + ooms.count > GROUP_MAX) {
		r->tally->malformed++;
		r->sink->warning(r->sink->context,
				 "a container changes its state without end; it is passed over");
		return 0;
	}
	if (ooms.count && give_ooms(r, ooms, err) < 0)
		return -1;
	if (!group.count)
		return 0;
	if (group.items[0]->metric == KEPT_INFO) {
		r->info = newest(group, KEPT_INFO);
		return 0;
	}
	if (give_spec(r, group, err) < 0)
		return -1;
	return give_terminations(r, group, err);
}

static int give_all(struct reading *r, struct err *err)
{
	struct kept *const *items = r->kept.items;
	size_t start, end;

	for (start = 0; start < r->kept.count; start = end) {
		end = kept_group_end(&r->kept, start);
		if (start == 0 || !kept_same(items[start], items[start - 1], KEPT_UID))
			r->tally->pods++;
		if (give_group(r, (struct group){items + start, end - start}, err) < 0)
			return -1;
	}
	if (r->no_times)
		r->sink->warning(r->sink->context,
				 "kube-state-metrics gives no times of terminations (before 2.12)");
	return 0;
}

const char *cluster_selector_namespace(const struct cluster_selector *selector)
{
	return selector->namespace ? selector->namespace : "buildbarn";
}

const char *cluster_selector_container(const struct cluster_selector *selector)
{
	return selector->container ? selector->container : "runner";
}

char *cluster_selector_text(const struct cluster_selector *selector)
{
	return xasprintf("%s/%s", cluster_selector_namespace(selector),
			 cluster_selector_container(selector));
}

static int ask(struct reading *r, struct prometheus *prometheus,
	       const struct cluster_selector *selector, struct err *err)
{
	const struct question *q = r->question;
	struct buf text = BUF_INIT;
	int64_t from_ns = r->from_ns - AROUND_NS, to_ns = r->to_ns + AROUND_NS;
	int rc;

	prometheus_add_selector(&text, q->name, cluster_selector_namespace(selector),
				q->of_container ? cluster_selector_container(selector) : NULL);
	if (q->last)
		rc = prometheus_last(prometheus, text.data, from_ns, to_ns, on_series, r, err);
	else
		rc = prometheus_range(prometheus, text.data, from_ns, to_ns, on_series, r, err);
	buf_release(&text);
	return rc;
}

static void warn_of_nothing(const struct cluster_sink *sink,
			    const struct cluster_selector *selector)
{
	char *text = xasprintf("Prometheus knows no container '%s' in namespace '%s' in the time "
			       "of the actions",
			       cluster_selector_container(selector),
			       cluster_selector_namespace(selector));

	sink->warning(sink->context, text);
	free(text);
}

int cluster_evidence_read(struct prometheus *prometheus, const struct cluster_selector *selector,
			  int64_t from_ns, int64_t to_ns, const struct cluster_sink *sink,
			  struct cluster_tally *tally, struct err *err)
{
	const struct prometheus_stats *stats = prometheus_stats(prometheus);
	uint64_t malformed = stats->malformed;
	struct reading reading = {
		.sink = sink,
		.tally = tally,
		.from_ns = from_ns,
		.to_ns = to_ns,
	};
	size_t i;
	int rc = 0;

	kept_init(&reading.kept, EVIDENCE_MAX);
	for (i = 0; rc == 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		reading.question = &questions[i];
		rc = ask(&reading, prometheus, selector, err);
	}
	kept_sort(&reading.kept);
	if (rc == 0)
		rc = give_all(&reading, err);
	if (rc == 0 && !reading.kept.count)
		warn_of_nothing(sink, selector);
	if (stats->newest_ns > tally->newest_ns)
		tally->newest_ns = stats->newest_ns;
	tally->malformed += stats->malformed - malformed;
	kept_release(&reading.kept);
	return rc;
}

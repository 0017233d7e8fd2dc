#include "cluster_samples_kept.h"

#include "util/mem.h"

#include <stdlib.h>

/* Past these, no number is a count of bytes or of CPU seconds. */
#define BYTES_MAX 9007199254740992.0
#define CPU_SECONDS_MAX 1e9

/* ---- pods ---- */

static int compare_names(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = memcmp(a.data, b.data, shorter);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_windows(const void *x, const void *y)
{
	const struct sample_window *a = *(const struct sample_window *const *)x;
	const struct sample_window *b = *(const struct sample_window *const *)y;
	int order = compare_names(a->pod, b->pod);

	if (!order)
		order = (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
	return order ? order : (a->result_id > b->result_id) - (a->result_id < b->result_id);
}

/* A pod for each stretch of windows that share one. */
static void make_pods(struct kept_pods *pods, size_t count)
{
	struct kept_pod *pod = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!pod || !str_equal(pod->name, pods->windows[i]->pod)) {
			pod = &pods->items[pods->count++];
			*pod = (struct kept_pod){
				.name = pods->windows[i]->pod,
				.windows = pods->windows + i,
			};
		}
		pod->window_count++;
	}
}

void kept_pods_init(struct kept_pods *pods, const struct sample_window *windows, size_t count)
{
	size_t i;

	*pods = (struct kept_pods){.first_ns = INT64_MAX};
	pods->windows = xcalloc(count + 1, sizeof(*pods->windows));
	pods->items = xcalloc(count + 1, sizeof(*pods->items));
	for (i = 0; i < count; i++)
		pods->windows[i] = &windows[i];
	qsort(pods->windows, count, sizeof(*pods->windows), compare_windows);
	make_pods(pods, count);
}

static void life_release(struct life *life)
{
	size_t i;

	for (i = 0; i < SAMPLED_COUNT; i++) {
		free(life->job[i]);
		free(life->of[i].items);
	}
	free(life->namespace);
	free(life->id);
}

static void pod_release(struct kept_pod *pod)
{
	while (pod->life_count)
		life_release(&pod->lives[--pod->life_count]);
	free(pod->lives);
}

void kept_pods_release(struct kept_pods *pods)
{
	while (pods->count)
		pod_release(&pods->items[--pods->count]);
	free(pods->items);
	free(pods->windows);
}

static struct kept_pod *find_pod(const struct kept_pods *pods, struct str name)
{
	size_t low = 0, high = pods->count, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = compare_names(pods->items[middle].name, name);
		if (!order)
			return &pods->items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool kept_pod_is_ambiguous(const struct kept_pod *pod)
{
	size_t i;

	for (i = 1; i < pod->life_count; i++)
		if (strcmp(pod->lives[i].namespace, pod->lives[0].namespace) != 0)
			return true;
	return false;
}

/* ---- lives ---- */

static char *label_text(const struct series *series, const char *name)
{
	struct str value = series_label(series, name);

	return xmemdup0(value.data ? value.data : "", value.len);
}

static bool is_life(const struct life *life, struct str namespace, struct str id)
{
	return str_equal(str_of(life->id), id.data ? id : STR("")) &&
	       str_equal(str_of(life->namespace), namespace.data ? namespace : STR(""));
}

/* The newest life is looked at first: series of one life mostly come together. */
static struct life *find_life(struct kept_pods *pods, struct kept_pod *pod,
			      const struct series *series)
{
	struct str namespace = series_label(series, "namespace"), id = series_label(series, "id");
	struct life *life;
	size_t i;

	for (i = pod->life_count; i-- > 0;)
		if (is_life(&pod->lives[i], namespace, id))
			return &pod->lives[i];
	if (pod->life_count == pod->life_room) {
		pod->life_room = pod->life_room ? 2 * pod->life_room : 4;
		pod->lives = xreallocarray(pod->lives, pod->life_room, sizeof(*pod->lives));
	}
	life = &pod->lives[pod->life_count++];
	*life = (struct life){.namespace = label_text(series, "namespace"),
			      .id = label_text(series, "id")};
	pods->bytes += 2 * sizeof(*life) + namespace.len + id.len;
	return life;
}

/* ---- samples ---- */

/*
 * Does the series count? A better job than the one so far takes its place. The
 * same job comes again with the next piece of time.
 */
static bool take_job(struct kept_pods *pods, struct life *life, enum sampled metric,
		     const struct series *series)
{
	struct str job = series_label(series, "job"), kept = str_of(life->job[metric]);
	struct sample_list *list = &life->of[metric];

	if (!list->count || series_job_before(job, kept)) {
		pods->bytes -= list->count * sizeof(*list->items);
		list->count = 0;
		free(life->job[metric]);
		life->job[metric] = job.data ? xmemdup0(job.data, job.len) : NULL;
		return true;
	}
	return str_equal(job, kept);
}

static bool is_count(enum sampled metric, double value)
{
	return value >= 0 && value <= (metric == SAMPLED_CPU ? CPU_SECONDS_MAX : BYTES_MAX);
}

/* What does not come after the sample before it is another series of the same life: one counts. */
static void add_samples(struct sample_list *list, enum sampled metric, const struct series *series)
{
	const struct series_sample *sample = series->samples;
	size_t i;

	if (list->room < list->count + series->sample_count) {
		list->room = list->count + series->sample_count;
		list->items = xreallocarray(list->items, list->room, sizeof(*list->items));
	}
	for (i = 0; i < series->sample_count; i++, sample++)
		if (is_count(metric, sample->value) &&
		    (!list->count || sample->time_ns > list->items[list->count - 1].time_ns))
			list->items[list->count++] = *sample;
}

int kept_pods_add(struct kept_pods *pods, enum sampled metric, const struct series *series,
		  struct err *err)
{
	struct str name = series_label(series, "pod");
	struct kept_pod *pod;
	struct life *life;
	size_t before;

	if (!name.data)
		return 0;
	if (series->samples[0].time_ns < pods->first_ns)
		pods->first_ns = series->samples[0].time_ns;
	pod = find_pod(pods, name);
	if (!pod)
		return 0;
	life = find_life(pods, pod, series);
	if (!take_job(pods, life, metric, series))
		return 0;
	before = life->of[metric].count;
	add_samples(&life->of[metric], metric, series);
	pods->bytes += (life->of[metric].count - before) * sizeof(struct series_sample);
	pods->too_much = pods->bytes > SAMPLES_MAX;
	return pods->too_much ? err_set(err, ERR_LIMIT, "the samples of %zu pods take over %zu MiB",
					pods->count, SAMPLES_MAX >> 20)
			      : 0;
}

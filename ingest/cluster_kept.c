#include "cluster_kept.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *const label_names[KEPT_TEXT_COUNT] = {
	[KEPT_NAMESPACE] = "namespace",
	[KEPT_POD] = "pod",
	[KEPT_UID] = "uid",
	[KEPT_CONTAINER] = "container",
	[KEPT_ID] = "id",
	[KEPT_JOB] = "job",
	[KEPT_NODE] = "node",
	[KEPT_TEXT_REASON] = "reason",
};

void kept_init(struct kept_list *list, size_t max)
{
	*list = (struct kept_list){.max = max};
}

void kept_release(struct kept_list *list)
{
	while (list->count)
		free(list->items[--list->count]);
	free(list->items);
	kept_init(list, list->max);
}

/* ---- adding ---- */

/* One piece of memory: the struct, then its texts. */
static struct kept *make(const struct series *series, size_t *out_size)
{
	struct str text[KEPT_TEXT_COUNT];
	size_t i, size = sizeof(struct kept);
	struct kept *kept;
	char *at;

	for (i = 0; i < KEPT_TEXT_COUNT; i++) {
		text[i] = series_label(series, label_names[i]);
		size += text[i].len;
	}
	kept = xmalloc(size);
	at = (char *)(kept + 1);
	for (i = 0; i < KEPT_TEXT_COUNT; i++) {
		kept->text[i] = (struct str){text[i].data ? at : NULL, text[i].len};
		if (text[i].data)
			memcpy(at, text[i].data, text[i].len);
		at += text[i].len;
	}
	*out_size = size + sizeof(struct kept *);
	return kept;
}

static int add_run(struct kept_list *list, enum kept_metric metric, const struct series *series,
		   struct kept run, struct err *err)
{
	size_t size;
	struct kept *kept = make(series, &size);

	if (size > list->max - list->bytes) {
		free(kept);
		return err_set(err, ERR_LIMIT,
			       "the containers' history takes more than %zu MiB; ask for one "
			       "namespace and container, or for less time",
			       list->max >> 20);
	}
	kept->metric = metric;
	kept->value = run.value;
	kept->first_ns = run.first_ns;
	kept->last_ns = run.last_ns;
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->items = xreallocarray(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count++] = kept;
	list->bytes += size;
	return 0;
}

/* The shortest time between two samples; 0 where there are not two. */
static int64_t interval(const struct series *series)
{
	const struct series_sample *samples = series->samples;
	int64_t shortest = 0, between;
	size_t i;

	for (i = 1; i < series->sample_count; i++) {
		between = samples[i].time_ns - samples[i - 1].time_ns;
		if (!shortest || between < shortest)
			shortest = between;
	}
	return shortest;
}

/*
 * Does the run go on? A reason's series is away while another reason holds, and
 * comes back with the same value: that is another run. The other metrics' series
 * stay, and change their values.
 */
static bool goes_on(enum kept_metric metric, struct series_sample a, struct series_sample b,
		    int64_t usual)
{
	if (a.value < b.value || a.value > b.value)
		return false;
	return metric != KEPT_REASON || b.time_ns - a.time_ns <= usual + usual / 2;
}

int kept_add(struct kept_list *list, enum kept_metric metric, const struct series *series,
	     struct err *err)
{
	const struct series_sample *samples = series->samples;
	struct kept run = {.metric = metric};
	int64_t usual = interval(series);
	size_t i, start = 0;

	for (i = 1; i <= series->sample_count; i++) {
		if (i < series->sample_count && goes_on(metric, samples[i - 1], samples[i], usual))
			continue;
		run.value = samples[start].value;
		run.first_ns = samples[start].time_ns;
		run.last_ns = samples[i - 1].time_ns;
		if (add_run(list, metric, series, run, err) < 0)
			return -1;
		start = i;
	}
	return 0;
}

/* ---- order ---- */

/* Unknown stands before all texts. */
static int compare_texts(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order;

	if (!a.data || !b.data)
		return (a.data != NULL) - (b.data != NULL);
	order = memcmp(a.data, b.data, shorter);
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare(const void *x, const void *y)
{
	const struct kept *a = *(struct kept *const *)x, *b = *(struct kept *const *)y;
	int order = 0;
	size_t i;

	for (i = 0; !order && i < KEPT_KEY_COUNT; i++)
		order = compare_texts(a->text[i], b->text[i]);
	if (!order)
		order = (a->metric > b->metric) - (a->metric < b->metric);
	if (!order)
		order = (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
	/* Whatever the server's order: the result is the same. */
	return order ? order : compare_texts(a->text[KEPT_JOB], b->text[KEPT_JOB]);
}

void kept_sort(struct kept_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare);
}

bool kept_same(const struct kept *a, const struct kept *b, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!str_equal(a->text[i], b->text[i]))
			return false;
	return true;
}

size_t kept_group_end(const struct kept_list *list, size_t start)
{
	size_t end = start + 1;

	while (end < list->count && kept_same(list->items[start], list->items[end], KEPT_KEY_COUNT))
		end++;
	return end;
}

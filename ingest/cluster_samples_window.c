#include "cluster_samples_window.h"

#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_MS 1000000

size_t samples_at(const struct sample_list *list, int64_t ns)
{
	size_t low = 0, high = list->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list->items[middle].time_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One past the last sample in the span. */
static size_t end_of(const struct sample_list *list, struct interval span)
{
	return span.to == INT64_MAX ? list->count : samples_at(list, span.to + 1);
}

size_t samples_in(const struct sample_list *list, struct interval span)
{
	size_t start = samples_at(list, span.from), end = end_of(list, span);

	return end > start ? end - start : 0;
}

/* ---- memory ---- */

static void keep_largest(const struct sample_list *list, struct interval span, int64_t *largest)
{
	size_t i, end = end_of(list, span);

	for (i = samples_at(list, span.from); i < end; i++)
		if (llround(list->items[i].value) > *largest) /* UNKNOWN is less than any value */
			*largest = llround(list->items[i].value);
}

void window_add_memory(struct container_figures *figures, const struct sample_list *working_set,
		       const struct sample_list *anon, struct interval span)
{
	figures->memory_samples += (int64_t)samples_in(working_set, span);
	keep_largest(working_set, span, &figures->working_set_peak_bytes);
	keep_largest(anon, span, &figures->anon_peak_bytes);
}

/* ---- CPU ---- */

/* Sums stop at the largest integer, whatever a server sends. */
static void add_to(int64_t *sum, int64_t value)
{
	int64_t known = *sum == UNKNOWN ? 0 : *sum;

	*sum = value > INT64_MAX - known ? INT64_MAX : known + value;
}

/* False where the counter fell: it began anew. */
static bool add_rise(struct container_figures *figures, struct series_sample a,
		     struct series_sample b, int64_t *cores_peak_milli)
{
	double seconds = b.value - a.value;
	int64_t took_ns = b.time_ns - a.time_ns, milli;

	if (seconds < 0)
		return false;
	add_to(&figures->cpu_ns, llround(seconds * 1e9));
	add_to(&figures->cpu_window_ns, took_ns);
	milli = llround(seconds * 1e12 / (double)took_ns);
	if (milli > *cores_peak_milli)
		*cores_peak_milli = milli;
	return true;
}

void window_add_cpu(struct container_figures *figures, const struct sample_list *cpu,
		    struct interval span, int64_t *cores_peak_milli)
{
	size_t i, end = end_of(cpu, span);

	figures->cpu_samples += (int64_t)samples_in(cpu, span);
	for (i = samples_at(cpu, span.from) + 1; i < end; i++)
		add_rise(figures, cpu->items[i - 1], cpu->items[i], cores_peak_milli);
}

void minute_add_cpu(struct container_figures *figures, const struct sample_list *cpu,
		    struct interval span)
{
	size_t i = samples_at(cpu, span.from), end = end_of(cpu, span);
	int64_t peak = UNKNOWN;

	for (i = i ? i : 1; i < end; i++)
		if (cpu->items[i].time_ns - cpu->items[i - 1].time_ns <= SAMPLES_AROUND_NS)
			figures->cpu_samples +=
				add_rise(figures, cpu->items[i - 1], cpu->items[i], &peak);
}

/* ---- how often ---- */

void gaps_release(struct sample_gaps *gaps)
{
	free(gaps->ns);
	*gaps = (struct sample_gaps){NULL, 0, 0};
}

void gaps_add(struct sample_gaps *gaps, const struct sample_list *list, struct interval span)
{
	size_t i, end = end_of(list, span);

	for (i = samples_at(list, span.from) + 1; i < end; i++) {
		if (gaps->count == gaps->room) {
			gaps->room = gaps->room ? 2 * gaps->room : 64;
			gaps->ns = xreallocarray(gaps->ns, gaps->room, sizeof(*gaps->ns));
		}
		gaps->ns[gaps->count++] = list->items[i].time_ns - list->items[i - 1].time_ns;
	}
}

static int compare_gaps(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

int64_t gaps_median_ms(struct sample_gaps *gaps)
{
	if (!gaps->count)
		return UNKNOWN;
	qsort(gaps->ns, gaps->count, sizeof(*gaps->ns), compare_gaps);
	return gaps->ns[gaps->count / 2] / NS_PER_MS;
}

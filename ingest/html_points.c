#include "html_points.h"

#include "util/mem.h"

#include <stdlib.h>

#define NS_PER_S 1e9

/* Columns of html_points.sql. */
enum { WALL, CPU, RSS, SIGNAL, BY_OTHERS, CONTAINER, HAS_RESULT, FIRST_PHASE };

static bool is_known(const struct value *value)
{
	return value->type != VALUE_NULL;
}

static int64_t integer_of(const struct value *value)
{
	return is_known(value) ? value->integer : UNKNOWN;
}

static void add_phases(struct points *points, const struct value *values)
{
	int i;

	for (i = 0; i < PHASE_COUNT; i++) {
		struct phase *phase = &points->phases[i];
		double s = (double)values[i].integer / NS_PER_S;

		if (!is_known(&values[i]))
			continue;
		if (s < 0) {
			phase->skewed++;
			continue;
		}
		phase->known++;
		phase->sum_s += s;
		if (s > phase->max_s)
			phase->max_s = s;
	}
}

static void add_point(struct points *points, const struct value *values)
{
	int64_t wall_ns = values[WALL].integer;
	int64_t rss = integer_of(&values[RSS]);
	int64_t container = integer_of(&values[CONTAINER]);
	int64_t peak = rss > container ? rss : container;

	if (points->count == points->cap) {
		points->cap = points->cap ? points->cap * 2 : 256;
		points->items = xreallocarray(points->items, points->cap, sizeof(*points->items));
	}
	points->items[points->count++] =
		(struct point){.wall_s = (double)wall_ns / NS_PER_S,
			       .cores = figures_cores(wall_ns, values[CPU].integer),
			       .peak_bytes = peak == UNKNOWN ? -1 : (double)peak};
	points->peaks += peak != UNKNOWN;
	figures_add(&points->figures, wall_ns, values[CPU].integer, rss, is_known(&values[SIGNAL]));
	points->by_others += integer_of(&values[BY_OTHERS]) == 1;
}

static int take(void *context, const struct row *row, struct err *err)
{
	struct points *points = context;

	(void)err;
	points->digests++;
	if (!row->values[HAS_RESULT].integer)
		return 0;
	points->results++;
	add_phases(points, row->values + FIRST_PHASE);
	if (!is_known(&row->values[CPU]))
		return 0;
	if (is_known(&row->values[WALL]))
		add_point(points, row->values);
	else
		points->untimed++;
	return 0;
}

int points_read(struct html_page *page, struct points *points, struct err *err)
{
	*points = (struct points){0};
	figures_init(&points->figures);
	if (html_ask(page, "html_points", take, points, err) < 0)
		return -1;
	figures_finish(&points->figures);
	return 0;
}

void points_release(struct points *points)
{
	free(points->items);
	figures_release(&points->figures);
	*points = (struct points){0};
}

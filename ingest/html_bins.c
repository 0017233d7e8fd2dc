#include "html_bins.h"

#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

void bins_init(struct bins *bins, size_t columns, size_t rows)
{
	*bins = (struct bins){.columns = columns, .rows = rows};
	bins->counts = xcalloc(columns * rows, sizeof(*bins->counts));
}

void bins_release(struct bins *bins)
{
	free(bins->counts);
	*bins = (struct bins){0};
}

static size_t cell_of(double share, size_t count)
{
	double cell = floor(share * (double)count);

	if (!(cell > 0))
		return 0;
	return cell < (double)count ? (size_t)cell : count - 1;
}

void bins_add(struct bins *bins, double x, double y)
{
	size_t at = cell_of(y, bins->rows) * bins->columns + cell_of(x, bins->columns);
	uint32_t count = ++bins->counts[at];

	bins->used += count == 1;
	if (count > bins->largest)
		bins->largest = count;
}

uint32_t bins_count(const struct bins *bins, size_t column, size_t row)
{
	return bins->counts[row * bins->columns + column];
}

int bins_level(uint32_t count, uint32_t largest, int levels)
{
	int level;

	if (largest <= 1)
		return levels - 1;
	level = (int)(log(count) / log(largest) * levels);
	return level < levels ? level : levels - 1;
}

void series_init(struct series *series, double from, double to, size_t count)
{
	*series = (struct series){.from = from, .count = count};
	series->width = to > from ? (to - from) / (double)count : 1;
	series->columns = xcalloc(count, sizeof(*series->columns));
}

void series_release(struct series *series)
{
	free(series->columns);
	*series = (struct series){0};
}

void series_add(struct series *series, double from, double to, double value)
{
	double end = series->from + series->width * (double)series->count;
	size_t i;

	if (to <= series->from || from >= end)
		return;
	for (i = cell_of((from - series->from) / (end - series->from), series->count);
	     i < series->count; i++) {
		struct series_column *column = &series->columns[i];
		double begin = series->from + series->width * (double)i;
		double held = fmin(to, begin + series->width) - fmax(from, begin);

		if (begin >= to)
			break;
		if (held <= 0)
			continue;
		column->sum += held * value;
		column->largest = fmax(column->largest, value);
	}
}

double series_average(const struct series *series, size_t column)
{
	return series->columns[column].sum / series->width;
}

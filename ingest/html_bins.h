/*
 * Many points as few cells: counts by place in a grid, so that a page of half a
 * million executions stays small. And values over time as few columns. Pure.
 */
#ifndef BR2_HTML_BINS_H
#define BR2_HTML_BINS_H

#include <stddef.h>
#include <stdint.h>

struct bins {
	size_t columns, rows;
	uint32_t *counts; /* row by row */
	uint32_t largest;
	size_t used; /* cells that have any */
};

void bins_init(struct bins *bins, size_t columns, size_t rows);
void bins_release(struct bins *bins);
/* Counts a point at `x`, `y`, each from 0 to 1; beyond is in the outermost cell. */
void bins_add(struct bins *bins, double x, double y);
uint32_t bins_count(const struct bins *bins, size_t column, size_t row);
/* 0 to levels - 1 by the logarithm of a count of 1 to `largest`. */
int bins_level(uint32_t count, uint32_t largest, int levels);

struct series_column {
	double sum; /* of value times time */
	double largest;
};

/* A value that changes in steps, as columns of equal time. */
struct series {
	double from, width; /* time at the first column's begin; of each column, above 0 */
	size_t count;
	struct series_column *columns;
};

void series_init(struct series *series, double from, double to, size_t count);
void series_release(struct series *series);
/* The value was `value` from `from` to `to`. What is outside of the columns counts for nothing. */
void series_add(struct series *series, double from, double to, double value);
/* The average of a column over its time; where nothing was added it is 0. */
double series_average(const struct series *series, size_t column);

#endif

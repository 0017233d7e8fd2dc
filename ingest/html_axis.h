/* Axes of plots: where a value goes, and where the ticks are. Pure. */
#ifndef BR2_HTML_AXIS_H
#define BR2_HTML_AXIS_H

#include <stdbool.h>

struct axis {
	double from, to;   /* values at the ends; finite, from < to, above 0 where is_log */
	double start, end; /* where these are in the picture; an upward axis has start > end */
	bool is_log;
	double step; /* between two ticks: a difference, or a factor where is_log */
};

/* From 0 to a round number not below `to`, with at most `ticks` (2 or more) steps of 1, 2 or 5
 * times a power of 10. */
struct axis axis_linear(double to, int ticks);
/*
 * From a power of `base` not above `from` to one not below `to`, with at most
 * `ticks` (2 or more) steps. `from` is above 0.
 */
struct axis axis_log(double from, double to, double base, int ticks);

/* Where `value` is; one beyond an end is at that end. */
double axis_place(const struct axis *axis, double value);
/* The value of tick `index`, from 0; false: there is none any more. */
bool axis_tick(const struct axis *axis, int index, double *out_value);

#endif

#include "html_axis.h"

#include <math.h>

/* The least of 1, 2, 5 times a power of 10 that is not below `rough`. */
static double round_step(double rough)
{
	double power = pow(10, floor(log10(rough)));

	if (rough <= power)
		return power;
	if (rough <= 2 * power)
		return 2 * power;
	return rough <= 5 * power ? 5 * power : 10 * power;
}

struct axis axis_linear(double to, int ticks)
{
	struct axis axis = {.from = 0};

	axis.step = round_step((to > 0 ? to : 1) / ticks);
	axis.to = axis.step * ceil((to > 0 ? to : 1) / axis.step - 1e-9);
	return axis;
}

struct axis axis_log(double from, double to, double base, int ticks)
{
	/* A power of the base itself must not slip to the next one by rounding. */
	double low = floor(log(from) / log(base) + 1e-9);
	double high = ceil(log(to > from ? to : from) / log(base) - 1e-9);
	double skip;

	if (high <= low)
		high = low + 1;
	skip = ceil((high - low) / ticks);
	high = low + skip * ceil((high - low) / skip);
	return (struct axis){.from = pow(base, low),
			     .to = pow(base, high),
			     .is_log = true,
			     .step = pow(base, skip)};
}

double axis_place(const struct axis *axis, double value)
{
	double share;

	if (value <= axis->from)
		return axis->start;
	if (value >= axis->to)
		return axis->end;
	share = axis->is_log ? log(value / axis->from) / log(axis->to / axis->from)
			     : (value - axis->from) / (axis->to - axis->from);
	return axis->start + share * (axis->end - axis->start);
}

bool axis_tick(const struct axis *axis, int index, double *out_value)
{
	double value = axis->is_log ? axis->from * pow(axis->step, index)
				    : axis->from + axis->step * index;

	*out_value = value;
	return value <= axis->to * (1 + 1e-9);
}

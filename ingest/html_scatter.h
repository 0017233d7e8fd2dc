/*
 * A scatter plot: points one by one where they are few, else cells that say how
 * many there are; over them lines to compare with, and named points. Pure.
 */
#ifndef BR2_HTML_SCATTER_H
#define BR2_HTML_SCATTER_H

#include "html_axis.h"
#include "util/buf.h"

#include <stddef.h>

/* More points than this are drawn as cells. */
#define SCATTER_POINTS_MAX 3000

struct scatter_line {
	double value;
	const char *label; /* text */
};

struct scatter_mark {
	double x, y;
	const char *name;  /* text: drawn beside it where there is room */
	const char *about; /* text: shown when pointed at */
};

struct scatter {
	struct axis x, y;     /* with their places */
	const double *points; /* x, y, x, y, … */
	size_t count;	      /* pairs */
	const struct scatter_line *x_lines,
		*y_lines; /* upright at an x; level at a y, from the lowest */
	size_t x_line_count, y_line_count;
	const struct scatter_mark *marks;
	size_t mark_count;
};

/* Adds all but the axes. Returns the cells that were drawn; 0: points, one by one. */
size_t scatter_add(struct buf *html, const struct scatter *scatter);

#endif

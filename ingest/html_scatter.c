#include "html_scatter.h"

#include "html_bins.h"
#include "html_svg.h"
#include "html_text.h"

#include <math.h>
#include <stdbool.h>

/* Cells of five units: what a mark of a single point takes, too. */
#define CELL 5
#define LEVELS 5

/* ---- points and cells ---- */

static void add_dots(struct buf *html, const struct scatter *plot)
{
	size_t i;

	/* One path of strokes without length: a dot takes a dozen bytes. */
	buf_addstr(html, "<path class=\"dots\" d=\"");
	for (i = 0; i < plot->count; i++)
		buf_addf(html, "M%.1f %.1fh0", axis_place(&plot->x, plot->points[2 * i]),
			 axis_place(&plot->y, plot->points[2 * i + 1]));
	buf_addstr(html, "\"/>\n");
}

static void fill_bins(struct bins *bins, const struct scatter *plot)
{
	double width = plot->x.end - plot->x.start;
	double height = plot->y.start - plot->y.end;
	size_t i;

	bins_init(bins, (size_t)(width / CELL), (size_t)(height / CELL));
	for (i = 0; i < plot->count; i++)
		bins_add(bins, (axis_place(&plot->x, plot->points[2 * i]) - plot->x.start) / width,
			 (plot->y.start - axis_place(&plot->y, plot->points[2 * i + 1])) / height);
}

static void add_cells_of_level(struct buf *html, const struct scatter *plot,
			       const struct bins *bins, int level)
{
	size_t column, row;

	buf_addf(html, "<path class=\"cell c%d\" d=\"", level + 1);
	for (row = 0; row < bins->rows; row++)
		for (column = 0; column < bins->columns; column++) {
			uint32_t count = bins_count(bins, column, row);

			if (count && bins_level(count, bins->largest, LEVELS) == level)
				buf_addf(html, "M%.0f %.0fh%dv-%dh-%dz",
					 plot->x.start + (double)(column * CELL),
					 plot->y.start - (double)(row * CELL), CELL, CELL, CELL);
		}
	buf_addstr(html, "\"/>\n");
}

static size_t add_cells(struct buf *html, const struct scatter *plot)
{
	struct bins bins;
	size_t used;
	int level;

	fill_bins(&bins, plot);
	for (level = 0; level < LEVELS; level++)
		add_cells_of_level(html, plot, &bins, level);
	used = bins.used;
	bins_release(&bins);
	return used;
}

/* ---- lines ---- */

static void add_label(struct buf *html, const char *class, double x, double y, const char *label)
{
	buf_addf(html, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	html_add_text(html, str_of(label));
	buf_addstr(html, "</text>\n");
}

static void add_x_lines(struct buf *html, const struct scatter *plot)
{
	size_t i;

	for (i = 0; i < plot->x_line_count; i++) {
		double x = axis_place(&plot->x, plot->x_lines[i].value);

		buf_addf(html, "<path class=\"line\" d=\"M%.1f %.1fV%.1f\"/>", x, plot->y.start,
			 plot->y.end);
		add_label(html, "lab end", x - 5, plot->y.end + 13, plot->x_lines[i].label);
	}
}

#define LINE_HEIGHT 14

/* Above its line, or below it where the next line would cross it. */
static double label_place(const struct scatter *plot, size_t index, double y)
{
	bool is_last = index + 1 == plot->y_line_count;

	if (is_last || y - axis_place(&plot->y, plot->y_lines[index + 1].value) > LINE_HEIGHT + 2)
		return y - 4;
	return y + LINE_HEIGHT - 2;
}

/* From the lowest up; a label that would cover the one below goes above that. */
static void add_y_lines(struct buf *html, const struct scatter *plot)
{
	double last = INFINITY;
	size_t i;

	for (i = 0; i < plot->y_line_count; i++) {
		double y = axis_place(&plot->y, plot->y_lines[i].value);

		buf_addf(html, "<path class=\"line\" d=\"M%.1f %.1fH%.1f\"/>", plot->x.start, y,
			 plot->x.end);
		last = fmin(label_place(plot, i, y), last - LINE_HEIGHT);
		/* On the left, where what ran short hides no line. */
		add_label(html, "lab", plot->x.start + 6, last, plot->y_lines[i].label);
	}
}

/* ---- named points ---- */

#define NAMES_MAX 8
#define NAME_CHARACTERS 26
#define CHARACTER_WIDTH 6.6
#define NAME_GAP 8
#define MARK_RADIUS 4.5

struct box {
	double left, right, top, bottom;
};

static bool overlap(const struct box *a, const struct box *b)
{
	return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_free(const struct box *box, const struct box *taken, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (overlap(box, &taken[i]))
			return false;
	return true;
}

/* A name of so many bytes beside a mark. */
static struct box box_beside(double x, double y, size_t len, bool is_left)
{
	double width = CHARACTER_WIDTH * (double)(len < NAME_CHARACTERS ? len : NAME_CHARACTERS);
	double left = is_left ? x - NAME_GAP - width : x + NAME_GAP;

	return (struct box){left, left + width, y - 8, y + 6};
}

/* A name as near to another mark as to its own reads as that one's. */
static bool is_clear(const struct scatter *plot, const struct box *box, size_t own)
{
	size_t i;

	for (i = 0; i < plot->mark_count; i++) {
		double x = axis_place(&plot->x, plot->marks[i].x);
		double y = axis_place(&plot->y, plot->marks[i].y);
		struct box around = {x - NAME_GAP, x + NAME_GAP, y - MARK_RADIUS, y + MARK_RADIUS};

		if (i != own && overlap(box, &around))
			return false;
	}
	return true;
}

static void add_mark(struct buf *html, double x, double y, const char *about)
{
	buf_addf(html, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>", x, y,
		 MARK_RADIUS);
	html_add_text(html, str_of(about));
	buf_addstr(html, "</title></circle>\n");
}

static void add_mark_name(struct buf *html, const struct box *box, double x, const char *name)
{
	bool is_left = box->right < x;

	buf_addf(html, "<text class=\"lab%s\" x=\"%.1f\" y=\"%.1f\">", is_left ? " end" : "",
		 is_left ? box->right : box->left, box->bottom - 2);
	html_add_short(html, str_of(name), NAME_CHARACTERS);
	buf_addstr(html, "</text>\n");
}

/* To the right, else to the left. False: there is no room. */
static bool find_room(const struct scatter *plot, size_t number, const struct box *taken,
		      size_t count, struct box *out)
{
	const struct scatter_mark *mark = &plot->marks[number];
	double x = axis_place(&plot->x, mark->x), y = axis_place(&plot->y, mark->y);
	int is_left;

	for (is_left = 0; is_left < 2; is_left++) {
		*out = box_beside(x, y, strlen(mark->name), is_left);
		if ((is_left ? out->left > plot->x.start : out->right < plot->x.end) &&
		    is_free(out, taken, count) && is_clear(plot, out, number))
			return true;
	}
	return false;
}

/* The first ones get their name where it covers no other and is next to no other's mark. */
static void add_mark_names(struct buf *html, const struct scatter *plot)
{
	struct box taken[NAMES_MAX];
	size_t i, names = 0;

	for (i = 0; i < plot->mark_count && names < NAMES_MAX; i++)
		if (find_room(plot, i, taken, names, &taken[names])) {
			add_mark_name(html, &taken[names], axis_place(&plot->x, plot->marks[i].x),
				      plot->marks[i].name);
			names++;
		}
}

/* Over the names, which would cover them. */
static void add_marks(struct buf *html, const struct scatter *plot)
{
	size_t i;

	add_mark_names(html, plot);
	for (i = 0; i < plot->mark_count; i++)
		add_mark(html, axis_place(&plot->x, plot->marks[i].x),
			 axis_place(&plot->y, plot->marks[i].y), plot->marks[i].about);
}

size_t scatter_add(struct buf *html, const struct scatter *scatter)
{
	size_t cells = 0;

	if (scatter->count > SCATTER_POINTS_MAX)
		cells = add_cells(html, scatter);
	else
		add_dots(html, scatter);
	add_x_lines(html, scatter);
	add_y_lines(html, scatter);
	add_marks(html, scatter);
	return cells;
}

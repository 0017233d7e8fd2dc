#include "html_plots.h"

#include "html_scatter.h"
#include "html_svg.h"
#include "html_text.h"
#include "util/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TOP 34
#define BOTTOM 364
#define HEIGHT 412
#define GIB 1073741824.0
#define MIB 1048576.0

/* ---- heavy executions ---- */

static char *about_of(const struct row *row)
{
	struct buf about = BUF_INIT;

	buf_add(&about, row->values[0].text.data, row->values[0].text.len);
	buf_addstr(&about, ": ");
	buf_add(&about, row->values[1].text.data, row->values[1].text.len);
	buf_addf(&about, ", %.1f s, %.2f cores on average", row->values[2].real,
		 row->values[3].real);
	if (row->values[4].type != VALUE_NULL)
		buf_addf(&about, ", peak %.2f GiB", (double)row->values[4].integer / GIB);
	return buf_detach(&about);
}

static int take_heavy(void *context, const struct row *row, struct err *err)
{
	struct heavies *heavies = context;
	const struct value *values = row->values;

	(void)err;
	heavies->items = xreallocarray(heavies->items, heavies->count + 1, sizeof(*heavies->items));
	heavies->items[heavies->count++] = (struct heavy){
		.wall_s = values[2].real,
		.cores = values[3].real,
		.peak_bytes = values[4].type == VALUE_NULL ? -1 : (double)values[4].integer,
		.package = xmemdup0(values[0].text.data, values[0].text.len),
		.about = about_of(row)};
	heavies->total = values[5].integer;
	return 0;
}

int heavies_read(struct html_page *page, struct heavies *heavies, struct err *err)
{
	*heavies = (struct heavies){0};
	return html_ask(page, "html_heavy", take_heavy, heavies, err);
}

void heavies_release(struct heavies *heavies)
{
	while (heavies->count) {
		struct heavy *heavy = &heavies->items[--heavies->count];

		free(heavy->package);
		free(heavy->about);
	}
	free(heavies->items);
	*heavies = (struct heavies){0};
}

/* ---- what both plots have ---- */

struct plot {
	struct scatter scatter;
	double *points;
	struct scatter_mark *marks;
	double x_least, x_most, y_least, y_most;
};

static void plot_init(struct plot *plot, size_t points, size_t marks)
{
	*plot = (struct plot){.x_least = INFINITY, .y_least = INFINITY};
	plot->points = xreallocarray(NULL, 2 * points + 1, sizeof(double));
	plot->marks = xreallocarray(NULL, marks + 1, sizeof(*plot->marks));
}

static void plot_release(struct plot *plot)
{
	free(plot->points);
	free(plot->marks);
}

static void plot_point(struct plot *plot, double x, double y)
{
	plot->points[2 * plot->scatter.count] = x;
	plot->points[2 * plot->scatter.count++ + 1] = y;
	plot->x_least = fmin(plot->x_least, x);
	plot->x_most = fmax(plot->x_most, x);
	plot->y_least = fmin(plot->y_least, y);
	plot->y_most = fmax(plot->y_most, y);
}

static void plot_mark(struct plot *plot, const struct heavy *heavy, double y)
{
	plot->marks[plot->scatter.mark_count++] =
		(struct scatter_mark){heavy->wall_s, y, heavy->package, heavy->about};
}

/* Below a millisecond nothing is told apart. */
static void set_wall_axis(struct plot *plot)
{
	struct axis *axis = &plot->scatter.x;

	*axis = axis_log(fmax(plot->x_least, 0.001), fmax(plot->x_most, 0.01), 10, 8);
	axis->start = SVG_LEFT;
	axis->end = SVG_RIGHT;
}

static void set_up_axis(struct plot *plot, struct axis axis)
{
	plot->scatter.y = axis;
	plot->scatter.y.start = BOTTOM;
	plot->scatter.y.end = TOP;
	plot->scatter.points = plot->points;
	plot->scatter.marks = plot->marks;
}

/* How the points are drawn, and how many. */
static void add_how(struct buf *caption, size_t points, size_t cells)
{
	html_add_count(caption, points);
	buf_addf(caption, " execution%s", points == 1 ? "" : "s");
	if (!cells) {
		buf_addstr(caption, ", each a dot. ");
		return;
	}
	buf_addstr(caption, " in ");
	html_add_count(caption, cells);
	buf_addstr(caption, " cells, since there are too many to draw each: the stronger a cell's "
			    "colour, the more "
			    "are in it (five steps, by the logarithm). ");
}

static void add_marked(struct buf *caption, const struct heavies *heavies, size_t marked)
{
	if (heavies->total)
		buf_addf(caption,
			 "The rings are heavy ones: %zu of %" PRId64 ", the longest first. ",
			 marked, heavies->total);
}

/* ---- wall against cores ---- */

static void describe_cores(const struct html_page *page, const struct points *points,
			   struct buf *text)
{
	buf_addf(text,
		 "Wall time on a logarithmic axis to the right, average cores upwards, of %zu "
		 "executions; "
		 "lines at %g seconds and %g cores, over which an execution is heavy.",
		 points->count, page->heavy_wall_s, page->heavy_cores);
}

static void fill_cores(const struct points *points, const struct heavies *heavies,
		       struct plot *plot)
{
	size_t i;

	plot_init(plot, points->count, heavies->count);
	for (i = 0; i < points->count; i++)
		plot_point(plot, points->items[i].wall_s, points->items[i].cores);
	for (i = 0; i < heavies->count; i++)
		plot_mark(plot, &heavies->items[i], heavies->items[i].cores);
}

static void caption_cores(const struct html_page *page, const struct points *points,
			  const struct heavies *heavies, size_t cells, struct buf *caption)
{
	add_how(caption, points->count, cells);
	add_marked(caption, heavies, heavies->count);
	buf_addf(caption,
		 "Heavy: ran over %g s, or averaged over %g cores and ran over %g s. Cores are CPU "
		 "time by wall time, an average: they say nothing of peaks.",
		 page->heavy_wall_s, page->heavy_cores, page->heavy_cores_min_s);
}

static void draw_cores(struct html_page *page, const struct points *points,
		       const struct heavies *heavies, struct plot *plot)
{
	struct buf text = BUF_INIT, wall = BUF_INIT, cores = BUF_INIT;
	struct scatter_line x_line, y_line;
	size_t cells;

	buf_addf(&wall, "heavy over %g s", page->heavy_wall_s);
	buf_addf(&cores, "heavy over %g cores", page->heavy_cores);
	x_line = (struct scatter_line){page->heavy_wall_s, wall.data};
	y_line = (struct scatter_line){page->heavy_cores, cores.data};
	plot->scatter.x_lines = &x_line;
	plot->scatter.y_lines = &y_line;
	plot->scatter.x_line_count = page->heavy_wall_s > 0;
	plot->scatter.y_line_count = page->heavy_cores > 0;
	describe_cores(page, points, &text);
	svg_begin(&page->html, "cores", HEIGHT, "Wall time against average cores", text.data);
	svg_axis_x(&page->html, &plot->scatter.x, TOP, BOTTOM, html_add_seconds, "wall time");
	svg_axis_y(&page->html, &plot->scatter.y, svg_label_number, "average cores");
	cells = scatter_add(&page->html, &plot->scatter);
	buf_clear(&text);
	caption_cores(page, points, heavies, cells, &text);
	svg_end(&page->html, text.data);
	buf_release(&text);
	buf_release(&wall);
	buf_release(&cores);
}

void plot_cores(struct html_page *page, const struct points *points, const struct heavies *heavies)
{
	struct plot plot;

	html_section(page, "wall-cores", "Wall time against cores");
	if (!points->count) {
		html_paragraph(page, "No execution with usage is known.");
	} else {
		fill_cores(points, heavies, &plot);
		plot.x_most = fmax(plot.x_most, page->heavy_wall_s);
		set_wall_axis(&plot);
		set_up_axis(&plot, axis_linear(fmax(plot.y_most, page->heavy_cores * 1.1), 6));
		draw_cores(page, points, heavies, &plot);
		plot_release(&plot);
	}
	html_section_end(page);
}

/* ---- wall against memory ---- */

struct limits {
	struct scatter_line *lines;
	char **labels; /* theirs */
	size_t count;
};

static int take_limit(void *context, const struct row *row, struct err *err)
{
	struct limits *limits = context;
	double bytes = (double)row->values[0].integer;
	struct buf label = BUF_INIT;

	(void)err;
	html_add_bytes(&label, bytes);
	buf_addstr(&label, ": ");
	buf_add(&label, row->values[1].text.data, row->values[1].text.len);
	limits->lines = xreallocarray(limits->lines, limits->count + 1, sizeof(*limits->lines));
	limits->labels = xreallocarray(limits->labels, limits->count + 1, sizeof(*limits->labels));
	limits->labels[limits->count] = buf_detach(&label);
	limits->lines[limits->count] = (struct scatter_line){bytes, limits->labels[limits->count]};
	limits->count++;
	return 0;
}

static void limits_release(struct limits *limits)
{
	while (limits->count)
		free(limits->labels[--limits->count]);
	free(limits->labels);
	free(limits->lines);
}

static void fill_memory(const struct points *points, const struct heavies *heavies,
			struct plot *plot)
{
	size_t i;

	plot_init(plot, points->peaks, heavies->count);
	for (i = 0; i < points->count; i++)
		if (points->items[i].peak_bytes > 0)
			plot_point(plot, points->items[i].wall_s, points->items[i].peak_bytes);
	for (i = 0; i < heavies->count; i++)
		if (heavies->items[i].peak_bytes > 0)
			plot_mark(plot, &heavies->items[i], heavies->items[i].peak_bytes);
}

/* How many are over each limit. */
static void add_over(struct buf *caption, const struct plot *plot, const struct limits *limits)
{
	size_t i, k;

	for (i = 0; i < limits->count; i++) {
		size_t over = 0;

		for (k = 0; k < plot->scatter.count; k++)
			over += plot->points[2 * k + 1] > limits->lines[i].value;
		buf_addstr(caption, i ? ", " : "Over a limit: ");
		html_add_count(caption, over);
		buf_addstr(caption, " over ");
		html_add_bytes(caption, limits->lines[i].value);
	}
	if (limits->count)
		buf_addstr(caption, ". ");
}

static void caption_memory(const struct points *points, const struct heavies *heavies,
			   const struct plot *plot, const struct limits *limits, size_t cells,
			   struct buf *caption)
{
	add_how(caption, plot->scatter.count, cells);
	buf_addf(caption, "Not drawn, as their memory is unknown: %zu of %zu with usage. ",
		 points->count - plot->scatter.count, points->count);
	add_marked(caption, heavies, plot->scatter.mark_count);
	add_over(caption, plot, limits);
	buf_addstr(
		caption,
		"The lines are the memory limits of the shapes and of today's pools, the request "
		"of a "
		"pool that has none. A peak is the larger one of the largest single process and of "
		"the container's sampled working "
		"set: a lower bound, most of all where an action was killed. <code>make -jN</code> "
		"follows the limit it runs under.");
}

static void draw_memory(struct html_page *page, const struct points *points,
			const struct heavies *heavies, const struct limits *limits,
			struct plot *plot)
{
	struct buf text = BUF_INIT;
	size_t cells;

	plot->scatter.y_lines = limits->lines;
	plot->scatter.y_line_count = limits->count;
	buf_addf(&text,
		 "Wall time to the right, peak memory upwards, both on logarithmic axes, of %zu "
		 "executions; %zu memory limits as lines.",
		 plot->scatter.count, limits->count);
	svg_begin(&page->html, "memory-plot", HEIGHT, "Peak memory against the shapes' limits",
		  text.data);
	svg_axis_x(&page->html, &plot->scatter.x, TOP, BOTTOM, html_add_seconds, "wall time");
	svg_axis_y(&page->html, &plot->scatter.y, html_add_bytes, "peak memory");
	cells = scatter_add(&page->html, &plot->scatter);
	buf_clear(&text);
	caption_memory(points, heavies, plot, limits, cells, &text);
	svg_end(&page->html, text.data);
	buf_release(&text);
}

int plot_memory(struct html_page *page, const struct points *points, const struct heavies *heavies,
		struct err *err)
{
	struct limits limits = {0};
	struct plot plot;
	int rc = html_ask(page, "html_lines", take_limit, &limits, err);

	html_section(page, "memory", "Memory against the shapes");
	fill_memory(points, heavies, &plot);
	if (!plot.scatter.count) {
		html_paragraph(page, "Of no execution the memory is known.");
	} else {
		if (limits.count)
			plot.y_most = fmax(plot.y_most, limits.lines[limits.count - 1].value * 1.3);
		set_wall_axis(&plot);
		set_up_axis(&plot, axis_log(fmax(plot.y_least, MIB), plot.y_most, 2, 10));
		draw_memory(page, points, heavies, &limits, &plot);
	}
	html_section_end(page);
	plot_release(&plot);
	limits_release(&limits);
	return rc;
}

#include "html_concurrency.h"

#include "html_axis.h"
#include "html_bins.h"
#include "html_svg.h"
#include "html_text.h"
#include "html_view.h"
#include "report_sql.h"

#include <inttypes.h>
#include <math.h>

#define NS_PER_S 1e9
/* So many columns are told apart on a wide screen. */
#define COLUMNS 226

struct activity {
	struct buf id, first_utc;
	double first_ns, last_ns;
	bool has_log;
	int64_t of; /* executing invocations in scope */

	double origin_ns, end_ns; /* of its steps */
	size_t changes;
	struct series queued, running;
	bool is_measured; /* origin and end are known: the second walk fills the columns */
};

static int take_invocation(void *context, const struct row *row, struct err *err)
{
	struct activity *activity = context;

	(void)err;
	buf_add(&activity->id, row->values[0].text.data, row->values[0].text.len);
	if (row->values[1].type != VALUE_NULL)
		buf_add(&activity->first_utc, row->values[1].text.data, row->values[1].text.len);
	activity->has_log = row->values[4].integer == 1;
	activity->of = row->values[5].integer;
	return 0;
}

static int take_step(void *context, const struct row *row, struct err *err)
{
	struct activity *activity = context;
	double at = (double)row->values[0].integer;
	double until = (double)row->values[1].integer;

	(void)err;
	if (activity->is_measured) {
		at -= activity->origin_ns;
		until -= activity->origin_ns;
		series_add(&activity->queued, at, until, (double)row->values[2].integer);
		series_add(&activity->running, at, until, (double)row->values[3].integer);
		return 0;
	}
	if (!activity->changes++)
		activity->origin_ns = at;
	activity->end_ns = until;
	return 0;
}

/* Twice, as the columns' width is that of the whole. */
static int read_steps(struct html_page *page, struct activity *activity, struct err *err)
{
	struct param id = {":invocation",
			   {.type = VALUE_TEXT, .text = {activity->id.data, activity->id.len}}};
	const char *sql = report_sql("html_steps");
	double length;

	if (store_query(page->store, sql, &id, 1, take_step, activity, err) < 0)
		return -1;
	length = activity->end_ns - activity->origin_ns;
	series_init(&activity->queued, 0, length, COLUMNS);
	series_init(&activity->running, 0, length, COLUMNS);
	activity->is_measured = true;
	return store_query(page->store, sql, &id, 1, take_step, activity, err);
}

static void release(struct activity *activity)
{
	buf_release(&activity->id);
	buf_release(&activity->first_utc);
	series_release(&activity->queued);
	series_release(&activity->running);
}

/* ---- the plot ---- */

static double largest_of(const struct series *series)
{
	double largest = 0;
	size_t i;

	for (i = 0; i < series->count; i++)
		largest = fmax(largest, series->columns[i].largest);
	return largest;
}

static void add_outline(struct buf *html, const struct series *series, const struct axis *x,
			const struct axis *y, bool is_average)
{
	double width = (x->end - x->start) / (double)series->count;
	size_t i;

	for (i = 0; i < series->count; i++)
		buf_addf(html, "V%.1fh%.2f",
			 axis_place(y, is_average ? series_average(series, i)
						  : series->columns[i].largest),
			 width);
}

/* The average as an area, the most as a line over it. */
static void add_series(struct buf *html, const struct series *series, const struct axis *x,
		       const struct axis *y, const char *class)
{
	buf_addf(html, "<path class=\"area %s\" d=\"M%.1f %.1f", class, x->start, y->start);
	add_outline(html, series, x, y, true);
	buf_addf(html, "V%.1fz\"/>\n<path class=\"most %s\" d=\"M%.1f %.1f", y->start, class,
		 x->start, y->start);
	add_outline(html, series, x, y, false);
	buf_addstr(html, "\"/>\n");
}

static void add_panel(struct buf *html, const struct series *series, const struct axis *x,
		      double top, double bottom, const char *class, const char *name)
{
	struct axis y = axis_linear(fmax(largest_of(series), 4), 4);

	y.start = bottom;
	y.end = top;
	svg_axis_y(html, &y, svg_label_number, name);
	add_series(html, series, x, &y, class);
}

/* Up to here time is shown in seconds, then in minutes, then in hours. */
static const struct {
	double to_s, unit_s;
	const char *name;
} units[] = {{300, 1, "seconds"}, {3 * 3600, 60, "minutes"}, {INFINITY, 3600, "hours"}};

static void add_plot(struct html_page *page, const struct activity *activity)
{
	double seconds = (activity->end_ns - activity->origin_ns) / NS_PER_S;
	struct buf name = BUF_INIT;
	struct axis ticks, x = {.to = seconds, .start = SVG_LEFT, .end = SVG_RIGHT};
	size_t unit = 0;

	while (seconds > units[unit].to_s)
		unit++;
	ticks = axis_linear(seconds / units[unit].unit_s, 8);
	/* The area ends where the invocation does, not at the next round number. */
	ticks.to = seconds / units[unit].unit_s;
	ticks.start = x.start;
	ticks.end = x.end;
	buf_addf(&name, "%s since its first action was queued", units[unit].name);
	svg_axis_x(&page->html, &ticks, 34, 342, svg_label_number, name.data);
	add_panel(&page->html, &activity->running, &x, 34, 174, "run", "running");
	add_panel(&page->html, &activity->queued, &x, 212, 342, "wait", "waiting for a worker");
	buf_release(&name);
}

/* ---- words ---- */

static void add_which(struct html_page *page, const struct activity *activity)
{
	buf_addstr(&page->html, "<p>Invocation ");
	html_add_name(&page->html, (struct str){activity->id.data, activity->id.len});
	if (activity->first_utc.len)
		buf_addf(&page->html, " of %s UTC", activity->first_utc.data);
	if (!activity->has_log)
		buf_addstr(&page->html, ", whose log is gone: it is known by what hit its results");
	if (activity->of > 1)
		buf_addf(&page->html,
			 ". Of %" PRId64
			 " that executed for these runs, it is the one with most wall "
			 "time",
			 activity->of);
	buf_addstr(&page->html, ".</p>\n");
}

static void add_picture(struct html_page *page, const struct activity *activity)
{
	double width_s = (activity->end_ns - activity->origin_ns) / NS_PER_S / COLUMNS;
	struct buf text = BUF_INIT;

	buf_addf(&text, "Two panels over time: at most %.0f running, at most %.0f waiting.",
		 largest_of(&activity->running), largest_of(&activity->queued));
	svg_begin(&page->html, "concurrency-plot", 390, "Actions running and waiting over time",
		  text.data);
	add_plot(page, activity);
	buf_clear(&text);
	html_add_count(&text, activity->changes);
	buf_addf(&text, " changes in %d columns of ", COLUMNS);
	html_add_seconds(&text, width_s);
	buf_addstr(&text,
		   ": the area is a column's average, the line the most at once. An action runs "
		   "from when a worker took it until its outputs were uploaded. Only what a known "
		   "log refers to can be seen: counts are lower bounds.");
	svg_end(&page->html, text.data);
	buf_release(&text);
}

static int add_summary(struct html_page *page, const struct activity *activity, struct err *err)
{
	static const char *const columns[] = {
		"results",   "unknown", "unknown_waits", "workers",  "peak_running", "avg_running",
		"running_s", "idle_s",	"peak_waiting",	 "queued_s", "busy_pct",     NULL};
	const struct html_view view = {.view = "concurrency_summary",
				       .label = "Concurrency in figures",
				       .columns = columns};

	return html_view_of(page, &view, "invocation",
			    (struct str){activity->id.data, activity->id.len}, err);
}

int concurrency_section(struct html_page *page, struct err *err)
{
	struct activity activity = {.id = BUF_INIT, .first_utc = BUF_INIT};
	int rc = -1;

	html_section(page, "concurrency", "Concurrency over time");
	if (html_ask(page, "html_invocation", take_invocation, &activity, err) < 0)
		goto out;
	if (!activity.id.len) {
		html_paragraph(page, "No result says who had it executed.");
		rc = 0;
		goto out;
	}
	if (read_steps(page, &activity, err) < 0)
		goto out;
	add_which(page, &activity);
	if (activity.changes)
		add_picture(page, &activity);
	rc = add_summary(page, &activity, err);
out:
	html_section_end(page);
	release(&activity);
	return rc;
}

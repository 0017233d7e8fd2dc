#include "html_phases.h"

#include "html_svg.h"
#include "html_table.h"
#include "html_text.h"

static const char *const names[PHASE_COUNT] = {"queued", "fetch", "run", "upload"};
static const char *const words[PHASE_COUNT] = {
	"queued: until a worker took it", "fetch: the worker fetched inputs",
	"run: the command ran", "upload: the worker uploaded outputs"};

static double sum_of(const struct points *points)
{
	double sum = 0;
	int i;

	for (i = 0; i < PHASE_COUNT; i++)
		sum += points->phases[i].sum_s;
	return sum;
}

#define BAR_TOP 8
#define BAR_HEIGHT 26
#define BAR_STEP 46
#define BARS_LEFT 8

static void add_bar(struct buf *html, int index, const struct phase *phase, double sum)
{
	double share = sum > 0 ? phase->sum_s / sum : 0;
	double y = BAR_TOP + index * BAR_STEP;

	buf_addf(html,
		 "<text class=\"name\" x=\"%d\" y=\"%.1f\">%s: %.2f h, %.1f %%</text>\n"
		 "<rect class=\"track\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>"
		 "<rect class=\"p%d\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
		 BARS_LEFT, y + 10, words[index], phase->sum_s / 3600, 100 * share, BARS_LEFT,
		 y + 16, SVG_RIGHT - BARS_LEFT, BAR_HEIGHT - 10, index + 1, BARS_LEFT, y + 16,
		 share * (SVG_RIGHT - BARS_LEFT), BAR_HEIGHT - 10);
}

static void add_plot(struct html_page *page, const struct points *points)
{
	struct buf text = BUF_INIT;
	double sum = sum_of(points);
	int i;

	buf_addstr(&text, "Bars of the hours in each phase:");
	for (i = 0; i < PHASE_COUNT; i++)
		buf_addf(&text, " %s %.2f h;", names[i], points->phases[i].sum_s / 3600);
	svg_begin(&page->html, "phases-plot", BAR_TOP + PHASE_COUNT * BAR_STEP,
		  "Time in each phase", text.data);
	for (i = 0; i < PHASE_COUNT; i++)
		add_bar(&page->html, i, &points->phases[i], sum);
	svg_end(&page->html,
		"Sums over all results; several run at once, so they are not the time that "
		"a build takes.");
	buf_release(&text);
}

static void add_row(struct html_table *table, int index, const struct points *points, double sum)
{
	const struct phase *phase = &points->phases[index];

	html_cell_name(table, str_of(names[index]));
	html_cell_integer(table, (int64_t)phase->known);
	html_cell_integer(table, (int64_t)(points->results - phase->known - phase->skewed));
	html_cell_integer(table, (int64_t)phase->skewed);
	html_cell_real(table, phase->sum_s / 3600, 3);
	html_cell_real(table, 100 * phase->sum_s / sum, 1);
	html_cell_real(table, phase->sum_s / (double)phase->known, 3);
	html_cell_real(table, phase->max_s, 3);
}

static void add_table(struct html_page *page, const struct points *points)
{
	static const char *const columns[] = {"phase",	 "actions", "unknown", "skewed",
					      "total_h", "pct",	    "avg_s",   "max_s"};
	struct html_table *table = html_table_new(columns, 8);
	double sum = sum_of(points);
	int i;

	for (i = 0; i < PHASE_COUNT; i++)
		add_row(table, i, points, sum);
	html_table_add(table, "Time in each phase", &page->html);
	html_table_free(table);
	html_paragraph(page,
		       "Unknown: the worker did not say, as with what the client uploaded itself. "
		       "Skewed: it ended before it began, as clocks disagree; such are in no sum.");
}

void phases_section(struct html_page *page, const struct points *points)
{
	html_section(page, "phases", "Where the time went");
	if (!points->results) {
		html_paragraph(page, "No result is known.");
	} else {
		add_plot(page, points);
		add_table(page, points);
	}
	html_section_end(page);
}

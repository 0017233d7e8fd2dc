#include "html_head.h"

#include "html_table.h"
#include "html_text.h"

#include <inttypes.h>

#define GIB 1073741824.0
#define MIB 1048576.0

/* ---- title ---- */

static void add_title(struct html_page *page)
{
	buf_addstr(&page->html, "<header>\n<p class=\"over\">br2-ingest report</p>\n<h1>");
	html_add_name(&page->html, str_of(page->scope->title.data));
	buf_addstr(&page->html, "</h1>\n");
	if (page->run.len) {
		buf_addstr(&page->html, "<p>Run ");
		html_add_name(&page->html, str_of(page->run.data));
		buf_addf(&page->html, ", begun %s UTC.</p>\n", page->first_utc.data);
	} else if (page->first_utc.len) {
		buf_addf(&page->html, "<p>Runs begun from %s to %s UTC.</p>\n",
			 page->first_utc.data, page->last_utc.data);
	}
	buf_addstr(&page->html, "</header>\n");
}

void head_add_nothing(struct html_page *page)
{
	add_title(page);
	html_paragraph(page,
		       "Nothing is stored: <code>br2-ingest</code> reads the logs of a project, "
		       "<code>br2-ingest report --all</code> shows the whole file.");
}

static void add_contents(struct html_page *page)
{
	static const char *const parts[][2] = {
		{"walls", "Wall times"},
		{"wall-cores", "Cores"},
		{"memory", "Memory"},
		{"sizing", "Worker sizes"},
		{"fit", "Shapes"},
		{"heavy", "Heavy packages"},
		{"packages", "Package sizes"},
		{"waste", "Waste"},
		{"phases", "Phases"},
		{"concurrency", "Concurrency"},
		{"longest", "Longest actions"},
		{"kills", "Kills for memory"},
		{"missing", "Without a result"},
		{"path", "Critical path"},
		{"samples", "Samples"},
	};
	size_t i;

	buf_addstr(&page->html, "<nav aria-label=\"Contents\"><ul>\n");
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		buf_addf(&page->html, "<li><a href=\"#%s\">%s</a></li>\n", parts[i][0],
			 parts[i][1]);
	buf_addstr(&page->html, "</ul></nav>\n");
}

/* ---- figures ---- */

struct notes {
	int64_t unmeasured, in_flight, bad_logs, failed_found, suspects;
};

/* Columns of report_notes.sql. */
static int take_notes(void *context, const struct row *row, struct err *err)
{
	struct notes *notes = context;

	(void)err;
	notes->unmeasured = row->values[1].integer;
	notes->in_flight = row->values[2].integer;
	notes->bad_logs = row->values[3].integer;
	notes->failed_found = row->values[8].integer;
	notes->suspects = row->values[9].integer;
	return 0;
}

/* A figure, and in small print what it is and is not; `value` is HTML. */
static void add_card(struct html_page *page, const char *id, const char *name, const char *value,
		     const char *words)
{
	buf_addf(&page->html,
		 "<div class=\"card\"><dt>%s</dt><dd class=\"figure\" id=\"%s\">%s</dd>"
		 "<dd class=\"words\">%s</dd></div>\n",
		 name, id, value, words);
}

/* `unit` follows the number at once. */
static void add_card_number(struct html_page *page, const char *id, const char *name,
			    const char *unit, double number, bool is_known, const char *words)
{
	struct buf value = BUF_INIT;

	if (is_known)
		buf_addf(&value, "%.2f%s", number, unit);
	else
		buf_addstr(&value, "unknown");
	add_card(page, id, name, value.data, words);
	buf_release(&value);
}

/* Of those without usage, whose rows are where: the two kinds add up. */
static void add_without(struct buf *words, uint64_t without, uint64_t failed)
{
	html_add_count(words, without);
	buf_addstr(words, " without usage are in no figure here");
	if (!failed) {
		buf_addstr(words, "; <a href=\"#missing\">why</a>");
		return;
	}
	buf_addstr(words, ": ");
	html_add_count(words, failed);
	buf_addstr(words, " failed, with numbers of their own (view failures), "
			  "<a href=\"#missing\">");
	html_add_count(words, without - failed);
	buf_addstr(words, " more</a>");
}

static void add_card_actions(struct html_page *page, const struct points *points,
			     const struct notes *notes)
{
	struct buf value = BUF_INIT, words = BUF_INIT;

	html_add_count(&value, points->count);
	buf_addstr(&value, " <small>of ");
	html_add_count(&value, points->digests);
	buf_addstr(&value, "</small>");
	add_without(&words, points->digests - points->count - points->untimed,
		    (uint64_t)notes->failed_found);
	if (points->untimed) {
		buf_addstr(&words, "; nor are ");
		html_add_count(&words, points->untimed);
		buf_addstr(&words, " whose wall time is not known");
	}
	buf_addstr(&words, ". Each digest counts once, hits included");
	if (points->by_others) {
		buf_addstr(&words, "; ");
		html_add_count(&words, points->by_others);
		buf_addstr(&words, " were executed by other runs");
	}
	buf_addch(&words, '.');
	add_card(page, "f-actions", "Actions with stored usage", value.data, words.data);
	buf_release(&value);
	buf_release(&words);
}

static void add_card_count(struct html_page *page, const char *id, const char *name, int64_t count,
			   const char *words)
{
	struct buf value = BUF_INIT;

	html_add_count(&value, (unsigned long long)count);
	add_card(page, id, name, value.data, words);
	buf_release(&value);
}

static void add_cards(struct html_page *page, const struct points *points,
		      const struct heavies *heavies, const struct notes *notes)
{
	const struct figures *figures = &points->figures;
	bool is_known = points->count > 0;

	buf_addstr(&page->html, "<dl class=\"cards\">\n");
	add_card_actions(page, points, notes);
	add_card_number(page, "f-wall", "Wall time", " h", figures->wall_s / 3600, is_known,
			"Of the commands themselves, without fetching, uploading and waiting.");
	add_card_number(page, "f-cpu", "CPU time", " h", figures->cpu_s / 3600, is_known,
			"User and system, of all their processes.");
	add_card_number(page, "f-cores", "Average cores", "",
			figures_average(figures->wall_s, figures->cpu_s), is_known,
			"CPU time by wall time while running; says nothing of peaks.");
	add_card_number(page, "f-rss", "Largest process", " GiB",
			(double)figures->max_rss_bytes / GIB, figures->max_rss_bytes != UNKNOWN,
			"max RSS of the largest single process, never a sum: an action of several "
			"processes holds more; a lower bound where killed.");
	add_card_count(
		page, "f-heavy", "Heavy executions", heavies->total,
		"By the settings <code>heavy_*</code>; <a href=\"#heavy\">their packages</a>.");
	add_card_count(page, "f-kills", "Suspected kills for memory", notes->suspects,
		       "Failed actions are in no other figure here; <a href=\"#kills\">the "
		       "evidence</a>. 0 is worth what was looked at.");
	buf_addstr(&page->html, "</dl>\n");
}

static void add_note(struct html_page *page, int64_t count, const char *words)
{
	if (count)
		buf_addf(&page->html, "<li>%" PRId64 " %s</li>\n", count, words);
}

static void add_notes(struct html_page *page, const struct notes *notes)
{
	buf_addstr(&page->html, "<ul class=\"notes\">\n");
	add_note(page, notes->in_flight,
		 "started actions have no end in what was read of their log: not counted.");
	add_note(page, notes->unmeasured,
		 "digests are referred to by dev and viewcheck runs only.");
	add_note(page, notes->bad_logs, "logs are damaged or hold records that could not be read.");
	buf_addstr(&page->html, "</ul>\n");
}

int head_add(struct html_page *page, const struct points *points, const struct heavies *heavies,
	     struct err *err)
{
	struct notes notes = {0};

	if (html_ask(page, "report_notes", take_notes, &notes, err) < 0)
		return -1;
	add_title(page);
	add_contents(page);
	add_cards(page, points, heavies, &notes);
	add_notes(page, &notes);
	return 0;
}

/* ---- by wall time ---- */

static void add_bucket(struct html_table *table, const struct figures *figures,
		       const struct figures_bucket *bucket)
{
	bool is_known = bucket->actions > 0;

	html_cell_name(table, str_of(bucket->name));
	html_cell_integer(table, (int64_t)bucket->actions);
	html_cell_real(table, 100 * bucket->wall_s / figures->wall_s, 1);
	if (is_known) {
		html_cell_real(table, figures_average(bucket->wall_s, bucket->cpu_s), 2);
		html_cell_real(table, figures_p90(bucket), 2);
	} else {
		html_cell_unknown(table);
		html_cell_unknown(table);
	}
	if (bucket->max_rss_bytes != UNKNOWN)
		html_cell_real(table, (double)bucket->max_rss_bytes / GIB, 2);
	else
		html_cell_unknown(table);
}

static void add_bucket_words(struct html_page *page, const struct points *points)
{
	buf_addstr(&page->html,
		   "<p>Cores are averages, CPU time by wall time; p90 is that of the "
		   "executions, each counting alike. max RSS is the largest single process, "
		   "never a sum");
	if (points->figures.min_rss_bytes != UNKNOWN)
		buf_addf(&page->html,
			 ", and not below the runner's own (%.1f MiB is the least here)",
			 (double)points->figures.min_rss_bytes / MIB);
	buf_addstr(&page->html, "; a lower bound where killed.</p>\n");
}

void buckets_section(struct html_page *page, const struct points *points)
{
	static const char *const columns[] = {"wall_time", "actions",	"wall_pct",
					      "avg_cores", "p90_cores", "max_rss_gib"};
	struct html_table *table = html_table_new(columns, 6);
	int i;

	html_section(page, "walls", "By wall time");
	for (i = 0; i < FIGURES_BUCKETS; i++)
		add_bucket(table, &points->figures, &points->figures.buckets[i]);
	html_table_add(table, "By wall time", &page->html);
	html_table_free(table);
	add_bucket_words(page, points);
	html_section_end(page);
}

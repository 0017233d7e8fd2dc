#include "html_tables.h"

#include "html_text.h"
#include "html_view.h"
#include "report_sql.h"

#include <inttypes.h>

#define ALL_FORMS (FORM_WHOLE | FORM_PROJECT | FORM_RUN)

struct part {
	const char *id, *title, *words; /* words: HTML, with the limits of the numbers */
	struct html_view view;
};

static int add_part(struct html_page *page, const struct part *part, struct err *err)
{
	int rc;

	html_section(page, part->id, part->title);
	html_paragraph(page, part->words);
	rc = html_view_add(page, &part->view, err);
	html_section_end(page);
	return rc;
}

/* ---- what to give workers ---- */

/* What is recommended stands first: a narrow window shows no more than four columns. */
static const char *const sizing_columns[] = {
	"pool",	       "verdict",	  "limit_gib",	  "new_limit_gib", "new_request_gib",
	"cpu_request", "new_cpu_request", "results",	  "unknown",	   "reason",
	"oom_kills",   "peak_p50_gib",	  "peak_p95_gib", "peak_p99_gib",  "peak_max_gib",
	"cores_p50",   "cores_p95",	  "cores_max",	  "sampled_pct",   NULL};
static const char *const fit_columns[] = {
	"shape",   "cpu_request", "limit_gib",	  "under_gib",	  "actions",	       "unknown",
	"misfits", "fit_pct",	  "fit_wall_pct", "over_cpu_pct", "over_cpu_wall_pct", NULL};
static const char *const heavy_columns[] = {
	"package",   "verdict",	  "listed",	 "heavy_actions", "actions",
	"longest_s", "max_cores", "max_rss_gib", "heavy_wall_h",  NULL};
static const char *const package_columns[] = {"package",   "shape",	  "results",
					      "unknown",   "largest_gib", "heavy_results",
					      "oom_kills", "reason",	  NULL};

#define WASTE_COLUMNS                                                                       \
	"results", "unknown", "busy_h", "requested_core_h", "used_core_h", "used_core_pct", \
		"requested_gib_h", "used_gib_h", "used_gib_pct", NULL
static const char *const waste_columns[] = {"pool", "limit_gib", "cpu_request", WASTE_COLUMNS};
static const char *const waste_sum_columns[] = {WASTE_COLUMNS};

static const struct part sizing_parts[] = {
	{"sizing",
	 "How large a worker should be",
	 "What executions needed in each pool and under each memory limit, and what that "
	 "recommends. A "
	 "peak is the larger one of the largest process and of the container's samples: a lower "
	 "bound. "
	 "Cores are averages. A recommendation holds under its own limit only: <code>make "
	 "-jN</code> "
	 "follows it.",
	 {.view = "worker_sizing",
	  .label = "Worker sizes",
	  .columns = sizing_columns,
	  .forms = ALL_FORMS}},
	{"fit",
	 "What fits which shape",
	 "Of all categories together. By memory alone, with the margin of setting "
	 "<code>sizing_margin_pct</code>; more cores than requested are a burst and no misfit. "
	 "What was "
	 "measured under another limit is told apart.",
	 {.view = "shape_fit",
	  .label = "What fits which shape",
	  .columns = fit_columns,
	  .where = "category = '*'",
	  .forms = ALL_FORMS}},
	{"heavy",
	 "Heavy packages",
	 "For <code>heavy</code> in <code>project.json</code>: add (heavy, not listed), keep, drop "
	 "(listed, and nothing of it is heavy), not seen (listed, no execution is known: it "
	 "stays). "
	 "Only what has usage is judged. A dash for the verdict: no project.json was read.",
	 {.view = "heavy_packages",
	  .label = "Heavy packages",
	  .columns = heavy_columns,
	  .most = HTML_ROWS_MAX,
	  .forms = ALL_FORMS}},
	{"packages",
	 "The shape for each package",
	 "The smallest shape that suits all of a package's executions, under whatever limit they "
	 "ran, largest need first. Peaks are lower bounds.",
	 {.view = "package_sizes",
	  .label = "The shape for each package",
	  .columns = package_columns,
	  .order = "largest_gib IS NULL, largest_gib DESC, package",
	  .most = HTML_ROWS_MAX,
	  .forms = FORM_WHOLE | FORM_PROJECT}},
};

static const struct part waste_whole = {
	"waste",
	"Held and used",
	"What executions held of their workers against what they used. Memory counts as if the "
	"peak "
	"were needed throughout, so rather too much; time in which a worker waited for work is in "
	"no "
	"row.",
	{.view = "waste", .label = "Held and used", .columns = waste_columns, .forms = FORM_WHOLE}};

/* By invocation for a run, as a hit is no time that it held. */
static int add_waste(struct html_page *page, struct err *err)
{
	struct html_view view = waste_whole.view;
	int rc;

	if (page->subject == SUBJECT_WHOLE)
		return add_part(page, &waste_whole, err);
	html_section(page, waste_whole.id, waste_whole.title);
	html_paragraph(page, waste_whole.words);
	view.columns = waste_sum_columns;
	view.forms = FORM_PROJECT;
	if (page->subject == SUBJECT_RUN) {
		html_paragraph(page,
			       "<em>Of what this run executed itself, without its hits.</em>");
		view.view = "waste_by_invocation";
		rc = html_view_of(page, &view, "invocation", str_of(page->run.data), err);
	} else {
		rc = html_view_add(page, &view, err);
	}
	html_section_end(page);
	return rc;
}

int sizing_sections(struct html_page *page, struct err *err)
{
	size_t i;

	for (i = 0; i < sizeof(sizing_parts) / sizeof(*sizing_parts); i++)
		if (add_part(page, &sizing_parts[i], err) < 0)
			return -1;
	return add_waste(page, err);
}

/* ---- the actions behind it ---- */

static int add_statement(struct html_page *page, const char *id, const char *title,
			 const char *words, const char *statement, const char *none,
			 struct err *err)
{
	int rc;

	html_section(page, id, title);
	html_paragraph(page, words);
	rc = html_statement_add(page, statement, title, none, err);
	html_section_end(page);
	return rc;
}

static int take_run(void *context, const struct row *row, struct err *err)
{
	(void)err;
	buf_add(context, row->values[0].text.data, row->values[0].text.len);
	return 0;
}

static int add_path(struct html_page *page, const struct buf *run, struct err *err)
{
	static const char *const columns[] = {
		"package",	"steps",  "duration_s", "share_pct",   "potential_improvement_s",
		"log_queued_s", "wall_s", "cores",	"max_rss_gib", "heavy",
		"listed",	NULL};
	static const struct html_view view = {.view = "critical_packages",
					      .label = "Critical path",
					      .columns = columns,
					      .most = 20};

	buf_addstr(&page->html, "<p>Of run ");
	html_add_name(&page->html, str_of(run->data));
	buf_addstr(&page->html, page->scope->run_count > 1
					? ", the latest one here whose log tells the path. "
					: ". ");
	buf_addstr(&page->html,
		   "What these packages add to the path is what the build waited for; usage is "
		   "that of the recorded execution. Shares leave out steps of no package.</p>\n");
	return html_view_of(page, &view, "run", str_of(run->data), err);
}

static int path_section(struct html_page *page, struct err *err)
{
	struct buf run = BUF_INIT;
	int rc;

	html_section(page, "path", "On the critical path");
	rc = html_ask(page, "html_path", take_run, &run, err);
	if (rc == 0 && run.len)
		rc = add_path(page, &run, err);
	else
		html_paragraph(page,
			       "No log of these runs tells a critical path: Buck2 computes it when "
			       "a build ends.");
	html_section_end(page);
	buf_release(&run);
	return rc;
}

/* Columns of report_samples.sql. */
static int take_samples(void *context, const struct row *row, struct err *err)
{
	struct html_page *page = context;
	const struct value *values = row->values;

	(void)err;
	if (!values[0].integer) {
		html_paragraph(
			page,
			"Prometheus was not asked about these runs' actions: memory is that of "
			"the largest process alone.");
		return 0;
	}
	buf_addf(&page->html,
		 "<p>Of these runs, %" PRId64 " of %" PRId64
		 " actions were sampled while they ran, %.0f %% of their wall time.",
		 values[2].integer, values[0].integer,
		 values[1].real > 0 ? 100 * values[3].real / values[1].real : 0);
	if (values[4].type != VALUE_NULL)
		buf_addf(&page->html,
			 " A sample comes each %" PRId64
			 " s: what runs shorter is mostly not seen.",
			 values[4].integer);
	buf_addstr(&page->html, "</p>\n");
	return 0;
}

static int samples_section(struct html_page *page, struct err *err)
{
	static const char *const columns[] = {"confidence", "why",	"actions", "actions_pct",
					      "wall_h",	    "wall_pct", NULL};
	static const struct html_view view = {.view = "sample_coverage",
					      .label = "Coverage of samples",
					      .columns = columns,
					      .forms = FORM_WHOLE};
	int rc;

	html_section(page, "samples", "How much was sampled");
	rc = html_ask(page, "report_samples", take_samples, page, err);
	if (rc == 0)
		rc = html_view_add(page, &view, err);
	html_section_end(page);
	return rc;
}

int actions_sections(struct html_page *page, struct err *err)
{
	if (add_statement(page, "longest", "Longest actions",
			  "By the time of the command itself. Cores are an average; max RSS is the "
			  "largest "
			  "single process, ctr peak the container's largest sample: both lower "
			  "bounds where "
			  "it was killed.",
			  "html_top", "No execution with usage is known.", err) < 0 ||
	    add_statement(page, "kills", "Kills for memory",
			  "Suspected ones, best evidence first; what each layer of evidence says. "
			  "A layer's "
			  "silence is worth what was looked at: view oom_checked.",
			  "html_kills", "None is suspected, as far as was looked.", err) < 0 ||
	    add_statement(page, "missing", "Without a result",
			  "Digests of which no usage is known, by the first reason that fits (view "
			  "missing_results); they are in no figure here. Local commands are never "
			  "asked for.",
			  "report_reasons", "None: of every digest the usage is known.", err) < 0 ||
	    path_section(page, err) < 0)
		return -1;
	return samples_section(page, err);
}

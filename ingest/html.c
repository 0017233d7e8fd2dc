#include "html.h"

#include "html_concurrency.h"
#include "html_files.h"
#include "html_head.h"
#include "html_page.h"
#include "html_phases.h"
#include "html_plots.h"
#include "html_points.h"
#include "html_tables.h"
#include "html_text.h"
#include "report_sql.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- what html_page.h promises ---- */

void html_params(const struct html_page *page, struct param params[HTML_PARAMS])
{
	struct str runs = {page->scope->runs.data, page->scope->runs.len};

	params[0] = (struct param){":runs", {.type = VALUE_TEXT, .text = runs}};
	params[1] = (struct param){":no_tests", {.type = VALUE_INTEGER, .integer = 0}};
	params[2] = (struct param){":top", {.type = VALUE_INTEGER, .integer = page->top}};
}

int html_ask(struct html_page *page, const char *name, store_row_fn *row, void *context,
	     struct err *err)
{
	struct param params[HTML_PARAMS];
	struct buf sql = BUF_INIT;
	int rc;

	html_params(page, params);
	buf_addstr(&sql, report_sql("report_scope"));
	buf_addstr(&sql, report_sql(name));
	rc = store_query(page->store, sql.data, params, HTML_PARAMS, row, context, err);
	buf_release(&sql);
	return rc;
}

void html_section(struct html_page *page, const char *id, const char *title)
{
	buf_addf(&page->html, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">", id,
		 id, id);
	html_add_text(&page->html, str_of(title));
	buf_addstr(&page->html, "</h2>\n");
}

void html_section_end(struct html_page *page)
{
	buf_addstr(&page->html, "</section>\n");
}

void html_paragraph(struct html_page *page, const char *words)
{
	buf_addf(&page->html, "<p>%s</p>\n", words);
}

/* ---- what the page is about ---- */

static void take_text(struct buf *buf, const struct value *value)
{
	if (value->type != VALUE_NULL)
		buf_add(buf, value->text.data, value->text.len);
}

static int take_subject(void *context, const struct row *row, struct err *err)
{
	struct html_page *page = context;
	const struct value *values = row->values;

	(void)err;
	take_text(&page->run, &values[0]);
	page->is_part = values[2].integer;
	page->subject = values[1].integer ? SUBJECT_WHOLE
			: page->run.len	  ? SUBJECT_RUN
					  : SUBJECT_PROJECTS;
	page->heavy_wall_s = values[3].real;
	page->heavy_cores = values[4].real;
	page->heavy_cores_min_s = values[5].real;
	take_text(&page->first_utc, &values[6]);
	take_text(&page->last_utc, &values[7]);
	return 0;
}

static int take_project(void *context, const struct row *row, struct err *err)
{
	struct html_page *page = context;
	struct str name = row->values[0].text;

	(void)err;
	page->projects =
		xreallocarray(page->projects, page->project_count + 1, sizeof(*page->projects));
	page->projects[page->project_count++] = xmemdup0(name.data, name.len);
	return 0;
}

static int read_subject(struct html_page *page, struct err *err)
{
	if (html_ask(page, "html_subject", take_subject, page, err) < 0)
		return -1;
	return html_ask(page, "html_projects", take_project, page, err);
}

static void release(struct html_page *page)
{
	while (page->project_count)
		free(page->projects[--page->project_count]);
	free(page->projects);
	buf_release(&page->run);
	buf_release(&page->first_utc);
	buf_release(&page->last_utc);
	buf_release(&page->html);
}

/* ---- the page ---- */

static int add_body(struct html_page *page, struct points *points, struct heavies *heavies,
		    struct err *err)
{
	if (read_subject(page, err) < 0 || points_read(page, points, err) < 0 ||
	    heavies_read(page, heavies, err) < 0 || head_add(page, points, heavies, err) < 0)
		return -1;
	buckets_section(page, points);
	plot_cores(page, points, heavies);
	if (plot_memory(page, points, heavies, err) < 0 || sizing_sections(page, err) < 0)
		return -1;
	phases_section(page, points);
	if (concurrency_section(page, err) < 0)
		return -1;
	return actions_sections(page, err);
}

static int read_body(struct html_page *page, struct err *err)
{
	struct heavies heavies = {0};
	struct points points = {0};
	int rc = add_body(page, &points, &heavies, err);

	heavies_release(&heavies);
	points_release(&points);
	return rc;
}

static const char *file_of(const char *name)
{
	const struct embedded_sql *file = html_files;

	while (strcmp(file->name, name) != 0)
		file++;
	return file->text;
}

/* Adds `text` up to `mark` and returns what follows that. Both are ours: a missing mark is a bug.
 */
static const char *add_until(struct buf *out, const char *text, const char *mark)
{
	const char *end = strstr(text, mark);

	if (!end)
		abort();
	buf_add(out, text, (size_t)(end - text));
	return end + strlen(mark);
}

static void add_around(const struct html_page *page, struct buf *out)
{
	const char *text = add_until(out, file_of("page"), "<!-- title -->");

	html_add_text(out, str_of(page->scope->title.data));
	text = add_until(out, text, "<!-- style -->");
	buf_addstr(out, file_of("style"));
	text = add_until(out, text, "<!-- body -->");
	buf_add(out, page->html.data, page->html.len);
	buf_addstr(out, text);
}

int html_add_page(struct store *store, const struct report_scope *scope, int64_t top,
		  struct buf *page, struct err *err)
{
	struct html_page parts = {.store = store,
				  .scope = scope,
				  .top = top,
				  .html = BUF_INIT,
				  .run = BUF_INIT,
				  .first_utc = BUF_INIT,
				  .last_utc = BUF_INIT};
	int rc = 0;

	if (scope->run_count)
		rc = read_body(&parts, err);
	else
		head_add_nothing(&parts);
	if (rc == 0)
		add_around(&parts, page);
	release(&parts);
	return rc;
}

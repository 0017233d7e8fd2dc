/* What the parts of the page share; private to html*.c. */
#ifndef BR2_HTML_PAGE_H
#define BR2_HTML_PAGE_H

#include "report_scope.h"
#include "store.h"
#include "util/buf.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Of which form of a view the rows are. Views have forms for the whole file, a
 * project and a run; some runs of a project are shown with what is known of all
 * of the project, and the page says so.
 */
enum html_subject { SUBJECT_WHOLE, SUBJECT_PROJECTS, SUBJECT_RUN };

struct html_page {
	struct store *store;
	const struct report_scope *scope;
	int64_t top; /* length of the list of longest actions */
	struct buf html;

	enum html_subject subject;
	bool is_part;	 /* the scope leaves out runs of its projects */
	struct buf run;	 /* trace id of the only run; "" */
	char **projects; /* of the runs in scope, by name */
	size_t project_count;
	struct buf first_utc, last_utc; /* when the first and the last run began */
	double heavy_wall_s, heavy_cores, heavy_cores_min_s; /* settings; 0: gone */
};

/* Parameters of the statements on the scope: those of report_scope.sql, and the length of lists. */
enum { HTML_PARAMS = 3 };
void html_params(const struct html_page *page, struct param params[HTML_PARAMS]);
/* Runs ingest/sql/<name>.sql behind report_scope.sql. */
int html_ask(struct html_page *page, const char *name, store_row_fn *row, void *context,
	     struct err *err);
/* Opens a part of the page below its heading; `id` is the page's own. */
void html_section(struct html_page *page, const char *id, const char *title);
void html_section_end(struct html_page *page);
/* A paragraph of our own words, HTML. */
void html_paragraph(struct html_page *page, const char *words);

#endif

/*
 * Rows of the canned views as tables, with the views' own words on what a row and
 * a column say.
 */
#ifndef BR2_HTML_VIEW_H
#define BR2_HTML_VIEW_H

#include "html_page.h"

#include <stddef.h>

/* More rows than this are left out, and said; a page is for people. */
#define HTML_ROWS_MAX 50

enum html_form { FORM_WHOLE = 1, FORM_PROJECT = 2, FORM_RUN = 4 };

struct html_view {
	const char *view;	    /* without _by_project, _by_run */
	const char *label;	    /* of the table, for those who cannot see it */
	const char *const *columns; /* to show; NULL ends them */
	const char *where;	    /* SQL, NULL: all */
	const char *order;	    /* SQL, NULL: the view's own */
	size_t most;		    /* rows shown; 0: all */
	unsigned forms;		    /* of enum html_form: those there are */
};

/*
 * The rows of the page's subject: the form of the view that is nearest to it, and
 * where that is a wider one, or the scope leaves out some runs of a project, a
 * sentence that says so.
 */
int html_view_add(struct html_page *page, const struct html_view *view, struct err *err);
/* The rows of `view`, no form of it, whose column `key` is `value`. */
int html_view_of(struct html_page *page, const struct html_view *view, const char *key,
		 struct str value, struct err *err);
/* The rows of one of the page's statements, columns as it names them; `none` where there is none.
 */
int html_statement_add(struct html_page *page, const char *statement, const char *label,
		       const char *none, struct err *err);

#endif

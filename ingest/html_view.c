#include "html_view.h"

#include "html_table.h"
#include "html_text.h"
#include "views.h"

#include <stdbool.h>
#include <string.h>

/* ---- rows ---- */

struct filling {
	struct html_table *table; /* NULL: no row yet */
	size_t most;		  /* rows; 0: all */
	size_t rows;
};

static int take_row(void *context, const struct row *row, struct err *err)
{
	struct filling *filling = context;
	size_t i;

	(void)err;
	if (!filling->table)
		filling->table = html_table_new(row->names, row->count);
	if (filling->rows++ >= filling->most && filling->most)
		return 0;
	for (i = 0; i < row->count; i++)
		html_cell(filling->table, &row->values[i]);
	return 0;
}

/* Adds the table, or `none` where it has no row. */
static void end_rows(struct html_page *page, struct filling *filling, const char *label,
		     const char *none)
{
	if (filling->table)
		html_table_add(filling->table, label, &page->html);
	else
		html_paragraph(page, none);
	if (filling->most && filling->rows > filling->most)
		buf_addf(&page->html, "<p class=\"note\">%zu of %zu rows are shown.</p>\n",
			 filling->most, filling->rows);
	html_table_free(filling->table);
}

/* ---- the words of a view ---- */

struct column_words {
	struct buf *html;
	const char *const *columns;
};

static bool is_wanted(const char *const *columns, struct str name)
{
	for (; *columns; columns++)
		if (str_is(name, *columns))
			return true;
	return false;
}

static void add_column(void *context, const struct view_column *column)
{
	const struct column_words *words = context;

	if (!column->about.len || !is_wanted(words->columns, column->name))
		return;
	buf_addstr(words->html, "<div><dt>");
	html_add_text(words->html, column->name);
	buf_addstr(words->html, "</dt><dd>");
	html_add_text(words->html, str_of(column->about.data));
	buf_addstr(words->html, "</dd></div>\n");
}

static void add_words(struct html_page *page, const struct html_view *view, const char *name)
{
	struct column_words words = {&page->html, view->columns};
	struct buf about = BUF_INIT;
	struct view text;

	if (!views_find(name, &text))
		return;
	view_add_about(&text, &about);
	buf_addf(&page->html, "<details><summary>What the columns say (view %s)</summary>\n<p>",
		 name);
	html_add_text(&page->html, str_of(about.data));
	buf_addstr(&page->html, "</p>\n<dl>\n");
	view_columns(&text, add_column, &words);
	buf_addstr(&page->html, "</dl>\n</details>\n");
	buf_release(&about);
}

/* ---- statements ---- */

static void add_statement(struct buf *sql, const struct html_view *view, const char *name,
			  const char *key)
{
	const char *const *column;

	buf_addstr(sql, "SELECT ");
	if (key && strcmp(key, "project") == 0)
		buf_addstr(sql, "project, ");
	for (column = view->columns; *column; column++)
		buf_addf(sql, "%s%s", column == view->columns ? "" : ", ", *column);
	buf_addf(sql, " FROM %s", name);
	if (key || view->where)
		buf_addstr(sql, " WHERE ");
	if (key)
		buf_addf(sql, "%s = :key", key);
	if (view->where)
		buf_addf(sql, "%s%s", key ? " AND " : "", view->where);
	if (view->order)
		buf_addf(sql, " ORDER BY %s", view->order);
}

static int add_rows(struct html_page *page, const struct html_view *view, const char *name,
		    const char *key, struct str value, struct filling *filling, struct err *err)
{
	struct param param = {":key", {.type = VALUE_TEXT, .text = value}};
	struct buf sql = BUF_INIT;
	int rc;

	add_statement(&sql, view, name, key);
	rc = store_query(page->store, sql.data, &param, key ? 1 : 0, take_row, filling, err);
	buf_release(&sql);
	return rc;
}

int html_view_of(struct html_page *page, const struct html_view *view, const char *key,
		 struct str value, struct err *err)
{
	struct filling filling = {NULL, view->most, 0};
	int rc = add_rows(page, view, view->view, key, value, &filling, err);

	end_rows(page, &filling, view->label, "Nothing is known.");
	add_words(page, view, view->view);
	return rc;
}

/* ---- forms ---- */

static enum html_form form_of(const struct html_page *page, const struct html_view *view)
{
	if (page->subject == SUBJECT_RUN && view->forms & FORM_RUN)
		return FORM_RUN;
	if (page->subject != SUBJECT_WHOLE && view->forms & FORM_PROJECT)
		return FORM_PROJECT;
	return FORM_WHOLE;
}

static void add_reach(struct html_page *page, enum html_form form)
{
	if (form == FORM_WHOLE && page->subject != SUBJECT_WHOLE)
		html_paragraph(page, "<em>Of the whole file, not of these runs alone.</em>");
	if (form == FORM_PROJECT && page->is_part)
		html_paragraph(page,
			       "<em>Of all stored runs of the project, not of these alone: what to "
			       "give workers is better told by all that is known.</em>");
}

static int add_projects(struct html_page *page, const struct html_view *view, const char *name,
			struct filling *filling, struct err *err)
{
	size_t i;

	for (i = 0; i < page->project_count; i++)
		if (add_rows(page, view, name, "project", str_of(page->projects[i]), filling, err) <
		    0)
			return -1;
	return 0;
}

int html_view_add(struct html_page *page, const struct html_view *view, struct err *err)
{
	struct filling filling = {NULL, view->most, 0};
	enum html_form form = form_of(page, view);
	struct buf name = BUF_INIT;
	int rc;

	buf_addf(&name, "%s%s", view->view,
		 form == FORM_RUN	? "_by_run"
		 : form == FORM_PROJECT ? "_by_project"
					: "");
	add_reach(page, form);
	if (form == FORM_PROJECT)
		rc = add_projects(page, view, name.data, &filling, err);
	else
		rc = add_rows(page, view, name.data, form == FORM_RUN ? "run" : NULL,
			      str_of(page->run.data), &filling, err);
	end_rows(page, &filling, view->label, "Nothing is known.");
	add_words(page, view, name.data);
	buf_release(&name);
	return rc;
}

int html_statement_add(struct html_page *page, const char *statement, const char *label,
		       const char *none, struct err *err)
{
	struct filling filling = {NULL, HTML_ROWS_MAX, 0};
	int rc = html_ask(page, statement, take_row, &filling, err);

	end_rows(page, &filling, label, none);
	return rc;
}

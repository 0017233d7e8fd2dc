#include "export.h"

#include "output.h"
#include "util/file.h"
#include "util/mem.h"
#include "views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct param text_param(const char *name, const char *text)
{
	return (struct param){name, {.type = VALUE_TEXT, .text = str_of(text)}};
}

/* ---- which views ---- */

/* From the program itself: the database may name any view as one of ours. */
int export_default_views(int (*each)(void *context, const char *name), void *context)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;
	struct view view;
	int rc = 0;

	while (rc == 0 && views_next(&cursor, &view)) {
		char *name;

		/* run_compare: each run with every other one, as nothing filters them here. */
		if (view_is_private(&view) || view_is_form(&view) ||
		    str_starts(view.name, "run_compare"))
			continue;
		name = xmemdup0(view.name.data, view.name.len);
		rc = each(context, name);
		free(name);
	}
	return rc;
}

static int take_flag(void *context, const struct row *row, struct err *err)
{
	(void)err;
	*(bool *)context = row->values[0].integer != 0;
	return 0;
}

/* 1, 0 or -1: what a SELECT of one truth about :name says. */
static int ask(struct store *store, const char *sql, const char *name, struct err *err)
{
	struct param param = text_param(":name", name);
	bool yes = false;

	if (store_query(store, sql, &param, 1, take_flag, &yes, err) < 0)
		return -1;
	return yes;
}

/* The views of this handle's own (store.h) are temporary ones. */
#define OBJECTS                                                                   \
	"(SELECT type, name FROM sqlite_schema UNION ALL SELECT type, name FROM " \
	"sqlite_temp_schema)"

static int exists(struct store *store, const char *name, struct err *err)
{
	return ask(store,
		   "SELECT 1 FROM " OBJECTS " WHERE name = :name AND type IN ('view', 'table')",
		   name, err);
}

static int has_by_project(struct store *store, const char *name, struct err *err)
{
	return ask(store,
		   "SELECT 1 FROM " OBJECTS " WHERE name = :name || '_by_project'"
		   " AND type = 'view'",
		   name, err);
}

/* By which column rows are known as a project's, the first that there is. */
static const struct {
	const char *column, *where;
} filters[] = {
	{"project", " WHERE project = :project"},
	{"run", " WHERE run IN (SELECT r.trace_id FROM run r JOIN project p USING (project_id)"
		" WHERE p.name = :project)"},
	{"invocation", " WHERE invocation IN (SELECT e.invocation FROM executions e"
		       " WHERE e.project = :project)"},
};

/* 1: puts the filter into *out_where; 0: there is none; -1. */
static int find_filter(struct store *store, const char *name, const char **out_where,
		       struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(filters) / sizeof(*filters) && rc == 0; i++) {
		struct param params[] = {text_param(":name", name),
					 text_param(":column", filters[i].column)};
		bool yes = false;

		rc = store_query(store,
				 "SELECT 1 FROM pragma_table_info(:name) WHERE name = :column",
				 params, 2, take_flag, &yes, err);
		if (rc == 0 && yes) {
			*out_where = filters[i].where;
			rc = 1;
		}
	}
	return rc;
}

int export_knows_project(struct store *store, const char *name, struct err *err)
{
	const char *where;
	int rc = has_by_project(store, name, err);

	return rc ? rc : find_filter(store, name, &where, err);
}

/* ---- one file ---- */

/* Adds "NAME WHERE ...": the rows of one project. */
static int add_project(struct store *store, const char *name, struct buf *sql, struct err *err)
{
	const char *where = filters[0].where;
	int rc = has_by_project(store, name, err);
	char *by_project = rc == 1 ? xasprintf("%s_by_project", name) : NULL;

	if (rc == 0)
		rc = find_filter(store, name, &where, err);
	if (rc == 0)
		err_set(err, ERR_USAGE, "'%s' does not tell projects apart", name);
	if (rc == 1) {
		store_quote_name(sql, by_project ? by_project : name);
		buf_addstr(sql, where);
	}
	free(by_project);
	return rc == 1 ? 0 : -1;
}

static int build_query(struct store *store, const char *name, const char *project, struct buf *sql,
		       struct err *err)
{
	int rc = exists(store, name, err);

	if (rc == 0)
		err_set(err, ERR_USAGE, "no view or table '%s': br2-ingest views lists them", name);
	if (rc <= 0)
		return -1;
	buf_addstr(sql, "SELECT * FROM ");
	if (project)
		return add_project(store, name, sql, err);
	store_quote_name(sql, name);
	return 0;
}

/* What a file is to hold. */
struct rows_wanted {
	struct store *store;
	const char *sql;
	const struct export_options *options;
};

/* A file_fill_fn. */
static int write_rows(void *context, FILE *out, struct err *err)
{
	const struct rows_wanted *wanted = context;
	const struct export_options *options = wanted->options;
	struct output_options output = {.format = OUTPUT_CSV, .dialect = options->dialect};
	struct param project = text_param(":project", options->project);

	return output_query(wanted->store, wanted->sql, &project, options->project ? 1 : 0, &output,
			    out, err);
}

int export_folder(const struct export_options *options, struct err *err)
{
	if (mkdir(options->dir, 0777) != 0 && errno != EEXIST)
		return err_errno(err, ERR_IO, errno, "%s", options->dir);
	return 0;
}

int export_view(struct store *store, const char *name, const struct export_options *options,
		struct err *err)
{
	struct buf sql = BUF_INIT;
	char *path = NULL;
	struct rows_wanted wanted;
	int rc = -1;

	/* An own view may have any name; a file may not. */
	if (strchr(name, '/'))
		return err_set(err, ERR_USAGE, "'%s' makes no file name", name);
	if (build_query(store, name, options->project, &sql, err) < 0)
		goto out;
	path = xasprintf("%s/%s.csv", options->dir, name);
	wanted = (struct rows_wanted){store, sql.data, options};
	rc = file_replace(path, write_rows, &wanted, err);
out:
	free(path);
	buf_release(&sql);
	return rc;
}

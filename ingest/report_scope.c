#include "report_scope.h"

#include "util/mem.h"
#include "util/safe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct param text_param(const char *name, struct str text)
{
	return (struct param){name, {.type = VALUE_TEXT, .text = text}};
}

static struct str str_of_buf(const struct buf *buf)
{
	return (struct str){buf->data, buf->len};
}

/* ---- runs ---- */

struct run_ids {
	int64_t *ids;
	size_t count, cap;
};

static int add_run(void *context, const struct row *row, struct err *err)
{
	struct run_ids *runs = context;

	(void)err;
	if (runs->count == runs->cap) {
		runs->cap = runs->cap ? runs->cap * 2 : 64;
		runs->ids = xreallocarray(runs->ids, runs->cap, sizeof(*runs->ids));
	}
	runs->ids[runs->count++] = row->values[0].integer;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Writes the ids, each once, as the scope's JSON array. */
static void put_runs(struct run_ids *runs, struct report_scope *scope)
{
	size_t i;

	if (runs->count)
		qsort(runs->ids, runs->count, sizeof(*runs->ids), by_id);
	buf_addch(&scope->runs, '[');
	for (i = 0; i < runs->count; i++)
		if (!i || runs->ids[i] != runs->ids[i - 1])
			buf_addf(&scope->runs, "%s%" PRId64, scope->run_count++ ? "," : "",
				 runs->ids[i]);
	buf_addch(&scope->runs, ']');
}

/* Fills the scope with the runs that `sql` gives. */
static int select_runs(struct store *store, const char *sql, const struct param *param,
		       struct report_scope *scope, struct err *err)
{
	struct run_ids runs = {0};
	int rc = store_query(store, sql, param, param ? 1 : 0, add_run, &runs, err);

	if (rc == 0)
		put_runs(&runs, scope);
	free(runs.ids);
	return rc;
}

/* ---- the title ---- */

struct counts {
	struct buf names; /* "a, b" */
	int64_t projects, runs, cells;
};

static int take_project(void *context, const struct row *row, struct err *err)
{
	struct counts *counts = context;

	(void)err;
	if (counts->projects++)
		buf_addstr(&counts->names, ", ");
	safe_add(&counts->names, row->values[0].text);
	return 0;
}

static int take_cells(void *context, const struct row *row, struct err *err)
{
	struct counts *counts = context;

	(void)err;
	counts->cells = row->values[0].integer;
	return 0;
}

static void add_count(struct buf *buf, int64_t count, const char *noun)
{
	buf_addf(buf, ", %" PRId64 " %s%s", count, noun, count == 1 ? "" : "s");
}

#define NAMES_SHOWN 3

static int add_title(struct store *store, const char *prefix, struct report_scope *scope,
		     struct err *err)
{
	struct param runs = text_param(":runs", str_of_buf(&scope->runs));
	struct counts counts = {.names = BUF_INIT};
	int rc = -1;

	if (store_query(store,
			"SELECT name FROM project WHERE project_id IN (SELECT project_id FROM run"
			" WHERE run_id IN (SELECT value FROM json_each(:runs))) ORDER BY name",
			&runs, 1, take_project, &counts, err) < 0)
		goto out;
	if (store_query(store,
			"SELECT count(DISTINCT salt) FROM _run_cell"
			" WHERE run_id IN (SELECT value FROM json_each(:runs))",
			&runs, 1, take_cells, &counts, err) < 0)
		goto out;
	buf_addstr(&scope->title, prefix);
	if (counts.projects > NAMES_SHOWN || !counts.projects)
		buf_addf(&scope->title, "%" PRId64 " projects", counts.projects);
	else
		buf_add(&scope->title, counts.names.data, counts.names.len);
	add_count(&scope->title, (int64_t)scope->run_count, "run");
	if (counts.cells)
		add_count(&scope->title, counts.cells, "cell");
	rc = 0;
out:
	buf_release(&counts.names);
	return rc;
}

/* ---- selections ---- */

int report_scope_all(struct store *store, struct report_scope *out_scope, struct err *err)
{
	if (select_runs(store, "SELECT run_id FROM run", NULL, out_scope, err) < 0)
		return -1;
	return add_title(store, "the whole file: ", out_scope, err);
}

int report_scope_project(struct store *store, const char *project, struct report_scope *out_scope,
			 struct err *err)
{
	struct param name = text_param(":project", str_of(project));

	if (select_runs(store,
			"SELECT run_id FROM run JOIN project USING (project_id)"
			" WHERE project.name = :project",
			&name, out_scope, err) < 0)
		return -1;
	if (out_scope->run_count)
		return add_title(store, "", out_scope, err);
	safe_add(&out_scope->title, str_of(project));
	buf_addstr(&out_scope->title, ", 0 runs");
	return 0;
}

/* '0' follows '/': that range is all that begins with "PATH/", by the index on path. */
static const char runs_below[] =
	"SELECT l.run_id FROM log_file f JOIN run_log l USING (log_file_id)"
	" WHERE f.path = :path"
	" OR (f.path > rtrim(:path, '/') || '/' AND f.path < rtrim(:path, '/') || '0')";

static int add_below(struct store *store, const char *dir, struct run_ids *runs, struct err *err)
{
	struct param path = text_param(":path", str_of(dir));

	return store_query(store, runs_below, &path, 1, add_run, runs, err);
}

/* Logs keep the name that they were found under; a link gives a place another one. */
static int add_named(struct store *store, const char *path, struct run_ids *runs, struct err *err)
{
	size_t before = runs->count;
	char *real = realpath(path, NULL);
	int rc = add_below(store, path, runs, err);

	if (rc == 0 && real && strcmp(real, path) != 0)
		rc = add_below(store, real, runs, err);
	free(real);
	if (rc == 0 && runs->count == before)
		rc = err_set(err, ERR_USAGE,
			     "no stored log at or below %s: br2-ingest with that path reads it",
			     path);
	return rc;
}

int report_scope_paths(struct store *store, const char *const *paths, size_t count, bool each,
		       struct report_scope *out_scope, struct err *err)
{
	struct run_ids runs = {0};
	int rc = 0;
	size_t i;

	for (i = 0; i < count && rc == 0; i++)
		rc = each ? add_named(store, paths[i], &runs, err)
			  : add_below(store, paths[i], &runs, err);
	if (rc == 0) {
		put_runs(&runs, out_scope);
		rc = add_title(store, "", out_scope, err);
	}
	free(runs.ids);
	return rc;
}

void report_scope_release(struct report_scope *scope)
{
	buf_release(&scope->runs);
	buf_release(&scope->title);
	scope->run_count = 0;
}

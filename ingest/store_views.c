#include "store_views.h"

#include "embedded.h"
#include "store_db.h"
#include "store_sql.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* One CREATE VIEW statement of a file in queries/, as SQLite keeps its text. */
struct view {
	const char *file;
	struct str name, sql;
	bool claimed; /* the database has it written down as ours */
};

#define CREATE_VIEW "CREATE VIEW "

/* ---- the text of queries/ ---- */

/* Everything behind "CREATE VIEW ". */
static struct str behind_create(const struct view *view)
{
	size_t skip = strlen(CREATE_VIEW);

	return (struct str){view->sql.data + skip, view->sql.len - skip};
}

/* 1: *out; 0: no more statements; -1: something else than a view (a fault of ours). */
static int next_view(const char **at, struct view *out)
{
	struct str rest;

	out->sql = sql_next(at);
	if (!out->sql.len)
		return 0;
	if (!str_starts(out->sql, CREATE_VIEW))
		return -1;
	rest = behind_create(out);
	out->name = sql_word(&rest);
	return 1;
}

struct view_list {
	struct view *views;
	size_t count;
	size_t next; /* the one that is looked for next: as a rule, in the order of the files */
};

static void add_view(struct view_list *list, const struct view *view)
{
	list->views = xreallocarray(list->views, list->count + 1, sizeof(*list->views));
	list->views[list->count++] = *view;
}

/* All views of the program, in the order of its files. The caller frees list->views. */
static int list_views(struct store *store, struct view_list *list, struct err *err)
{
	const struct embedded_sql *file;

	for (file = canned_views; file->name; file++) {
		const char *at = file->text;
		struct view view = {.file = file->name};
		int more;

		while ((more = next_view(&at, &view)) > 0)
			add_view(list, &view);
		if (more < 0)
			return err_set(err, ERR_DB, "%s: queries/%s.sql: not a CREATE VIEW",
				       store->path, file->name);
	}
	return 0;
}

/* NULL: the program has none by that name. */
static struct view *find_view(struct view_list *list, struct str name)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		size_t at = (list->next + i) % list->count;

		if (str_equal(list->views[at].name, name)) {
			list->next = at + 1;
			return &list->views[at];
		}
	}
	return NULL;
}

/* ---- what the database has ---- */

enum view_state { VIEW_CURRENT, VIEW_STALE, VIEW_MISSING, VIEW_FOREIGN, VIEW_FOREIGN_CLAIMED };

/*
 * A view is ours if its text is the one that we wrote down when we made it.
 * VIEW_FOREIGN_CLAIMED: it was ours, and somebody has changed it.
 */
static int view_state(struct store *store, const struct view *view, enum view_state *out_state,
		      struct err *err)
{
	struct statement *s =
		db_use(store, ST_VIEW_STATE,
		       "SELECT m.name IS NULL, m.sql IS c.sql, c.sql IS :sql, c.name IS NULL"
		       " FROM (SELECT :name AS name) n"
		       " LEFT JOIN main.sqlite_schema m ON m.name = n.name COLLATE NOCASE"
		       " LEFT JOIN main.canned_view c ON c.name = n.name");
	bool missing, as_made, as_wanted, unclaimed;

	bind_text(s, ":sql", view->sql);
	bind_text(s, ":name", view->name);
	if (db_row(s, err) < 0)
		return -1;
	missing = column_int(s, 0);
	as_made = column_int(s, 1);
	as_wanted = column_int(s, 2);
	unclaimed = column_int(s, 3);
	db_reset(s);
	if (missing)
		*out_state = VIEW_MISSING;
	else if (!as_made)
		*out_state = unclaimed ? VIEW_FOREIGN : VIEW_FOREIGN_CLAIMED;
	else
		*out_state = as_wanted ? VIEW_CURRENT : VIEW_STALE;
	return 0;
}

static void note_foreign(struct store *store, struct str name)
{
	store->foreign_views = xreallocarray(store->foreign_views, store->foreign_count + 1,
					     sizeof(*store->foreign_views));
	store->foreign_views[store->foreign_count++] = xmemdup0(name.data, name.len);
}

/* ---- making and dropping ---- */

static int run_view_sql(struct store *store, const char *prefix, struct str rest, struct err *err)
{
	struct buf sql = BUF_INIT;
	int failed;

	buf_addstr(&sql, prefix);
	buf_add(&sql, rest.data, rest.len);
	failed = db_exec(store, sql.data, err);
	buf_release(&sql);
	return failed;
}

static int drop_view(struct store *store, struct str name, struct err *err)
{
	struct buf quoted = BUF_INIT;
	char *text = xmemdup0(name.data, name.len);
	int failed;

	store_quote_name(&quoted, text);
	failed = run_view_sql(store, "DROP VIEW main.", (struct str){quoted.data, quoted.len}, err);
	buf_release(&quoted);
	free(text);
	return failed;
}

static int claim(struct store *store, const struct view *view, struct err *err)
{
	struct statement *s = db_use(store, ST_VIEW_CLAIM,
				     "INSERT INTO canned_view (name, sql) VALUES (:name, :sql)"
				     " ON CONFLICT (name) DO UPDATE SET sql = excluded.sql");

	bind_text(s, ":name", view->name);
	bind_text(s, ":sql", view->sql);
	return db_done(s, err);
}

static int disclaim(struct store *store, struct str name, struct err *err)
{
	struct statement *s =
		db_use(store, ST_VIEW_DISCLAIM, "DELETE FROM canned_view WHERE name = :name");

	bind_text(s, ":name", name);
	return db_done(s, err);
}

static int make_view(struct store *store, const struct view *view, struct err *err)
{
	enum view_state state;

	if (view_state(store, view, &state, err) < 0)
		return -1;
	switch (state) {
	case VIEW_CURRENT:
	case VIEW_FOREIGN:
		return 0;
	case VIEW_FOREIGN_CLAIMED:
		return disclaim(store, view->name, err);
	case VIEW_STALE:
		if (drop_view(store, view->name, err) < 0)
			return -1;
		break;
	case VIEW_MISSING:
		break;
	}
	if (run_view_sql(store, CREATE_VIEW, behind_create(view), err) < 0)
		return -1;
	return claim(store, view, err);
}

/*
 * A view of this handle's own, which stands before the stored one. A stored view can only
 * refer to stored ones: so it is all of them, or none.
 */
static int make_temp_view(struct store *store, const struct view *view, struct err *err)
{
	return run_view_sql(store, "CREATE TEMP VIEW ", behind_create(view), err);
}

static int make_each(struct store *store, const struct view_list *list,
		     int (*make)(struct store *store, const struct view *view, struct err *err),
		     struct err *err)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (make(store, &list->views[i], err) < 0)
			/* A full disk is nothing that its text could help. */
			return err->kind == ERR_IO
				       ? -1
				       : err_prefix(err, "queries/%s.sql", list->views[i].file);
	return 0;
}

/* ---- views that this program has no more ---- */

/* 1: *out_name (the caller frees it) is in the table and not in the program; 0; -1. */
static int find_retired(struct store *store, struct view_list *list, char **out_name,
			bool *out_ours, struct err *err)
{
	struct statement *s =
		db_use(store, ST_VIEW_CLAIMED,
		       "SELECT c.name, m.name IS NOT NULL FROM main.canned_view c"
		       " LEFT JOIN main.sqlite_schema m ON m.name = c.name AND m.sql = c.sql"
		       " AND m.type = 'view'");
	int more;

	while ((more = db_step(s, err)) > 0) {
		struct str name = column_text(s, 0);

		if (find_view(list, name))
			continue;
		*out_name = xmemdup0(name.data, name.len);
		*out_ours = column_int(s, 1);
		db_reset(s);
		return 1;
	}
	return more;
}

static int drop_retired(struct store *store, struct view_list *list, struct err *err)
{
	char *name;
	bool ours;
	int more, failed = 0;

	while (!failed && (more = find_retired(store, list, &name, &ours, err)) > 0) {
		failed = (ours && drop_view(store, str_of(name), err) < 0) ||
			 disclaim(store, str_of(name), err) < 0;
		free(name);
	}
	return failed || more < 0 ? -1 : 0;
}

/* ---- all of them ---- */

/* Notes which views are written down as ours. 1; 0: one that this program does not have; -1. */
static int note_claims(struct store *store, struct view_list *list, struct err *err)
{
	struct statement *s =
		db_use(store, ST_VIEW_NAMES_CLAIMED, "SELECT name FROM main.canned_view");
	struct view *view = NULL;
	int more;

	while ((more = db_step(s, err)) > 0) {
		view = find_view(list, column_text(s, 0));
		if (!view)
			break;
		view->claimed = true;
	}
	db_reset(s);
	return more < 0 ? -1 : !more;
}

/*
 * 1: the views that are ours are those of this program; 0; -1. As a rule they are, and
 * then two passes tell: a question a view takes ten times as long. What was written down
 * of them is not compared: where the view itself is as the program has it, it says the
 * same, and to find a row of it by name reads all of its text.
 */
static int all_current(struct store *store, struct view_list *list, struct err *err)
{
	struct statement *s;
	size_t ours = 0;
	int more = note_claims(store, list, err);

	if (more <= 0)
		return more;
	s = db_use(store, ST_VIEWS_STORED,
		   "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'");
	while ((more = db_step(s, err)) > 0) {
		const struct view *view = find_view(list, column_text(s, 0));

		if (!view)
			continue;
		if (!view->claimed || !str_equal(view->sql, column_text(s, 1)))
			break;
		ours++;
	}
	db_reset(s);
	return more < 0 ? -1 : !more && ours == list->count;
}

/* 1: something is to be written; 0; -1. Notes the user's views on the way. */
static int find_differences(struct store *store, struct view_list *list, struct err *err)
{
	int current = all_current(store, list, err);
	bool differs = false, ours;
	char *retired;
	size_t i;
	int more;

	if (current)
		return current < 0 ? -1 : 0;
	for (i = 0; i < list->count; i++) {
		enum view_state state;

		if (view_state(store, &list->views[i], &state, err) < 0)
			return -1;
		if (state == VIEW_FOREIGN || state == VIEW_FOREIGN_CLAIMED)
			note_foreign(store, list->views[i].name);
		if (state != VIEW_CURRENT && state != VIEW_FOREIGN)
			differs = true;
	}
	if (differs)
		return 1;
	more = find_retired(store, list, &retired, &ours, err);
	if (more > 0)
		free(retired);
	return more;
}

static int write_views(struct store *store, struct view_list *list, struct err *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	if (make_each(store, list, make_view, err) < 0 || drop_retired(store, list, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err);
}

/* Are the stored views not the program's, of which one by that name is the user's or stale? */
static bool want_temp(const struct store *store, int differs)
{
	return store->foreign_count || (differs && store->access == STORE_READ);
}

int views_refresh(struct store *store, struct err *err)
{
	struct view_list list = {NULL, 0, 0};
	int rc = list_views(store, &list, err), differs = 0;

	if (rc == 0)
		rc = differs = find_differences(store, &list, err);
	if (rc > 0)
		rc = store->access == STORE_WRITE ? write_views(store, &list, err) : 0;
	if (rc == 0 && want_temp(store, differs))
		rc = make_each(store, &list, make_temp_view, err);
	free(list.views);
	return rc;
}

size_t store_foreign_views(const struct store *store, const char *const **out_names)
{
	*out_names = (const char *const *)store->foreign_views;
	return store->foreign_count;
}

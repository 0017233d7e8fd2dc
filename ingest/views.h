/*
 * Stage 6: the canned views as the binary holds them: names, documentation and
 * statements, taken from the text of queries/. Pure. A view is written as
 *
 *   CREATE VIEW name (
 *       -- what one row is ...
 *       column,  -- what it says
 *                -- and, indented further than a column, more of it
 *       -- What the next one says, where that is long.
 *       column
 *       ...
 *   ) AS
 *   SELECT ...;
 *
 * tests/tools/sql_docs.py makes queries/README.md by the same rule.
 */
#ifndef BR2_VIEWS_H
#define BR2_VIEWS_H

#include "embedded.h"
#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>

/* Parts of an embedded text; borrowed from it. */
struct view {
	struct str name;
	struct str statement; /* from CREATE to its end, the semicolon not included */
	struct str columns;   /* what stands between the parentheses: comments and names */
};

/* A place in the embedded texts. */
struct views_cursor {
	const struct embedded_sql *file;
	size_t at; /* within it */
};

#define VIEWS_CURSOR_INIT       \
	{                       \
		canned_views, 0 \
	}

/* The next view, in the order of creation; false at the end. */
bool views_next(struct views_cursor *cursor, struct view *out_view);
/* The view of this name. */
bool views_find(const char *name, struct view *out_view);

/* Private helpers begin with an underscore. */
bool view_is_private(const struct view *view);
/* One of the forms X_by_project, X_by_run and X_by_invocation of another view. */
bool view_is_form(const struct view *view);

/* Adds what one row is: the comment in front of the columns, on one line. */
void view_add_about(const struct view *view, struct buf *buf);

struct view_column {
	struct str name;
	struct buf about; /* "": none */
};

typedef void view_column_fn(void *context, const struct view_column *column);

/* Calls `each` for every column in order; the column is borrowed during the call. */
void view_columns(const struct view *view, view_column_fn *each, void *context);

#endif

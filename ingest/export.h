/* Stage 6: views (or tables) of the database as CSV files. */
#ifndef BR2_EXPORT_H
#define BR2_EXPORT_H

#include "store.h"
#include "util/csv.h"
#include "util/err.h"

#include <stdbool.h>
#include <stdint.h>

struct export_options {
	const char *dir;     /* its parent must exist */
	const char *project; /* NULL: all */
	enum csv_dialect dialect;
};

/*
 * Calls `each` with the name of every canned view that is exported by default:
 * all but private ones, forms such as _by_project, and run_compare*. What it returns but 0
 * ends this and is returned.
 */
int export_default_views(int (*each)(void *context, const char *name), void *context);

/* Makes <dir> if it is missing. */
int export_folder(const struct export_options *options, struct err *err);

/*
 * Writes <dir>/<name>.csv in one step: a file of that name is whole, whatever
 * happens. With a project: the rows of <name>_by_project where there is such a
 * view, else those whose column `project` says so, else those whose `run` or
 * `invocation` is one of the project; a name that has none of these is an error
 * (ERR_USAGE), as is one that is no view or table.
 */
int export_view(struct store *store, const char *name, const struct export_options *options,
		struct err *err);
/* 1: export_view() can limit it to a project; 0; -1. */
int export_knows_project(struct store *store, const char *name, struct err *err);

#endif

/* Which runs a report is about, and the line that names them. */
#ifndef BR2_REPORT_SCOPE_H
#define BR2_REPORT_SCOPE_H

#include "store.h"
#include "util/buf.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>

struct report_scope {
	struct buf runs;  /* their run_ids, a JSON array: the parameter :runs of the queries */
	struct buf title; /* "qemu-x86_64, 3 runs, 2 cells" */
	size_t run_count;
};

#define REPORT_SCOPE_INIT             \
	{                             \
		BUF_INIT, BUF_INIT, 0 \
	}

/* Each fills an empty scope; no run at all is a scope, not an error. */
int report_scope_all(struct store *store, struct report_scope *out_scope, struct err *err);
int report_scope_project(struct store *store, const char *project, struct report_scope *out_scope,
			 struct err *err);
/*
 * The runs whose stored logs are at or below the paths, which path_absolute()
 * made. With `each`, which is for paths that a user gave: or below what a path
 * leads to through links; one without any log is an error (ERR_USAGE).
 */
int report_scope_paths(struct store *store, const char *const *paths, size_t count, bool each,
		       struct report_scope *out_scope, struct err *err);
void report_scope_release(struct report_scope *scope);

#endif

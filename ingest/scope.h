/* Which stored runs a verb is about, as the command line says it: PATH…, --project, --all. */
#ifndef BR2_SCOPE_H
#define BR2_SCOPE_H

#include "report_scope.h"
#include "store.h"
#include "util/err.h"

#include <stdbool.h>

struct scope_flags {
	bool all;
	const char *project; /* NULL */
};

/* -1 (ERR_USAGE): more than one of them is given. */
int scope_check(const struct scope_flags *flags, int operands, struct err *err);
/*
 * The runs whose logs are at or below each operand; else what the flags say; else
 * those of the project around the current directory, outside of any the whole
 * file. Fills an empty scope.
 */
int scope_choose(struct store *store, const struct scope_flags *flags, int operands, char **argv,
		 struct report_scope *out_scope, struct err *err);
/* -1 (ERR_USAGE): no run of this project is stored; the text names those that there are. */
int scope_check_project(struct store *store, const char *project, struct err *err);

#endif

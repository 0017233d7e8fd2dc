#include "scope.h"

#include "config.h"
#include "util/mem.h"

#include <stdlib.h>

int scope_check(const struct scope_flags *flags, int operands, struct err *err)
{
	if ((operands != 0) + flags->all + (flags->project != NULL) > 1)
		return err_set(err, ERR_USAGE, "PATH, --all and --project exclude each other");
	return 0;
}

/* The path as the store knows logs: absolute, links resolved where it still exists. */
static char *absolute(const char *path)
{
	char *real = realpath(path, NULL);
	char *here, *joined;

	if (real || path[0] == '/')
		return real ? real : xstrdup(path);
	here = realpath(".", NULL);
	joined = xasprintf("%s/%s", here ? here : "", path);
	free(here);
	return joined;
}

static int scope_of_paths(struct store *store, int count, char **operands,
			  struct report_scope *scope, struct err *err)
{
	char **paths = xcalloc((size_t)count, sizeof(*paths));
	int i, rc;

	for (i = 0; i < count; i++)
		paths[i] = absolute(operands[i]);
	rc = report_scope_paths(store, (const char *const *)paths, (size_t)count, true, scope, err);
	for (i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
	return rc;
}

/* The project around the current directory; outside of any, the whole file. */
static int scope_of_here(struct store *store, struct report_scope *scope, struct err *err)
{
	char *here = realpath(".", NULL);
	char *root = here ? project_find_root(here, getenv("HOME")) : NULL;
	char *name;
	int rc;

	free(here);
	if (!root)
		return report_scope_all(store, scope, err);
	name = project_name(root);
	rc = report_scope_project(store, name, scope, err);
	free(name);
	free(root);
	return rc;
}

int scope_choose(struct store *store, const struct scope_flags *flags, int operands, char **argv,
		 struct report_scope *scope, struct err *err)
{
	if (operands)
		return scope_of_paths(store, operands, argv, scope, err);
	if (flags->all)
		return report_scope_all(store, scope, err);
	if (flags->project)
		return report_scope_project(store, flags->project, scope, err);
	return scope_of_here(store, scope, err);
}

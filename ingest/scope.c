#include "scope.h"

#include "config.h"
#include "util/mem.h"
#include "util/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int scope_check(const struct scope_flags *flags, int operands, struct err *err)
{
	if ((operands != 0) + flags->all + (flags->project != NULL) > 1)
		return err_set(err, ERR_USAGE, "PATH, --all and --project exclude each other");
	return 0;
}

/* Paths as an ingest stores them. */
static int make_absolute(char **paths, int count, char **operands, struct err *err)
{
	int i;

	for (i = 0; i < count; i++) {
		paths[i] = path_absolute(operands[i]);
		if (!paths[i])
			return err_errno(err, ERR_USAGE, errno, "%s", operands[i]);
	}
	return 0;
}

static int scope_of_paths(struct store *store, int count, char **operands,
			  struct report_scope *scope, struct err *err)
{
	char **paths = xcalloc((size_t)count, sizeof(*paths));
	int i, rc = make_absolute(paths, count, operands, err);

	if (rc == 0)
		rc = report_scope_paths(store, (const char *const *)paths, (size_t)count, true,
					scope, err);
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
	int rc = -1;

	free(here);
	if (!root)
		return report_scope_all(store, scope, err);
	name = project_name(root, err);
	if (name)
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

/* ---- a project that is not there ---- */

#define NAMES_SHOWN 10

struct names {
	struct buf text; /* "a, b" */
	int64_t count;
};

static int take_name(void *context, const struct row *row, struct err *err)
{
	struct names *names = context;
	struct str name = row->values[0].text;

	(void)err;
	if (names->count++ >= NAMES_SHOWN)
		return 0;
	buf_addstr(&names->text, names->count > 1 ? ", " : "");
	buf_add(&names->text, name.data, name.len);
	return 0;
}

static int count_it(void *context, const struct row *row, struct err *err)
{
	(void)row;
	(void)err;
	++*(int *)context;
	return 0;
}

static int refuse(struct store *store, const char *project, struct err *err)
{
	struct names names = {BUF_INIT, 0};
	int rc = store_query(store,
			     "SELECT name FROM project"
			     " WHERE project_id IN (SELECT project_id FROM run) ORDER BY name",
			     NULL, 0, take_name, &names, err);

	if (rc == 0 && names.count > NAMES_SHOWN)
		buf_addf(&names.text, " and %" PRId64 " more", names.count - NAMES_SHOWN);
	if (rc == 0)
		err_set(err, ERR_USAGE,
			"--project %s: no run of it is stored; the projects are: %s", project,
			names.count ? names.text.data : "none yet");
	buf_release(&names.text);
	return -1;
}

int scope_check_project(struct store *store, const char *project, struct err *err)
{
	struct param name = {":name", {.type = VALUE_TEXT, .text = str_of(project)}};
	int found = 0;

	if (store_query(store,
			"SELECT 1 FROM project WHERE name = :name"
			" AND project_id IN (SELECT project_id FROM run)",
			&name, 1, count_it, &found, err) < 0)
		return -1;
	return found ? 0 : refuse(store, project, err);
}

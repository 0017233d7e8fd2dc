/* `br2-ingest report`: chooses the runs, then report.h prints. */
#include "cmd.h"
#include "common.h"
#include "config.h"
#include "database.h"
#include "report.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
	bool all, no_tests, json;
	const char *project, *format;
	long long top;
	double min_wall_s;
} flags = {.top = 10};

static const struct option table[] = {
	{"all", 0, NULL, OPTION_FLAG, &flags.all, "the whole file, not this project only"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.project, "all runs of this project"},
	{"top", 0, "N", OPTION_NUMBER, &flags.top, "list the N longest actions (default: 10)"},
	{"min-wall", 0, "S", OPTION_REAL, &flags.min_wall_s,
	 "only executions that ran S seconds or longer"},
	{"no-tests", 0, NULL, OPTION_FLAG, &flags.no_tests,
	 "leave out what only tests and test listings refer to"},
	{"json", 0, NULL, OPTION_FLAG, &flags.json, "rows as one JSON array, longest first"},
	{"format", 0, "FORMAT", OPTION_TEXT, &flags.format, "rows as table, csv or jsonl"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest report [PATH...] [options]\n"
	"\n"
	"Prints what stored runs used: the runs whose logs are at or below each PATH,\n"
	"else those of the project around the current directory, else all.";

static const char examples[] = "Examples:\n"
			       "  br2-ingest report                       this project\n"
			       "  br2-ingest report --all --top 30\n"
			       "  br2-ingest report buck-out/v2/log       the stored logs below\n"
			       "  br2-ingest report --json | jq '.[] | select(.cores > 4) | .id'\n";

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

static int choose_scope(struct store *store, int operands, char **argv, struct report_scope *scope,
			struct err *err)
{
	if (operands)
		return scope_of_paths(store, operands, argv, scope, err);
	if (flags.all)
		return report_scope_all(store, scope, err);
	if (flags.project)
		return report_scope_project(store, flags.project, scope, err);
	return scope_of_here(store, scope, err);
}

static int check_flags(int operands, struct err *err)
{
	if ((operands != 0) + flags.all + (flags.project != NULL) > 1)
		return err_set(err, ERR_USAGE, "PATH, --all and --project exclude each other");
	if (flags.json && flags.format)
		return err_set(err, ERR_USAGE, "--json and --format exclude each other");
	return 0;
}

static int report(int operands, char **argv, struct err *err)
{
	struct report_options options = {.top = flags.top,
					 .min_wall_s = flags.min_wall_s,
					 .no_tests = flags.no_tests,
					 .rows = flags.json || flags.format,
					 .format = OUTPUT_JSON};
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct store *store = NULL;
	int code = -1;

	if (check_flags(operands, err) < 0)
		return -1;
	if (flags.format && output_format_parse(flags.format, &options.format, err) < 0)
		return -1;
	if (database_open(&store, err) < 0)
		return -1;
	if (choose_scope(store, operands, argv, &scope, err) == 0 &&
	    report_print(store, &scope, &options, stdout, err) == 0)
		code = EXIT_DONE;
	report_scope_release(&scope);
	store_close(store);
	return code;
}

int cmd_report(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	return report(operands, argv, err);
}

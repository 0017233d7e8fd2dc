/* `br2-ingest report`: chooses the runs, then report.h prints. */
#include "cmd.h"
#include "common.h"
#include "database.h"
#include "html.h"
#include "html_file.h"
#include "report.h"
#include "scope.h"

#include <stdio.h>

static struct {
	struct scope_flags scope;
	bool no_tests, json;
	const char *format, *html;
	long long top;
	double min_wall_s;
} flags = {.top = 10};

static const struct option table[] = {
	{"all", 0, NULL, OPTION_FLAG, &flags.scope.all, "the whole file, not this project only"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.scope.project, "all runs of this project"},
	{"top", 0, "N", OPTION_NUMBER, &flags.top, "list the N longest actions (default: 10)"},
	{"min-wall", 0, "S", OPTION_REAL, &flags.min_wall_s,
	 "only executions that ran S seconds or longer"},
	{"no-tests", 0, NULL, OPTION_FLAG, &flags.no_tests,
	 "leave out what only tests and test listings refer to"},
	{"json", 0, NULL, OPTION_FLAG, &flags.json, "rows as one JSON array, longest first"},
	{"format", 0, "FORMAT", OPTION_TEXT, &flags.format, "rows as table, csv or jsonl"},
	{"html", 0, "FILE", OPTION_TEXT, &flags.html,
	 "a page with tables and plots, for a browser; - for standard output"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest report [PATH...] [options]\n"
	"\n"
	"Prints what stored runs used: the runs whose logs are at or below each PATH,\n"
	"else those of the project around the current directory, else all.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest report                       this project\n"
	"  br2-ingest report --all --top 30\n"
	"  br2-ingest report buck-out/v2/log       the stored logs below\n"
	"  br2-ingest report --html report.html    for a browser: no network needed\n"
	"  br2-ingest report --json | jq '.[] | select(.cores > 4) | .id'\n";

static int check_flags(int operands, struct err *err)
{
	if (flags.json && flags.format)
		return err_set(err, ERR_USAGE, "--json and --format exclude each other");
	if (flags.html && (flags.json || flags.format || flags.no_tests || flags.min_wall_s > 0))
		return err_set(
			err, ERR_USAGE,
			"--html shows all: --json, --format, --no-tests and --min-wall do not "
			"go with it");
	return scope_check(&flags.scope, operands, err);
}

static int print_page(struct store *store, const struct report_scope *scope, struct err *err)
{
	struct buf page = BUF_INIT;
	int rc = -1;

	/* At once: the user should not wait for the answer that FILE is no file. */
	if (html_file_check(flags.html, store_path(store), err) == 0 &&
	    html_add_page(store, scope, flags.top, &page, err) == 0)
		rc = html_file_write(flags.html, &page, err);
	buf_release(&page);
	return rc;
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
	if ((!flags.scope.project || scope_check_project(store, flags.scope.project, err) == 0) &&
	    scope_choose(store, &flags.scope, operands, argv, &scope, err) == 0 &&
	    (flags.html ? print_page(store, &scope, err)
			: report_print(store, &scope, &options, stdout, err)) == 0)
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

/* `br2-ingest check`: limits for a continuous integration, and the database's own health. */
#include "cmd.h"

#include "check.h"
#include "check_integrity.h"
#include "common.h"
#include "database.h"
#include "scope.h"
#include "util/msg.h"
#include "util/quantity.h"
#include "util/safe.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
	struct scope_flags scope;
	long long max_oom;
	const char *max_rss, *layers, *format;
	bool integrity;
} flags = {.max_oom = -1};

static const struct option table[] = {
	{"max-oom", 0, "N", OPTION_NUMBER, &flags.max_oom,
	 "a breach: more than N kills for memory, proved or suspected"},
	{"max-rss", 0, "SIZE", OPTION_TEXT, &flags.max_rss,
	 "a breach: each execution whose largest process was above (8GiB, 512MiB)"},
	{"layers", 0, "LIST", OPTION_TEXT, &flags.layers,
	 "whose word counts for --max-oom: of action, text, pods, prometheus "
	 "(default: action,text)"},
	{"integrity", 0, NULL, OPTION_FLAG, &flags.integrity,
	 "check the database itself: pages, references, kept sums"},
	{"all", 0, NULL, OPTION_FLAG, &flags.scope.all, "the whole file, not this project only"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.scope.project, "all runs of this project"},
	{"format", 0, "FORMAT", OPTION_TEXT, &flags.format,
	 "breaches as table, csv or jsonl (default: a line each)"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest check [PATH...] [options]\n"
	"\n"
	"Holds stored runs to limits: those whose logs are at or below each PATH, else\n"
	"those of the project around the current directory, else all. Give --max-oom,\n"
	"--max-rss or --integrity. Exits 4 with a line for each breach, 2 where something\n"
	"that it needs was not asked, else 0.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest check --max-oom 0 --max-rss 8GiB\n"
	"  br2-ingest check --max-oom 0 buck-out/v2/log    the stored logs below\n"
	"  br2-ingest check --max-oom 0 --layers action,text,prometheus\n"
	"  br2-ingest check --max-rss 2GiB --all --format csv > over.csv\n"
	"  br2-ingest check --integrity\n";

static int parse_size(const char *text, int64_t *out_bytes, struct err *err)
{
	if (quantity_size(str_of(text), out_bytes, err) == 0)
		return 0;
	return err_set(err, ERR_USAGE, "--max-rss %s: not a size like 8GiB, 512MiB or 4000000000",
		       text);
}

static int fill_check(struct check *check, int operands, struct err *err)
{
	check->max_oom = flags.max_oom < 0 ? UNKNOWN : flags.max_oom;
	check->max_rss_bytes = UNKNOWN;
	check->rows = flags.format != NULL;
	if (check->max_oom == UNKNOWN && !flags.max_rss && !flags.integrity)
		return err_set(err, ERR_USAGE,
			       "nothing to check: give --max-oom, --max-rss or --integrity");
	if (flags.max_rss && parse_size(flags.max_rss, &check->max_rss_bytes, err) < 0)
		return -1;
	if (flags.layers && check->max_oom == UNKNOWN)
		return err_set(err, ERR_USAGE, "--layers is about --max-oom N, which is not given");
	if (check_parse_layers(flags.layers ? flags.layers : "action,text", check, err) < 0)
		return err_prefix(err, "--layers");
	if (flags.format && output_format_parse(flags.format, &check->format, err) < 0)
		return -1;
	return scope_check(&flags.scope, operands, err);
}

/* ---- limits ---- */

/* What makes good what was not looked at. */
static const char *advice_for(struct str layer)
{
	if (str_is(layer, "pods"))
		return "br2-ingest --pods with a list that was made after the run";
	if (str_is(layer, "prometheus"))
		return "br2-ingest --prometheus URL, two minutes after the run or later";
	if (str_is(layer, "text"))
		return "an ingest that keeps stderr, of the log if it is still there";
	return "br2-ingest, with the server there";
}

static void tell_gap(void *context, struct str layer, int64_t runs, struct str first_run)
{
	(void)context;
	msg_error("not asked: layer %.*s of %" PRId64 " run%s, the first is %.*s; %s",
		  (int)layer.len, layer.data, runs, runs == 1 ? "" : "s", (int)first_run.len,
		  first_run.data, advice_for(layer));
}

static void print_ok(const char *what)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "ok: %s\n", what);
	safe_print(stdout, (struct str){line.data, line.len});
	buf_release(&line);
}

static int print_summary(struct store *store, const struct check *check, struct err *err)
{
	struct buf line = BUF_INIT;
	int rc = check_summary(store, check, &line, err);

	if (rc == 0 && check->rows)
		msg_note("%s", line.data);
	else if (rc == 0)
		print_ok(line.data);
	buf_release(&line);
	return rc;
}

/* A breach is one whatever else was not looked at. */
static int check_limits(struct store *store, const struct check *check, struct err *err)
{
	int64_t breaches, gaps;

	if (!check->scope->run_count) {
		msg_error("not asked: no run is stored of what is to be checked");
		return EXIT_TROUBLE;
	}
	if (check_breaches(store, check, stdout, &breaches, err) < 0 ||
	    check_gaps(store, check, tell_gap, NULL, &gaps, err) < 0)
		return -1;
	if (breaches)
		msg_note("%" PRId64 " breach%s in %s", breaches, breaches == 1 ? "" : "es",
			 check->scope->title.data);
	if (breaches || gaps)
		return breaches ? EXIT_BREACH : EXIT_TROUBLE;
	return print_summary(store, check, err) < 0 ? -1 : EXIT_DONE;
}

/* ---- the database ---- */

static void tell_faults(const char *path, const struct integrity *found)
{
	const char *more = found->more ? " or more" : "", *plural = found->faults == 1 ? "" : "s";

	if (found->shown < found->faults)
		msg_note("%s: %" PRId64 "%s faults, %" PRId64 " of them shown", path, found->faults,
			 more, found->shown);
	else
		msg_note("%s: %" PRId64 "%s fault%s", path, found->faults, more, plural);
}

static int check_database(struct store *store, struct err *err)
{
	struct integrity found;
	struct buf line = BUF_INIT;

	if (check_integrity(store, stdout, &found, err) < 0)
		return -1;
	if (found.faults) {
		tell_faults(store_path(store), &found);
		return EXIT_BREACH;
	}
	buf_addf(&line, "%s: pages, references and kept sums agree", store_path(store));
	print_ok(line.data);
	buf_release(&line);
	return EXIT_DONE;
}

static bool is_limited(const struct check *check)
{
	return check->max_oom != UNKNOWN || check->max_rss_bytes != UNKNOWN;
}

static int check_all(struct store *store, const struct check *limits, int operands, char **argv,
		     struct err *err)
{
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct check check = *limits;
	int health = EXIT_DONE, code = EXIT_DONE;

	if (flags.integrity)
		health = check_database(store, err);
	if (health >= 0 && is_limited(&check)) {
		check.scope = &scope;
		code = scope_choose(store, &flags.scope, operands, argv, &scope, err);
		if (code == 0)
			code = check_limits(store, &check, err);
	}
	report_scope_release(&scope);
	if (health < 0 || code < 0)
		return -1;
	return health > code ? health : code;
}

int cmd_check(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	struct store *store = NULL;
	struct check check = {0};
	int code;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (fill_check(&check, operands, err) < 0 || database_open(&store, err) < 0)
		return -1;
	code = check_all(store, &check, operands, argv, err);
	store_close(store);
	return code;
}

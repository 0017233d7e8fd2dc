/* `br2-ingest prune`: old runs go; store_prune.h does the work. */
#include "cmd.h"
#include "common.h"
#include "database.h"
#include "scope.h"
#include "store_prune.h"
#include "util/clock.h"
#include "util/msg.h"
#include "util/timefmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *keep, *project;
	bool dry_run;
} flags;

static const struct option table[] = {
	{"keep", 0, "AGE", OPTION_TEXT, &flags.keep,
	 "drop runs that began longer ago: 90d, 12w, 24h"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.project, "runs of this project only"},
	{"dry-run", 0, NULL, OPTION_FLAG, &flags.dry_run, "say what would go, and change nothing"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest prune --keep AGE [options]\n"
	"\n"
	"Drops runs that began before that age with all that only they refer to, and\n"
	"writes the file anew without the empty space, which needs room for a copy. Kept\n"
	"are results that younger runs refer to, and whole runs that executed these. Logs\n"
	"of dropped runs that are still on disk do not bring them back; a merge of a\n"
	"database that has them does.";

static const char examples[] = "Examples:\n"
			       "  br2-ingest prune --keep 90d --dry-run\n"
			       "  br2-ingest prune --keep 12w --project qemu-x86_64\n";

/* ---- the age ---- */

static const struct unit {
	char letter;
	int64_t ns;
} units[] = {{'h', INT64_C(3600000000000)},
	     {'d', INT64_C(86400000000000)},
	     {'w', INT64_C(604800000000000)}};

static const struct unit *find_unit(char letter)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].letter == letter)
			return &units[i];
	return NULL;
}

/* Digits and one letter; not more than the clock has counted so far. */
static int parse_age(const char *text, int64_t now_ns, int64_t *out_before_ns, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	const struct unit *unit = text[digits] ? find_unit(text[digits]) : NULL;
	long long count = digits && digits < 10 ? strtoll(text, NULL, 10) : 0;

	if (!digits || !unit || text[digits + 1])
		return err_set(err, ERR_USAGE,
			       "--keep %s: not an age: a number and h, d or w, as in 90d", text);
	if (count < 1 || count > now_ns / unit->ns)
		return err_set(err, ERR_USAGE, "--keep %s: from 1%c to %" PRId64 "%c", text,
			       unit->letter, now_ns / unit->ns, unit->letter);
	*out_before_ns = now_ns - count * unit->ns;
	return 0;
}

/* ---- what is said ---- */

static double mib_of(int64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void tell(const struct prune_options *options, const struct prune_tally *tally)
{
	printf("%s %" PRId64 " runs with %" PRId64 " actions, %" PRId64 " attempts, %" PRId64
	       " digests and %" PRId64 " results: %.1f MiB\n",
	       options->dry_run ? "would drop" : "dropped", tally->runs, tally->actions,
	       tally->attempts, tally->digests, tally->results, mib_of(tally->freed_bytes));
	if (tally->needed)
		printf("kept %" PRId64 " older runs: they executed what younger ones refer to\n",
		       tally->needed);
	if (tally->undated)
		printf("kept %" PRId64 " runs whose start is not known\n", tally->undated);
}

/* ---- the work ---- */

/* What was dropped stays so: the file just keeps its size, and uses the space again. */
static int compact(struct store *store, bool wanted, struct err *err)
{
	int64_t before, after;

	if (store_compact(store, wanted, &before, &after, err) < 0) {
		err_prefix(err, "the file keeps its size, as it could not be written anew");
		return -1;
	}
	if (after != before)
		msg_note("%s: %.1f MiB, was %.1f MiB", store_path(store), mib_of(after),
			 mib_of(before));
	return EXIT_DONE;
}

static int prune(struct store *store, const struct prune_options *options, struct err *err)
{
	struct prune_tally tally;

	if (options->project && scope_check_project(store, options->project, err) < 0)
		return -1;
	if (store_prune(store, options, &tally, err) < 0)
		return -1;
	tell(options, &tally);
	return options->dry_run ? EXIT_DONE : compact(store, tally.runs > 0, err);
}

int cmd_prune(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err), code;
	struct prune_options options = {0};
	struct store *store = NULL;
	char *path;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (operands)
		return err_set(err, ERR_USAGE, "prune takes no operands, only options");
	if (!flags.keep)
		return err_set(err, ERR_USAGE, "prune wants --keep AGE, as in --keep 90d");
	options.project = flags.project;
	options.dry_run = flags.dry_run;
	if (parse_age(flags.keep, clock_now_ns(), &options.before_ns, err) < 0 ||
	    database_path(&path, err) < 0)
		return -1;
	code = store_open(&store, path, STORE_WRITE, err);
	free(path);
	if (code == 0)
		code = prune(store, &options, err);
	store_close(store);
	return code;
}

/* `br2-ingest merge`: other databases' rows into this one; store_merge.h does the work. */
#include "cmd.h"
#include "common.h"
#include "store_merge.h"
#include "util/buf.h"
#include "util/msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct option table[] = {
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest merge FILE... [options]\n"
	"\n"
	"Brings the rows of other databases into this one, as if their logs had been read\n"
	"and their results asked for here. Merging twice changes nothing, the order does\n"
	"not matter, and one that was stopped goes on when it is run again. Settings, and\n"
	"rows that you changed, stay as they are here. The FILEs are only read.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest merge /media/laptop/br2.db\n"
	"  br2-ingest merge laptop.db workspace.db --db both.db   made if it is not there\n"
	"  br2-ingest check --integrity --db both.db\n";

struct work {
	struct store *store;
	const char *path; /* of the source at hand */
	int failed;	  /* sources that were not merged, each of which was said */
};

static void show(void *context, const struct merge_tally *tally)
{
	const struct work *work = context;

	msg_progress("%s: %" PRId64 " runs, %" PRId64 " actions, %" PRId64 " results", work->path,
		     tally->runs + tally->runs_known, tally->actions + tally->actions_known,
		     tally->results + tally->results_known);
}

static void tell(const char *path, const struct merge_tally *tally)
{
	msg_note("%s: new %" PRId64 " runs, %" PRId64 " actions, %" PRId64 " results, %" PRId64
		 " logs; known %" PRId64 " runs, %" PRId64 " actions, %" PRId64 " results, %" PRId64
		 " logs",
		 path, tally->runs, tally->actions, tally->results, tally->files, tally->runs_known,
		 tally->actions_known, tally->results_known, tally->files_known);
	if (tally->kept)
		msg_note("%s: %" PRId64
			 " of its pools, shapes and names are not as yours here, which "
			 "stay",
			 path, tally->kept);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A source that cannot be merged is said, and the others are merged. */
static void merge_one(struct work *work)
{
	const struct merge_watch watch = {show, work};
	struct merge_tally tally = {0};
	struct store *source = NULL;
	struct err err = ERR_INIT;
	int rc = store_open_source(&source, work->path, &err);
	bool begun = rc == 0;

	if (begun)
		rc = store_merge(work->store, source, &watch, &tally, &err);
	store_close(source);
	if (rc == 0) {
		tell(work->path, &tally);
		return;
	}
	msg_error("%s", err.text);
	if (begun)
		msg_note("what of %s is stored stays; merge it again to go on", work->path);
	work->failed++;
}

/* Before anything is made or written. */
static int check_sources(const char *db, int count, char **paths, struct err *err)
{
	int i;

	if (!count)
		return err_set(err, ERR_USAGE,
			       "merge wants a database to merge: br2-ingest merge FILE");
	for (i = 0; i < count; i++)
		if (is_same_file(db, paths[i]))
			return err_set(err, ERR_USAGE,
				       "%s: is the database that is merged into; choose another"
				       " one with --db",
				       paths[i]);
	return 0;
}

static int merge_into(const char *db, int count, char **paths, struct err *err)
{
	struct work work = {0};
	int i;

	if (store_open(&work.store, db, STORE_WRITE, err) < 0)
		return -1;
	msg_note("database %s", db);
	for (i = 0; i < count; i++) {
		work.path = paths[i];
		merge_one(&work);
	}
	store_close(work.store);
	return work.failed ? EXIT_TROUBLE : EXIT_DONE;
}

int cmd_merge(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	char *db;
	int code;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (common_db_path(common_options.db, &db, err) < 0)
		return -1;
	code = check_sources(db, operands, argv, err);
	if (code == 0)
		code = merge_into(db, operands, argv, err);
	free(db);
	return code;
}

/*
 * `br2-ingest sql`: the stock sqlite3 shell on the database. Read-only unless
 * asked: a typing error must not cost a record of builds, and an ingest that
 * runs beside it never waits for a forgotten transaction.
 */
#include "cmd.h"
#include "common.h"
#include "database.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool writable;

static const struct option table[] = {
	{"write", 'w', NULL, OPTION_FLAG, &writable, "let statements change the database"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char examples[] =
	"Without a statement the shell is interactive; `.tables` lists what there is\n"
	"and `.schema NAME` documents it.\n"
	"\n"
	"Examples:\n"
	"  br2-ingest sql 'SELECT * FROM summary'\n"
	"  br2-ingest sql 'SELECT * FROM top_actions LIMIT 20'\n"
	"  br2-ingest sql '.mode csv' 'SELECT * FROM packages'\n"
	"  br2-ingest sql -w \"UPDATE setting SET value = 90 WHERE key = 'heavy_wall_s'\"\n";

/*
 * The file may be a stranger's: his triggers do not run, and functions in his views are the
 * harmless ones only. .dbconfig tells what it set, which is nobody's answer.
 */
static const char *const before[] = {
	".output /dev/null",
	".dbconfig defensive on",
	".dbconfig enable_trigger off",
	".dbconfig trusted_schema off",
	".output",
};

#define BEFORE (sizeof(before) / sizeof(*before))

/*
 * The shell would roll back by a journal that names any file as one more to delete
 * (store_vfs.h). An ingest does it in our way.
 */
static int check_journal(const char *path, struct err *err)
{
	char *journal = xasprintf("%s-journal", path);
	struct stat st;
	bool there = stat(journal, &st) == 0 && st.st_size > 0;

	free(journal);
	if (!there)
		return 0;
	return err_set(err, ERR_DB,
		       "%s: is being written, or an ingest was killed while it wrote: the next"
		       " ingest repairs it",
		       path);
}

/* Replaces this process; returns only where that failed. */
static int run_shell(const char *path, int count, char **statements, struct err *err)
{
	const char **args = xcalloc((size_t)count + 7 + 2 * BEFORE, sizeof(*args));
	size_t n = 0, at;
	int error, i;

	args[n++] = "sqlite3";
	if (!writable)
		args[n++] = "-readonly";
	args[n++] = "-header";
	args[n++] = "-box";
	for (at = 0; at < BEFORE; at++) {
		args[n++] = "-cmd";
		args[n++] = before[at];
	}
	args[n++] = path;
	for (i = 0; i < count; i++)
		args[n++] = statements[i];
	fflush(stdout);
	/* execvp() does not change the strings; its type is older than const. */
	execvp("sqlite3", (char *const *)(uintptr_t)args);
	error = errno;
	free(args);
	if (error == ENOENT)
		return err_set(err, ERR_IO,
			       "the sqlite3 shell is not installed (Debian: apt-get install "
			       "sqlite3); any other SQLite 3.40 client opens %s",
			       path);
	return err_errno(err, ERR_IO, error, "cannot start sqlite3");
}

int cmd_sql(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	char *path, *safe;
	int rc;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help("br2-ingest sql [--write] [STATEMENT...]", table, examples);
		return EXIT_DONE;
	}
	if (database_path(&path, err) < 0)
		return -1;
	/* A name that begins with a dash is no option of the shell's. */
	safe = xasprintf("%s%s", path[0] == '-' ? "./" : "", path);
	rc = writable ? check_journal(safe, err) : 0;
	if (rc == 0)
		rc = run_shell(safe, operands, argv, err);
	free(safe);
	free(path);
	return rc;
}

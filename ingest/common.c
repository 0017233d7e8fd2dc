#include "common.h"

#include "util/mem.h"
#include "util/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct common_options common_options;

const struct option common_table[] = {
	{"db", 0, "FILE", OPTION_TEXT, &common_options.db,
	 "the database (default: $BR2_DB, ./br2.db if it exists, else the user's data folder)"},
	{"quiet", 'q', NULL, OPTION_FLAG, &common_options.quiet, "warnings and errors only"},
	{"help", 'h', NULL, OPTION_FLAG, &common_options.help, "show this"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

int common_parse(const struct option *table, int argc, char **argv, struct err *err)
{
	const struct option *groups[] = {table, common_table, NULL};
	int operands = options_parse(groups, argc, argv, err);

	msg_set_quiet(common_options.quiet);
	return operands;
}

void common_help(const char *usage, const struct option *table, const char *examples)
{
	printf("usage: %s\n\n", usage);
	options_print(table, stdout);
	options_print(common_table, stdout);
	printf("\n%s", examples);
}

static bool is_plain_name(const char *path)
{
	return path[0] != ':' && strncmp(path, "file:", 5) != 0;
}

int common_db_path(const char *flag, char **out_path, struct err *err)
{
	const char *named = flag ? flag : getenv("BR2_DB");
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");

	if (flag && !*flag)
		return err_set(err, ERR_USAGE, "--db is empty: a shell variable that is not set?");
	if (named && *named)
		/* SQLite takes ":memory:" and "file:…" for something else than a name. */
		*out_path = xasprintf("%s%s", is_plain_name(named) ? "" : "./", named);
	else if (access("br2.db", F_OK) == 0)
		*out_path = xstrdup("br2.db");
	else if (data && *data)
		*out_path = xasprintf("%s/br2-ingest/br2.db", data);
	else if (home && *home)
		*out_path = xasprintf("%s/.local/share/br2-ingest/br2.db", home);
	else
		return err_set(err, ERR_USAGE,
			       "no place for the database: name one with --db FILE");
	return 0;
}

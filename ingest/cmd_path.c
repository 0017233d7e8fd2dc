/* `br2-ingest path`: where the database is, for the shell. */
#include "cmd.h"
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

static const struct option table[] = {
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char examples[] = "Examples:\n"
			       "  sqlite3 \"$(br2-ingest path)\" 'SELECT * FROM summary'\n"
			       "  cp \"$(br2-ingest path)\" usage.db\n";

int cmd_path(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	char *path;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help("br2-ingest path [--db FILE]", table, examples);
		return EXIT_DONE;
	}
	if (operands)
		return err_set(err, ERR_USAGE, "path takes no argument, not '%s'", argv[0]);
	if (common_db_path(common_options.db, &path, err) < 0)
		return -1;
	puts(path);
	free(path);
	return EXIT_DONE;
}

/*
 * What all verbs share: the options that each takes, and the database's place.
 */
#ifndef BR2_COMMON_H
#define BR2_COMMON_H

#include "util/err.h"
#include "util/options.h"

#include <stdbool.h>

struct common_options {
	const char *db; /* --db FILE; NULL */
	bool quiet;
	bool help;
};

/* The values that common_table fills; one process runs one verb. */
extern struct common_options common_options;
extern const struct option common_table[];

/*
 * Parses argv against `table` and common_table, applies --quiet, and returns
 * the number of operands moved to the front of argv, or -1.
 */
int common_parse(const struct option *table, int argc, char **argv, struct err *err);

/* Prints "usage: …", the tables and `examples` on stdout. */
void common_help(const char *usage, const struct option *table, const char *examples);

/*
 * The database: --db, BR2_DB, an existing ./br2.db, else
 * ${XDG_DATA_HOME:-~/.local/share}/br2-ingest/br2.db. Caller frees. -1: none of
 * them can be named (no HOME).
 */
int common_db_path(const char *flag, char **out_path, struct err *err);

#endif

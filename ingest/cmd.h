/*
 * The verbs. Each has one file, cmd_<verb>.c: an option table, a help text with
 * examples, and run(), which takes argv without program and verb and returns an
 * exit code, or -1 with err set (main.c maps its kind to the exit code).
 */
#ifndef BR2_CMD_H
#define BR2_CMD_H

#include "util/err.h"

/* Exit codes; br2-ingest(1) says the same. 128 + n: ended by signal n. */
enum exit_code {
	EXIT_DONE = 0,	  /* all asked and stored */
	EXIT_BUG = 1,	  /* a fault of this program */
	EXIT_TROUBLE = 2, /* server, file or access trouble; what was read is stored */
	EXIT_USAGE = 3,	  /* command line, or a configuration that stops before any log is read */
	EXIT_BREACH = 4,  /* `check` found a breach */
};

struct command {
	const char *name;
	const char *summary; /* for `br2-ingest --help` */
	int (*run)(int argc, char **argv, struct err *err);
};

int cmd_ingest(int argc, char **argv, struct err *err);
int cmd_report(int argc, char **argv, struct err *err);
int cmd_check(int argc, char **argv, struct err *err);
int cmd_plan(int argc, char **argv, struct err *err);
int cmd_compare(int argc, char **argv, struct err *err);
int cmd_prune(int argc, char **argv, struct err *err);
int cmd_digest(int argc, char **argv, struct err *err);
int cmd_views(int argc, char **argv, struct err *err);
int cmd_sql(int argc, char **argv, struct err *err);
int cmd_merge(int argc, char **argv, struct err *err);
int cmd_path(int argc, char **argv, struct err *err);
int cmd_export(int argc, char **argv, struct err *err);

#endif

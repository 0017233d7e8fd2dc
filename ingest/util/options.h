/*
 * The command line as a table: one truth for parsing, --help and the test that
 * compares both with the manual page. Long names take `-` and `_` alike and are
 * never abbreviated (an abbreviation breaks when an option is added).
 */
#ifndef BR2_OPTIONS_H
#define BR2_OPTIONS_H

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_type {
	OPTION_FLAG,   /* bool: set to true */
	OPTION_TEXT,   /* const char *: borrowed from argv, last one wins */
	OPTION_LIST,   /* struct option_list: every value, in order */
	OPTION_NUMBER, /* long long: a whole number >= 0 */
	OPTION_REAL,   /* double >= 0 */
};

/* Values of an option that may be repeated. Borrowed from argv. */
struct option_list {
	const char **values;
	size_t count;
};

struct option {
	const char *name;  /* without the dashes; NULL ends the table */
	char letter;	   /* 0: none */
	const char *value; /* name of the value in --help; NULL for flags */
	enum option_type type;
	void *dest;
	const char *help; /* one line, lower case, no full stop; NULL: not shown */
};

/*
 * Parses argv[0 … argc-1] (no program name), moves operands to the front and
 * returns their number, or -1. `--` ends the options. `groups` is a
 * NULL-terminated list of tables.
 */
int options_parse(const struct option *const *groups, int argc, char **argv, struct err *err);
/* Prints one table, aligned, at most 80 columns wide. */
void options_print(const struct option *table, FILE *out);
/* `value` is borrowed. */
void option_list_add(struct option_list *list, const char *value);
void option_list_release(struct option_list *list);

#endif

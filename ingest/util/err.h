/*
 * Errors: a function that can fail returns -1 and fills the struct err that it
 * was given last. The text is set where the fault is detected and never
 * overwritten above; a caller may add the place once, with err_prefix().
 * Outcomes that belong to the data (a missing result, a log cut short) are
 * values in rows, never errors. Only main.c maps a kind to an exit code.
 */
#ifndef BR2_ERR_H
#define BR2_ERR_H

#include <stddef.h>

enum err_kind {
	ERR_NONE = 0,
	ERR_USAGE,  /* the command line, or a configuration that stops before any log is read */
	ERR_IO,	    /* files: missing, unreadable, full disk */
	ERR_FORMAT, /* bytes that are not what they should be */
	ERR_NET,    /* the server: unreachable, refused, unknown instance, TLS */
	ERR_DB,	    /* SQLite's own word */
	ERR_LIMIT,  /* larger than a stated bound */
	ERR_BREACH, /* `check` found what it was told to look for */
};

struct err {
	enum err_kind kind;
	char text[512]; /* one line, no trailing newline */
};

#define ERR_INIT             \
	{                    \
		ERR_NONE, "" \
	}

/* Sets kind and text; always returns -1, so that `return err_set(…)` reads well. */
int err_set(struct err *err, enum err_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set(), with ": " and the text of errno value `number` appended. */
int err_errno(struct err *err, enum err_kind kind, int number, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "PREFIX: " before the text; returns -1. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/*
 * CSV as RFC 4180 has it: comma, CRLF, quotes where a field needs them. NULL is
 * an empty field and an empty text is "", as SQLite's own shell writes them.
 * UTF-8 throughout: stray bytes and NULs become U+FFFD, since most readers
 * refuse the whole file for one of them.
 */
#ifndef BR2_CSV_H
#define BR2_CSV_H

#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds rows to a buffer that the caller writes out and empties when it likes. */
struct csv {
	struct buf *buf;
	bool spreadsheet; /* see csv_init() */
	size_t column;	  /* fields in this row so far */
};

/*
 * `spreadsheet`: a byte order mark in front (Excel reads UTF-8 only with one),
 * and an apostrophe before each text that begins with = + - @ TAB or CR, which
 * a spreadsheet would run as a formula. Numbers are never touched.
 */
void csv_init(struct csv *csv, struct buf *buf, bool spreadsheet);
/* A text field; NULL where text.data is NULL. */
void csv_text(struct csv *csv, struct str text);
void csv_integer(struct csv *csv, int64_t number);
/* The shortest decimal that reads back the same; empty for NaN and infinities. */
void csv_real(struct csv *csv, double number);
void csv_null(struct csv *csv);
void csv_end_row(struct csv *csv);

#endif

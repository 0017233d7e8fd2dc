/*
 * CSV as RFC 4180 has it: comma, CRLF, quotes where a field needs them. NULL is
 * an empty field and an empty text is "", as SQLite's own shell writes them.
 * Semicolons and tabs are quoted too: LibreOffice splits fields at them, unless told not to.
 * UTF-8 throughout: stray bytes and NULs become U+FFFD, since most readers
 * refuse the whole file for one of them.
 */
#ifndef BR2_CSV_H
#define BR2_CSV_H

#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A CSV file cannot say what is text, and a spreadsheet guesses: =1+1 is run, 007
 * is 7, 3-4 a day in March. Quotes do not stop it. "Taken" is a text that begins
 * with = + - @ TAB or CR, or reads as a number, date, time or truth value.
 */
enum csv_dialect {
	/*
	 * For programs. A taken text is quoted: those that tell quoted fields from
	 * bare ones (LibreOffice with "Format quoted field as text") see the types.
	 */
	CSV_PLAIN,
	/*
	 * For Excel and LibreOffice as they open a file unasked. A byte order mark in
	 * front (Excel reads UTF-8 only with one); an apostrophe before each text that
	 * is taken or begins with one, so that taking one off gives the text back; a T
	 * between day and time, which makes it a time in LibreOffice in any language.
	 */
	CSV_SPREADSHEET,
	/* The same for languages that write 0,5 and so divide fields by semicolons. */
	CSV_SPREADSHEET_COMMA,
};

/* Adds rows to a buffer that the caller writes out and empties when it likes. */
struct csv {
	struct buf *buf;
	enum csv_dialect dialect;
	size_t column; /* fields in this row so far */
};

void csv_init(struct csv *csv, struct buf *buf, enum csv_dialect dialect);
/*
 * A text field; NULL where text.data is NULL. Control characters other than tabs and line
 * breaks, and direction marks, appear as safe_add() has them.
 */
void csv_text(struct csv *csv, struct str text);
/* A time, "YYYY-MM-DD HH:MM:SS" and maybe a fraction: may be taken for one. */
void csv_time(struct csv *csv, struct str text);
void csv_integer(struct csv *csv, int64_t number);
/* The shortest decimal that reads back the same; empty for NaN and infinities. */
void csv_real(struct csv *csv, double number);
void csv_null(struct csv *csv);
void csv_end_row(struct csv *csv);

#endif

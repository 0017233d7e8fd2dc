/*
 * Stage 6: the rows of a query as a table, CSV, JSON lines or a JSON array. One
 * place behind every verb that prints rows; another format is added here.
 *
 * Times, in columns named *_utc, are RFC 3339 in JSON and what csv_time() makes of
 * them in CSV; in tables as the views give them. Nothing is rounded here but in
 * tables.
 */
#ifndef BR2_OUTPUT_H
#define BR2_OUTPUT_H

#include "store.h"
#include "util/csv.h"
#include "util/err.h"
#include "util/grid.h"

#include <stdbool.h>
#include <stdio.h>

enum output_format {
	OUTPUT_TABLE, /* aligned, for people; held in memory until the last row */
	OUTPUT_CSV,   /* RFC 4180 with a header line, also for no rows */
	OUTPUT_JSONL, /* one object a line */
	OUTPUT_JSON,  /* one array of objects */
};

/* "table", "csv" or "jsonl"; -1: another word (ERR_USAGE). */
int output_format_parse(const char *name, enum output_format *out_format, struct err *err);

struct output_options {
	enum output_format format;
	enum csv_dialect dialect; /* of CSV */
};

/* Runs one SELECT and writes its rows to `out`. -1 also where writing failed (ERR_IO). */
int output_query(struct store *store, const char *sql, const struct param *params, size_t count,
		 const struct output_options *options, FILE *out, struct err *err);

/* Adds `row` as one JSON object, members in the order of its columns. */
void output_add_object(const struct row *row, struct buf *buf);
/* Adds the cells of `row` to a table of as many columns. */
void output_add_cells(const struct row *row, struct grid *grid);

#endif

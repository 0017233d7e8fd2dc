#include "output.h"

#include "util/json.h"
#include "util/mem.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Bytes held back before they are written. */
#define WRITE_AT ((size_t)64 << 10)

struct output {
	const struct output_options *options;
	FILE *out;
	struct buf buf;
	struct csv csv;
	struct grid *grid;
	uint64_t rows;
	bool has_header;
};

int output_format_parse(const char *name, enum output_format *out_format, struct err *err)
{
	if (strcmp(name, "table") == 0)
		*out_format = OUTPUT_TABLE;
	else if (strcmp(name, "csv") == 0)
		*out_format = OUTPUT_CSV;
	else if (strcmp(name, "jsonl") == 0)
		*out_format = OUTPUT_JSONL;
	else
		return err_set(err, ERR_USAGE, "--format is table, csv or jsonl, not '%s'", name);
	return 0;
}

static int flush(struct output *output, struct err *err)
{
	errno = 0;
	if (fwrite(output->buf.data, 1, output->buf.len, output->out) != output->buf.len)
		return err_errno(err, ERR_IO, errno, "cannot write");
	buf_clear(&output->buf);
	return 0;
}

/* ---- times ---- */

static bool is_utc(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, "_utc") == 0;
}

/* "2026-11-30 03:04:05.678", or without the fraction: as the views write times. */
static bool is_time(struct str text)
{
	static const char shape[] = "0000-00-00 00:00:00.";
	size_t i;

	for (i = 0; i < text.len; i++) {
		char want = i < sizeof(shape) - 1 ? shape[i] : '0';
		bool fits = want == '0' ? isdigit((unsigned char)text.data[i]) != 0
					: text.data[i] == want;

		if (!fits)
			return false;
	}
	return text.len == 19 || text.len > 20;
}

/* An own view may name any column so: what is in it counts too. */
static bool is_time_of(const char *name, struct str text)
{
	return is_utc(name) && is_time(text);
}

/* ---- JSON ---- */

/* A time as RFC 3339 wants it. */
static void add_time(struct buf *buf, struct str text)
{
	buf_addch(buf, '"');
	buf_add(buf, text.data, 10);
	buf_addch(buf, 'T');
	buf_add(buf, text.data + 11, text.len - 11);
	buf_addstr(buf, "Z\"");
}

static void add_hex(struct buf *buf, struct str bytes)
{
	size_t i;

	for (i = 0; i < bytes.len; i++)
		buf_addf(buf, "%02x", (unsigned)(unsigned char)bytes.data[i]);
}

static void add_json_value(struct buf *buf, const char *name, const struct value *value)
{
	switch (value->type) {
	case VALUE_NULL:
		buf_addstr(buf, "null");
		break;
	case VALUE_INTEGER:
		json_add_integer(buf, value->integer);
		break;
	case VALUE_REAL:
		json_add_real(buf, value->real);
		break;
	case VALUE_TEXT:
		if (is_time_of(name, value->text))
			add_time(buf, value->text);
		else
			json_add_text(buf, value->text);
		break;
	case VALUE_BLOB:
		buf_addch(buf, '"');
		add_hex(buf, value->text);
		buf_addch(buf, '"');
		break;
	}
}

void output_add_object(const struct row *row, struct buf *buf)
{
	size_t i;

	buf_addch(buf, '{');
	for (i = 0; i < row->count; i++) {
		if (i)
			buf_addstr(buf, ", ");
		json_add_text(buf, str_of(row->names[i]));
		buf_addstr(buf, ": ");
		add_json_value(buf, row->names[i], &row->values[i]);
	}
	buf_addch(buf, '}');
}

/* ---- CSV and tables ---- */

static void add_csv_value(struct csv *csv, const char *name, const struct value *value)
{
	struct buf hex = BUF_INIT;

	switch (value->type) {
	case VALUE_NULL:
		csv_null(csv);
		break;
	case VALUE_INTEGER:
		csv_integer(csv, value->integer);
		break;
	case VALUE_REAL:
		csv_real(csv, value->real);
		break;
	case VALUE_TEXT:
		if (is_time_of(name, value->text))
			csv_time(csv, value->text);
		else
			csv_text(csv, value->text);
		break;
	case VALUE_BLOB:
		add_hex(&hex, value->text);
		csv_text(csv, (struct str){hex.data, hex.len});
		break;
	}
	buf_release(&hex);
}

static void add_grid_value(struct grid *grid, const struct value *value)
{
	struct buf hex = BUF_INIT;

	switch (value->type) {
	case VALUE_NULL:
		grid_unknown(grid);
		break;
	case VALUE_INTEGER:
		grid_integer(grid, value->integer);
		break;
	case VALUE_REAL:
		grid_number(grid, value->real);
		break;
	case VALUE_TEXT:
		grid_text(grid, value->text);
		break;
	case VALUE_BLOB:
		add_hex(&hex, value->text);
		grid_text(grid, (struct str){hex.data, hex.len});
		break;
	}
	buf_release(&hex);
}

void output_add_cells(const struct row *row, struct grid *grid)
{
	size_t i;

	for (i = 0; i < row->count; i++)
		add_grid_value(grid, &row->values[i]);
}

static void put_header(struct output *output, const struct row *row)
{
	size_t i;

	output->has_header = true;
	if (output->options->format == OUTPUT_TABLE) {
		output->grid = grid_new(row->names, row->count);
	} else if (output->options->format == OUTPUT_CSV) {
		for (i = 0; i < row->count; i++)
			csv_text(&output->csv, str_of(row->names[i]));
		csv_end_row(&output->csv);
	}
}

static int put_names_only(void *context, const struct row *row, struct err *err)
{
	(void)err;
	put_header(context, row);
	return 1;
}

static int put_row(void *context, const struct row *row, struct err *err)
{
	struct output *output = context;
	size_t i;

	if (!output->has_header)
		put_header(output, row);
	switch (output->options->format) {
	case OUTPUT_TABLE:
		output_add_cells(row, output->grid);
		break;
	case OUTPUT_CSV:
		for (i = 0; i < row->count; i++)
			add_csv_value(&output->csv, row->names[i], &row->values[i]);
		csv_end_row(&output->csv);
		break;
	case OUTPUT_JSON:
		buf_addstr(&output->buf, output->rows ? ",\n " : "[");
		output_add_object(row, &output->buf);
		break;
	case OUTPUT_JSONL:
		output_add_object(row, &output->buf);
		buf_addch(&output->buf, '\n');
		break;
	}
	output->rows++;
	return output->buf.len < WRITE_AT ? 0 : flush(output, err);
}

/*
 * The names of a query that gave no row: SQLite tells them with a row only, so
 * one of nothing but NULLs is asked for.
 */
static int put_header_of(struct output *output, struct store *store, const char *sql,
			 const struct param *params, size_t count, struct err *err)
{
	struct buf probe = BUF_INIT;
	int rc;

	buf_addf(&probe, "SELECT q.* FROM (SELECT 1) LEFT JOIN (%s) AS q LIMIT 1", sql);
	rc = store_query(store, probe.data, params, count, put_names_only, output, err);
	buf_release(&probe);
	return rc;
}

static int finish(struct output *output, struct err *err)
{
	if (output->options->format == OUTPUT_JSON)
		buf_addstr(&output->buf, output->rows ? "]\n" : "[]\n");
	if (output->grid)
		grid_add(output->grid, 0, &output->buf);
	if (flush(output, err) < 0)
		return -1;
	if (fflush(output->out) != 0)
		return err_errno(err, ERR_IO, errno, "cannot write");
	return 0;
}

int output_query(struct store *store, const char *sql, const struct param *params, size_t count,
		 const struct output_options *options, FILE *out, struct err *err)
{
	struct output output = {.options = options, .out = out, .buf = BUF_INIT};
	bool headed = options->format == OUTPUT_TABLE || options->format == OUTPUT_CSV;
	int rc = -1;

	/* The mark in front is for CSV alone. */
	csv_init(&output.csv, &output.buf,
		 options->format == OUTPUT_CSV ? options->dialect : CSV_PLAIN);
	if (store_query(store, sql, params, count, put_row, &output, err) < 0)
		goto out;
	if (headed && !output.has_header &&
	    put_header_of(&output, store, sql, params, count, err) < 0)
		goto out;
	rc = finish(&output, err);
out:
	grid_free(output.grid);
	buf_release(&output.buf);
	return rc;
}

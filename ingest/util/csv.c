#include "util/csv.h"

#include "util/number.h"
#include "util/utf8.h"

#include <inttypes.h>

void csv_init(struct csv *csv, struct buf *buf, bool spreadsheet)
{
	csv->buf = buf;
	csv->spreadsheet = spreadsheet;
	csv->column = 0;
	if (spreadsheet)
		buf_addstr(buf, "\xef\xbb\xbf");
}

static void next_field(struct csv *csv)
{
	if (csv->column++)
		buf_addch(csv->buf, ',');
}

static bool needs_quotes(struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (strchr(",\"\r\n", text.data[i]) && text.data[i])
			return true;
	return text.len == 0;
}

static bool is_formula(struct str text)
{
	return text.len && text.data[0] && strchr("=+-@\t\r", text.data[0]);
}

static void add_clean(struct buf *buf, struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		uint32_t code;
		size_t size = utf8_read(text.data + at, text.len - at, &code);

		if (size == 0 || code == 0)
			buf_addstr(buf, "\xef\xbf\xbd");
		else
			buf_add(buf, text.data + at, size);
		if (size == 1 && text.data[at] == '"')
			buf_addch(buf, '"');
		at += size ? size : 1;
	}
}

void csv_text(struct csv *csv, struct str text)
{
	bool quoted;

	next_field(csv);
	if (!text.data)
		return;
	quoted = needs_quotes(text);
	if (quoted)
		buf_addch(csv->buf, '"');
	if (csv->spreadsheet && is_formula(text))
		buf_addch(csv->buf, '\'');
	add_clean(csv->buf, text);
	if (quoted)
		buf_addch(csv->buf, '"');
}

void csv_integer(struct csv *csv, int64_t number)
{
	next_field(csv);
	buf_addf(csv->buf, "%" PRId64, number);
}

void csv_real(struct csv *csv, double number)
{
	next_field(csv);
	number_add_real(csv->buf, number);
}

void csv_null(struct csv *csv)
{
	next_field(csv);
}

void csv_end_row(struct csv *csv)
{
	buf_addstr(csv->buf, "\r\n");
	csv->column = 0;
}

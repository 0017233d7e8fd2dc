#include "html_table.h"

#include "html_text.h"
#include "util/mem.h"
#include "util/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum kind { KIND_NUMBER, KIND_UNKNOWN, KIND_TEXT, KIND_WORDS, KIND_NAME };

struct cell {
	enum kind kind;
	char *html;
};

struct html_table {
	size_t columns;
	char **names;
	bool *has_text; /* some cell of the column is neither a number nor unknown */
	struct cell *cells;
	size_t count, cap;
};

struct html_table *html_table_new(const char *const *columns, size_t count)
{
	struct html_table *table = xcalloc(1, sizeof(*table));
	size_t i;

	table->columns = count;
	table->names = xcalloc(count, sizeof(*table->names));
	table->has_text = xcalloc(count, sizeof(*table->has_text));
	for (i = 0; i < count; i++)
		table->names[i] = xstrdup(columns[i]);
	return table;
}

void html_table_free(struct html_table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->columns; i++)
		free(table->names[i]);
	for (i = 0; i < table->count; i++)
		free(table->cells[i].html);
	free(table->names);
	free(table->has_text);
	free(table->cells);
	free(table);
}

/* ---- cells ---- */

static void put(struct html_table *table, enum kind kind, char *html)
{
	if (table->count == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->cells = xreallocarray(table->cells, table->cap, sizeof(*table->cells));
	}
	table->has_text[table->count % table->columns] |= kind > KIND_UNKNOWN;
	table->cells[table->count++] = (struct cell){kind, html};
}

static char *safe_copy(struct str text)
{
	struct buf buf = BUF_INIT;

	html_add_text(&buf, text);
	return buf_detach(&buf);
}

/* From so many bytes on, a text is words, which may be broken into lines. */
#define WORDS 28

void html_cell_text(struct html_table *table, struct str text)
{
	if (text.data)
		put(table, text.len >= WORDS ? KIND_WORDS : KIND_TEXT, safe_copy(text));
	else
		html_cell_unknown(table);
}

void html_cell_name(struct html_table *table, struct str name)
{
	put(table, KIND_NAME, safe_copy(name));
}

void html_cell_integer(struct html_table *table, int64_t number)
{
	put(table, KIND_NUMBER, xasprintf("%" PRId64, number));
}

void html_cell_real(struct html_table *table, double number, int decimals)
{
	if (isfinite(number))
		put(table, KIND_NUMBER, xasprintf("%.*f", decimals, number));
	else
		html_cell_unknown(table);
}

static void put_number(struct html_table *table, double number)
{
	struct buf buf = BUF_INIT;

	number_add_short(&buf, number);
	put(table, KIND_NUMBER, buf_detach(&buf));
}

void html_cell_unknown(struct html_table *table)
{
	put(table, KIND_UNKNOWN, xstrdup("<span role=\"img\" aria-label=\"unknown\">–</span>"));
}

void html_cell(struct html_table *table, const struct value *value)
{
	switch (value->type) {
	case VALUE_NULL:
		html_cell_unknown(table);
		break;
	case VALUE_INTEGER:
		html_cell_integer(table, value->integer);
		break;
	case VALUE_REAL:
		put_number(table, value->real);
		break;
	case VALUE_TEXT:
	case VALUE_BLOB:
		html_cell_text(table, value->text);
	}
}

/* ---- the whole ---- */

static void add_head(const struct html_table *table, struct buf *html)
{
	size_t i;

	buf_addstr(html, "<thead><tr>");
	for (i = 0; i < table->columns; i++) {
		buf_addf(html, "<th scope=\"col\"%s>", table->has_text[i] ? "" : " class=\"n\"");
		html_add_heading(html, table->names[i]);
		buf_addstr(html, "</th>");
	}
	buf_addstr(html, "</tr></thead>\n<tbody>\n");
}

static void add_cell(const struct html_table *table, size_t index, struct buf *html)
{
	const struct cell *cell = &table->cells[index];
	bool is_text = table->has_text[index % table->columns];

	if (cell->kind == KIND_NAME)
		buf_addf(html, "<th scope=\"row\">%s</th>", cell->html);
	else if (cell->kind == KIND_WORDS)
		buf_addf(html, "<td class=\"words\"><div>%s</div></td>", cell->html);
	else
		buf_addf(html, "<td%s>%s</td>", is_text ? "" : " class=\"n\"", cell->html);
}

void html_table_add(const struct html_table *table, const char *label, struct buf *html)
{
	size_t i;

	buf_addstr(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
	html_add_text(html, str_of(label));
	buf_addstr(html, "\">\n<table>\n");
	add_head(table, html);
	for (i = 0; i < table->count; i++) {
		if (i % table->columns == 0)
			buf_addstr(html, "<tr>");
		add_cell(table, i, html);
		if ((i + 1) % table->columns == 0)
			buf_addstr(html, "</tr>\n");
	}
	buf_addstr(html, "</tbody>\n</table>\n</div>\n");
}

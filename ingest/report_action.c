#include "report_action.h"

#include "output.h"
#include "report_sql.h"
#include "util/grid.h"
#include "util/number.h"
#include "util/safe.h"

#include <inttypes.h>
#include <string.h>

/*
 * A section of the page: a query by :digest. Its rows are shown as records,
 * "name  value" a line, or as one table.
 */
struct section {
	const char *name;  /* member of the JSON object */
	const char *title; /* of the page; NULL: none */
	bool is_table;
	const char *statement; /* of ingest/sql */
};

static const struct section sections[] = {
	{"action", NULL, false, "action_names"},
	{"lookups", "asked for", false, "action_lookups"},
	{"attempts", "referred to by", true, "action_attempts"},
	{"in_flight", "in flight", true, "action_in_flight"},
	{"texts", "what the log says of it", false, "action_texts"},
	{"kills", "evidence of a kill for memory", false, "action_kills"},
	{"results", "stored result", false, "action_results"},
};

#define SECTIONS (sizeof(sections) / sizeof(*sections))

static int ask(struct store *store, const struct section *section, const char *digest,
	       store_row_fn *row, void *context, struct err *err)
{
	struct param param = {":digest", {.type = VALUE_TEXT, .text = str_of(digest)}};

	return store_query(store, report_sql(section->statement), &param, 1, row, context, err);
}

/* ---- for people ---- */

struct page {
	const struct section *section;
	struct buf *buf;
	struct grid *grid;
	size_t rows;
};

#define NAME_WIDTH 26

/* A text of several lines stands below its name, each line indented. */
static void add_lines(struct buf *buf, struct str text)
{
	while (text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;

		buf_addstr(buf, "\n    ");
		safe_add(buf, (struct str){text.data, len});
		text.data += len + (end != NULL);
		text.len -= len + (end != NULL);
	}
}

static void add_value(struct buf *buf, const struct value *value)
{
	if (value->type == VALUE_INTEGER)
		buf_addf(buf, "%" PRId64, value->integer);
	else if (value->type == VALUE_REAL)
		number_add_short(buf, value->real);
	else if (memchr(value->text.data, '\n', value->text.len))
		add_lines(buf, value->text);
	else
		safe_add(buf, value->text);
}

static void add_record(struct page *page, const struct row *row)
{
	size_t i;

	if (page->rows > 1)
		buf_addch(page->buf, '\n');
	for (i = 0; i < row->count; i++) {
		if (row->values[i].type == VALUE_NULL)
			continue;
		buf_addf(page->buf, "  %-*s ", NAME_WIDTH, row->names[i]);
		add_value(page->buf, &row->values[i]);
		buf_addch(page->buf, '\n');
	}
}

static int show_row(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;

	(void)err;
	if (!page->rows++ && page->section->title)
		buf_addf(page->buf, "\n%s:\n", page->section->title);
	if (!page->section->is_table) {
		add_record(page, row);
		return 0;
	}
	if (!page->grid)
		page->grid = grid_new(row->names, row->count);
	output_add_cells(row, page->grid);
	return 0;
}

static int show_section(struct store *store, const struct section *section, const char *digest,
			struct buf *buf, struct err *err)
{
	struct page page = {.section = section, .buf = buf};
	int rc = ask(store, section, digest, show_row, &page, err);

	if (page.grid)
		grid_add(page.grid, 2, buf);
	grid_free(page.grid);
	return rc;
}

int report_action_text(struct store *store, const char *digest, struct buf *buf, struct err *err)
{
	size_t i;

	for (i = 0; i < SECTIONS; i++)
		if (show_section(store, &sections[i], digest, buf, err) < 0)
			return -1;
	return 0;
}

/* ---- for programs ---- */

static int add_object(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;

	(void)err;
	buf_addstr(page->buf, page->rows++ ? ", " : "");
	output_add_object(row, page->buf);
	return 0;
}

int report_action_json(struct store *store, const char *digest, struct buf *buf, struct err *err)
{
	size_t i;

	for (i = 0; i < SECTIONS; i++) {
		struct page page = {.section = &sections[i], .buf = buf};

		buf_addf(buf, "%s\"%s\": [", i ? ", " : "{", sections[i].name);
		if (ask(store, &sections[i], digest, add_object, &page, err) < 0)
			return -1;
		buf_addch(buf, ']');
	}
	buf_addch(buf, '}');
	return 0;
}

/*
 * Any name on its way out: to a terminal, HTML, JSON, CSV. Laws: what is written reads back as
 * the name, with what is dangerous spelled out, and nothing in it is obeyed by who reads it.
 */
#include "html_text.h"
#include "util/csv.h"
#include "util/json.h"
#include "util/safe.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct buf *a, const struct buf *b)
{
	return str_equal((struct str){a->data, a->len}, (struct str){b->data, b->len});
}

/* ---- terminal ---- */

static void check_safe(struct str text, struct buf *safe)
{
	safe_add(safe, text);
	assert(safe_is((struct str){safe->data, safe->len}));
	assert(safe_is(text) == str_equal(text, (struct str){safe->data, safe->len}));
}

/* ---- HTML ---- */

/* The character that an entity at `text` stands for; '&' begins no other word. */
static char read_entity(const char *text, size_t *out_len)
{
	static const struct {
		const char *entity;
		char c;
	} known[] = {
		{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
	size_t i;

	for (i = 0; i < 5; i++)
		if (strncmp(text, known[i].entity, strlen(known[i].entity)) == 0) {
			*out_len = strlen(known[i].entity);
			return known[i].c;
		}
	abort();
}

static void check_html(struct str text, const struct buf *safe)
{
	struct buf html = BUF_INIT, back = BUF_INIT;
	size_t at, len;

	html_add_text(&html, text);
	buf_addch(&html, '\0'); /* the entities are compared as strings */
	for (at = 0; at < html.len - 1; at += len) {
		char c = html.data[at];

		assert(!strchr("<>\"'", c));
		len = 1;
		buf_addch(&back, c == '&' ? read_entity(html.data + at, &len) : c);
	}
	assert(same(&back, safe));
	buf_release(&html);
	buf_release(&back);
}

/* ---- JSON ---- */

static void check_json(struct str text)
{
	struct buf json = BUF_INIT;
	json_t *value;

	json_add_text(&json, text);
	assert(safe_is((struct str){json.data, json.len}));
	value = json_loadb(json.data, json.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert(json_is_string(value));
	if (safe_is(text))
		assert(str_equal(
			text, (struct str){json_string_value(value), json_string_length(value)}));
	json_decref(value);
	buf_release(&json);
}

/* ---- CSV ---- */

/* Reads a field as RFC 4180 has it, up to the comma or line break that ends it. */
static size_t read_field(struct str row, char comma, struct buf *out)
{
	bool quoted = row.len && row.data[0] == '"';
	size_t at = quoted;

	for (;; at++) {
		assert(at < row.len); /* a row ends in a line break */
		if (quoted ? row.data[at] == '"' : row.data[at] == comma || row.data[at] == '\r')
			if (!quoted || row.data[++at] != '"')
				return at;
		assert(quoted || (row.data[at] != '"' && row.data[at] != '\n'));
		buf_addch(out, row.data[at]);
	}
}

/* The name as the second of three fields. */
static void read_name(struct str text, enum csv_dialect dialect, struct buf *out)
{
	char comma = dialect == CSV_SPREADSHEET_COMMA ? ';' : ',';
	struct buf file = BUF_INIT, around = BUF_INIT;
	struct csv csv;
	size_t at;

	csv_init(&csv, &file, dialect);
	at = file.len;
	csv_text(&csv, STR("x"));
	csv_text(&csv, text);
	csv_text(&csv, STR("y"));
	csv_end_row(&csv);
	assert(file.data[at] == 'x' && file.data[at + 1] == comma);
	at += 2;
	at += read_field((struct str){file.data + at, file.len - at}, comma, out);
	assert(file.len - at == 4 && file.data[at] == comma);
	assert(memcmp(file.data + at + 1, "y\r\n", 3) == 0);
	buf_release(&file);
	buf_release(&around);
}

/* A spreadsheet sees no formula, and gets the text that a program gets. */
static void check_spreadsheet(struct str text, enum csv_dialect dialect, const struct buf *plain)
{
	struct buf field = BUF_INIT;
	bool marked;

	read_name(text, dialect, &field);
	marked = field.len && field.data[0] == '\'';
	assert(!field.len || !strchr("=+-@\t\r", field.data[0]) || !field.data[0]);
	assert(str_equal((struct str){plain->data, plain->len},
			 (struct str){field.data + marked, field.len - marked}));
	buf_release(&field);
}

static void check_csv(struct str text)
{
	struct buf plain = BUF_INIT;

	read_name(text, CSV_PLAIN, &plain);
	if (safe_is(text))
		assert(str_equal(text, (struct str){plain.data, plain.len}));
	check_spreadsheet(text, CSV_SPREADSHEET, &plain);
	check_spreadsheet(text, CSV_SPREADSHEET_COMMA, &plain);
	buf_release(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {size ? (const char *)data : "", size};
	struct buf safe = BUF_INIT;

	check_safe(text, &safe);
	check_html(text, &safe);
	check_json(text);
	check_csv(text);
	buf_release(&safe);
	return 0;
}

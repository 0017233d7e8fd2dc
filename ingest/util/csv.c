#include "util/csv.h"

#include "util/number.h"
#include "util/safe.h"
#include "util/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

void csv_init(struct csv *csv, struct buf *buf, enum csv_dialect dialect)
{
	csv->buf = buf;
	csv->dialect = dialect;
	csv->column = 0;
	if (dialect != CSV_PLAIN)
		buf_addstr(buf, "\xef\xbb\xbf");
}

static void next_field(struct csv *csv)
{
	if (csv->column++)
		buf_addch(csv->buf, csv->dialect == CSV_SPREADSHEET_COMMA ? ';' : ',');
}

/* ---- what a spreadsheet makes of a text ---- */

static bool needs_quotes(struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (strchr(",;\t\"\r\n", text.data[i]) && text.data[i])
			return true;
	return text.len == 0;
}

static bool is_formula(struct str text)
{
	return text.len && text.data[0] && strchr("=+-@\t\r", text.data[0]);
}

static size_t word_length(struct str text)
{
	size_t len = 0;

	while (len < text.len && isalpha((unsigned char)text.data[len]))
		len++;
	return len;
}

/* "Mar", "sept": three letters or more of a month. */
static bool is_month(struct str word)
{
	static const char *const months[] = {"january",	  "february", "march",	  "april",
					     "may",	  "june",     "july",	  "august",
					     "september", "october",  "november", "december"};
	size_t i;

	for (i = 0; i < sizeof(months) / sizeof(months[0]); i++)
		if (word.len >= 3 && word.len <= strlen(months[i]) &&
		    strncasecmp(word.data, months[i], word.len) == 0)
			return true;
	return false;
}

static bool is_word(struct str text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

/* A word that may follow the first digits of a number, a date or a time. */
static bool is_number_word(struct str word)
{
	static const char *const words[] = {"e", "t", "z", "a", "p", "am", "pm"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(word, words[i]))
			return true;
	return false;
}

/*
 * Digits, and nothing that no number, date or time has in some language. Bytes
 * beyond ASCII prove nothing: they may be a currency or a space between thousands.
 */
static bool is_number_like(struct str text)
{
	bool has_digit = false;
	size_t i = 0;

	while (i < text.len) {
		unsigned char c = (unsigned char)text.data[i];
		struct str rest = {text.data + i, text.len - i};
		struct str word = {rest.data, word_length(rest)};

		if (word.len && !is_month(word) && !(has_digit && is_number_word(word)))
			return false;
		if (!word.len && !isdigit(c) && c < 0x80 && !(c && strchr(" .,:/-+%$()'", c)))
			return false;
		has_digit |= isdigit(c) != 0;
		i += word.len ? word.len : 1;
	}
	return has_digit;
}

static bool is_taken(struct str text)
{
	return is_formula(text) || is_number_like(text) || is_word(text, "true") ||
	       is_word(text, "false");
}

static bool needs_apostrophe(struct str text)
{
	return (text.len && text.data[0] == '\'') || is_taken(text);
}

/* ---- fields ---- */

static void add_clean(struct buf *buf, struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		uint32_t code;
		size_t size = utf8_read(text.data + at, text.len - at, &code);

		if (size == 0 || code == 0)
			buf_addstr(buf, "\xef\xbf\xbd");
		else if (safe_is_dangerous(code) && code != '\t' && code != '\r' && code != '\n')
			safe_add(buf, (struct str){text.data + at, size});
		else
			buf_add(buf, text.data + at, size);
		if (size == 1 && text.data[at] == '"')
			buf_addch(buf, '"');
		at += size ? size : 1;
	}
}

void csv_text(struct csv *csv, struct str text)
{
	bool plain = csv->dialect == CSV_PLAIN, quoted;

	next_field(csv);
	if (!text.data)
		return;
	quoted = needs_quotes(text) || (plain && is_taken(text));
	if (quoted)
		buf_addch(csv->buf, '"');
	if (!plain && needs_apostrophe(text))
		buf_addch(csv->buf, '\'');
	add_clean(csv->buf, text);
	if (quoted)
		buf_addch(csv->buf, '"');
}

void csv_time(struct csv *csv, struct str text)
{
	size_t start;

	next_field(csv);
	start = csv->buf->len;
	buf_add(csv->buf, text.data, text.len);
	if (csv->dialect != CSV_PLAIN)
		csv->buf->data[start + strlen("YYYY-MM-DD")] = 'T';
}

void csv_integer(struct csv *csv, int64_t number)
{
	next_field(csv);
	buf_addf(csv->buf, "%" PRId64, number);
}

void csv_real(struct csv *csv, double number)
{
	struct buf text = BUF_INIT;
	char *point;

	next_field(csv);
	number_add_real(&text, number);
	point = text.len ? strchr(text.data, '.') : NULL;
	if (point && csv->dialect == CSV_SPREADSHEET_COMMA) {
		/* In quotes: LibreOffice, unasked, divides fields by commas as well. */
		*point = ',';
		buf_addf(csv->buf, "\"%s\"", text.data);
	} else {
		buf_add(csv->buf, text.data, text.len);
	}
	buf_release(&text);
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

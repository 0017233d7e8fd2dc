#include "html_text.h"

#include "util/safe.h"
#include "util/utf8.h"

#include <stdint.h>

static void add_entities(struct buf *html, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		switch (text[i]) {
		case '&':
			buf_addstr(html, "&amp;");
			break;
		case '<':
			buf_addstr(html, "&lt;");
			break;
		case '>':
			buf_addstr(html, "&gt;");
			break;
		case '"':
			buf_addstr(html, "&quot;");
			break;
		case '\'':
			buf_addstr(html, "&#39;");
			break;
		default:
			buf_addch(html, text[i]);
		}
	}
}

void html_add_text(struct buf *html, struct str text)
{
	struct buf safe = BUF_INIT;

	safe_add(&safe, text);
	add_entities(html, safe.data, safe.len);
	buf_release(&safe);
}

void html_add_name(struct buf *html, struct str text)
{
	buf_addstr(html, "<bdi>");
	html_add_text(html, text);
	buf_addstr(html, "</bdi>");
}

/* Bytes of the first `max` characters. */
static size_t length_of(const struct buf *text, size_t max)
{
	size_t at = 0;

	while (at < text->len && max--) {
		uint32_t code;
		size_t size = utf8_read(text->data + at, text->len - at, &code);

		at += size ? size : 1;
	}
	return at;
}

void html_add_short(struct buf *html, struct str text, size_t max)
{
	struct buf safe = BUF_INIT;
	size_t len;

	safe_add(&safe, text);
	len = length_of(&safe, max);
	if (len < safe.len)
		len = length_of(&safe, max - 1);
	add_entities(html, safe.data, len);
	if (len < safe.len)
		buf_addstr(html, "…");
	buf_release(&safe);
}

/* ---- headings ---- */

static const struct {
	const char *ending, *shown;
} units[] = {
	{"_gib_h", ", GiB h"}, {"_core_h", ", core h"}, {"_gib", ", GiB"}, {"_pct", ", %"},
	{"_s", ", s"},	       {"_h", ", h"},		{"_utc", ", UTC"},
};

/* The place in `units` that ends `column`; its end where none does. */
static size_t unit_of(struct str column)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].ending);

		if (column.len > len &&
		    memcmp(column.data + column.len - len, units[i].ending, len) == 0)
			break;
	}
	return i;
}

/* Words that people spell otherwise. */
static const char *const spelled[][2] = {
	{"gib", "GiB"}, {"rss", "RSS"}, {"cpu", "CPU"}, {"oom", "OOM"}, {"pct", "%"},
};

static void add_word(struct buf *html, struct str word)
{
	size_t i;

	for (i = 0; i < sizeof(spelled) / sizeof(*spelled); i++)
		if (str_is(word, spelled[i][0])) {
			buf_addstr(html, spelled[i][1]);
			return;
		}
	add_entities(html, word.data, word.len);
}

void html_add_heading(struct buf *html, const char *column)
{
	struct str rest = str_of(column);
	size_t unit = unit_of(rest);
	bool known = unit < sizeof(units) / sizeof(*units);

	if (known)
		rest.len -= strlen(units[unit].ending);
	while (rest.len) {
		const char *end = memchr(rest.data, '_', rest.len);
		size_t len = end ? (size_t)(end - rest.data) : rest.len;

		add_word(html, (struct str){rest.data, len});
		if (end)
			buf_addch(html, ' ');
		rest = (struct str){rest.data + len + (end != NULL),
				    rest.len - len - (end != NULL)};
	}
	if (known)
		buf_addstr(html, units[unit].shown);
}

/* ---- numbers ---- */

void html_add_seconds(struct buf *html, double seconds)
{
	if (seconds < 1)
		buf_addf(html, "%.3g ms", seconds * 1000);
	else
		buf_addf(html, seconds < 100 ? "%.3g s" : "%.0f s", seconds);
}

#define MIB 1048576.0

void html_add_bytes(struct buf *html, double bytes)
{
	if (bytes < 1024 * MIB)
		buf_addf(html, "%.4g MiB", bytes / MIB);
	else
		buf_addf(html, "%.3g GiB", bytes / MIB / 1024);
}

void html_add_count(struct buf *html, unsigned long long count)
{
	if (count >= 1000) {
		html_add_count(html, count / 1000);
		buf_addf(html, ",%03llu", count % 1000);
	} else {
		buf_addf(html, "%llu", count);
	}
}

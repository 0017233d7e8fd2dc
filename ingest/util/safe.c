#include "util/safe.h"

#include "util/utf8.h"

#include <string.h>

/* U+061C, U+200E/F, U+202A-E, U+2066-9: direction marks and overrides reorder a line on screen. */
bool safe_is_dangerous(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static void add_escape(struct buf *buf, uint32_t code)
{
	if (code == '\n')
		buf_addstr(buf, "\\n");
	else if (code == '\t')
		buf_addstr(buf, "\\t");
	else if (code < 0x80)
		buf_addf(buf, "\\x%02x", (unsigned)code);
	else
		buf_addf(buf, "\\u%04x", (unsigned)code);
}

void safe_add(struct buf *buf, struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		uint32_t code;
		size_t size = utf8_read(text.data + at, text.len - at, &code);

		if (size == 0)
			buf_addf(buf, "\\x%02x", (unsigned)(unsigned char)text.data[at]);
		else if (safe_is_dangerous(code))
			add_escape(buf, code);
		else
			buf_add(buf, text.data + at, size);
		at += size ? size : 1;
	}
}

bool safe_is(struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		uint32_t code;
		size_t size = utf8_read(text.data + at, text.len - at, &code);

		if (size == 0 || safe_is_dangerous(code))
			return false;
		at += size;
	}
	return true;
}

int safe_print(FILE *out, struct str page)
{
	struct buf safe = BUF_INIT;
	int rc;

	while (page.len) {
		const char *end = memchr(page.data, '\n', page.len);
		size_t len = end ? (size_t)(end - page.data) : page.len;

		safe_add(&safe, (struct str){page.data, len});
		if (end)
			buf_addch(&safe, '\n');
		page = (struct str){page.data + len + (end != NULL),
				    page.len - len - (end != NULL)};
	}
	rc = fwrite(safe.data, 1, safe.len, out) == safe.len ? 0 : -1;
	buf_release(&safe);
	return rc;
}

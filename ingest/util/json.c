#include "util/json.h"

#include "util/number.h"
#include "util/safe.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <math.h>

#define EXACT_IN_DOUBLE (INT64_C(1) << 53)

static void add_ascii(struct buf *buf, char c)
{
	switch (c) {
	case '"':
	case '\\':
		buf_addch(buf, '\\');
		buf_addch(buf, c);
		break;
	case '\n':
		buf_addstr(buf, "\\n");
		break;
	case '\r':
		buf_addstr(buf, "\\r");
		break;
	case '\t':
		buf_addstr(buf, "\\t");
		break;
	default:
		if ((unsigned char)c < 0x20 || c == 0x7f)
			buf_addf(buf, "\\u%04x", (unsigned)(unsigned char)c);
		else
			buf_addch(buf, c);
	}
}

void json_add_text(struct buf *buf, struct str text)
{
	size_t at = 0;

	if (!text.data) {
		buf_addstr(buf, "null");
		return;
	}
	buf_addch(buf, '"');
	while (at < text.len) {
		uint32_t code;
		size_t size = utf8_read(text.data + at, text.len - at, &code);

		if (size == 1)
			add_ascii(buf, text.data[at]);
		else if (size == 0)
			buf_addstr(buf, "\xef\xbf\xbd");
		else if (safe_is_dangerous(code))
			/* Valid JSON, but a terminal obeys them. */
			buf_addf(buf, "\\u%04x", (unsigned)code);
		else
			buf_add(buf, text.data + at, size);
		at += size ? size : 1;
	}
	buf_addch(buf, '"');
}

void json_add_integer(struct buf *buf, int64_t number)
{
	if (number > EXACT_IN_DOUBLE || number < -EXACT_IN_DOUBLE)
		buf_addf(buf, "\"%" PRId64 "\"", number);
	else
		buf_addf(buf, "%" PRId64, number);
}

void json_add_real(struct buf *buf, double number)
{
	if (isfinite(number))
		number_add_real(buf, number);
	else
		buf_addstr(buf, "null");
}

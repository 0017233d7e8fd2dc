#include "util/json_scan.h"

#include <endian.h>
#include <string.h>

/* serde_json, which writes Buck2's logs, reads back 128 and no deeper. */
#define DEPTH_MAX 500

static char peek(struct json_scan *scan)
{
	while (scan->at < scan->end && (unsigned char)*scan->at <= ' ')
		scan->at++;
	return scan->at < scan->end ? *scan->at : '\0';
}

static bool take(struct json_scan *scan, char c)
{
	if (peek(scan) != c || scan->at == scan->end)
		return false;
	scan->at++;
	return true;
}

enum json_kind json_scan_kind(struct json_scan *scan)
{
	switch (peek(scan)) {
	case '{':
		return JSON_KIND_OBJECT;
	case '[':
		return JSON_KIND_ARRAY;
	case '"':
		return JSON_KIND_STRING;
	case 't':
	case 'f':
		return JSON_KIND_BOOL;
	case 'n':
		return JSON_KIND_NULL;
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return JSON_KIND_NUMBER;
	default:
		return JSON_KIND_NONE;
	}
}

/* ---- strings ---- */

/* In each byte that is `c`, the highest bit; right for the first such byte, which is all we ask. */
static uint64_t bytes_that_are(uint64_t bytes, unsigned char c)
{
	uint64_t other = bytes ^ (0x0101010101010101 * c);

	return (other - 0x0101010101010101) & ~other & 0x8080808080808080;
}

/* The first quote or backslash from `at` on; `end` if there is none. */
static const char *find_special(const char *at, const char *end)
{
	for (; end - at >= 8; at += 8) {
		uint64_t bytes, found;

		memcpy(&bytes, at, 8);
		bytes = le64toh(bytes);
		found = bytes_that_are(bytes, '"') | bytes_that_are(bytes, '\\');
		if (found)
			return at + __builtin_ctzll(found) / 8;
	}
	while (at < end && *at != '"' && *at != '\\')
		at++;
	return at;
}

bool json_scan_string(struct json_scan *scan, struct str *out_raw)
{
	const char *start, *at;

	if (!take(scan, '"'))
		return false;
	start = scan->at;
	for (at = find_special(start, scan->end); at < scan->end && *at == '\\';) {
		if (scan->end - at < 2)
			return false;
		at = find_special(at + 2, scan->end);
	}
	if (at == scan->end)
		return false;
	*out_raw = (struct str){start, (size_t)(at - start)};
	scan->at = at + 1;
	return true;
}

bool json_is_escaped(struct str raw)
{
	return raw.len && memchr(raw.data, '\\', raw.len);
}

/* Four hex digits. */
static bool take_unit(struct json_scan *scan, uint32_t *out_unit)
{
	uint32_t unit = 0;
	int i;

	if (scan->end - scan->at < 4)
		return false;
	for (i = 0; i < 4; i++) {
		char c = *scan->at++;

		if (c >= '0' && c <= '9')
			unit = unit << 4 | (uint32_t)(c - '0');
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			unit = unit << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	*out_unit = unit;
	return true;
}

/* Behind "\u": a character, or two halves of one (RFC 8259 §7). */
static bool take_code(struct json_scan *scan, uint32_t *out_code)
{
	uint32_t low;

	if (!take_unit(scan, out_code))
		return false;
	if (*out_code < 0xd800 || *out_code > 0xdfff)
		return true;
	if (*out_code > 0xdbff || scan->end - scan->at < 2 || memcmp(scan->at, "\\u", 2) != 0)
		return false;
	scan->at += 2;
	if (!take_unit(scan, &low) || low < 0xdc00 || low > 0xdfff)
		return false;
	*out_code = 0x10000 + ((*out_code - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

static char *put_utf8(char *out, uint32_t code)
{
	if (code < 0x80) {
		*out++ = (char)code;
		return out;
	}
	if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*out++ = (char)(0xe0 | code >> 12);
		} else {
			*out++ = (char)(0xf0 | code >> 18);
			*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*out++ = (char)(0x80 | (code & 0x3f));
	return out;
}

/* Behind a backslash. */
static bool take_escape(struct json_scan *scan, char **out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *known;
	uint32_t code;
	char c;

	if (scan->at == scan->end)
		return false;
	c = *scan->at++;
	if (c == 'u') {
		if (!take_code(scan, &code))
			return false;
		*out = put_utf8(*out, code);
		return true;
	}
	known = memchr(names, c, sizeof(names) - 1);
	if (!known)
		return false;
	*(*out)++ = values[known - names];
	return true;
}

ptrdiff_t json_unescape(struct str raw, char *out)
{
	struct json_scan scan = {raw.data, raw.data + raw.len};
	char *start = out;

	while (scan.at < scan.end) {
		const char *special = memchr(scan.at, '\\', (size_t)(scan.end - scan.at));
		size_t plain = (size_t)((special ? special : scan.end) - scan.at);

		memcpy(out, scan.at, plain);
		out += plain;
		scan.at += plain;
		if (!special)
			break;
		scan.at++;
		if (!take_escape(&scan, &out))
			return -1;
	}
	return out - start;
}

/* ---- other values ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What follows the digits of a number that is not written as a whole one. */
static const char *pass_fraction(const char *at, const char *end)
{
	static const char signs[] = {'.', 'e', 'E', '+', '-'}; /* the first three begin it */

	if (at < end && memchr(signs, *at, 3))
		while (at < end && (is_digit(*at) || memchr(signs, *at, sizeof(signs))))
			at++;
	return at;
}

bool json_scan_number(struct json_scan *scan, struct json_number *out_number)
{
	bool negative = take(scan, '-'), fits = true;
	const char *at = scan->at;
	uint64_t value = 0;

	if (at == scan->end || !is_digit(*at))
		return false;
	for (; at < scan->end && is_digit(*at); at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			fits = false;
	scan->at = pass_fraction(at, scan->end);
	*out_number = (struct json_number){JSON_NUMBER_OTHER, 0};
	if (!fits || scan->at > at || (negative && value > (uint64_t)INT64_MAX + 1))
		return true;
	out_number->kind =
		negative || value <= INT64_MAX ? JSON_NUMBER_SIGNED : JSON_NUMBER_UNSIGNED;
	out_number->value = (int64_t)(negative ? 0 - value : value);
	return true;
}

static bool take_word(struct json_scan *scan, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
		return false;
	scan->at += len;
	return true;
}

bool json_scan_bool(struct json_scan *scan, bool *out_value)
{
	*out_value = peek(scan) == 't';
	return take_word(scan, *out_value ? "true" : "false");
}

/* Numbers and words end where something of JSON's own begins. */
static bool skip_word(struct json_scan *scan)
{
	static const char ends[] = {',', ']', '}', ' ', '\t', '\r', '\n'};
	const char *start = scan->at;

	while (scan->at < scan->end && !memchr(ends, *scan->at, sizeof(ends)))
		scan->at++;
	return scan->at > start;
}

/* The scan is behind a bracket. */
static bool skip_nested(struct json_scan *scan)
{
	unsigned int depth = 1;
	struct str text;

	while (depth && scan->at < scan->end) {
		switch (*scan->at) {
		case '"':
			if (!json_scan_string(scan, &text))
				return false;
			continue;
		case '{':
		case '[':
			if (++depth > DEPTH_MAX)
				return false;
			break;
		case '}':
		case ']':
			depth--;
			break;
		default:
			break;
		}
		scan->at++;
	}
	return depth == 0;
}

bool json_scan_skip(struct json_scan *scan)
{
	struct str text;

	switch (json_scan_kind(scan)) {
	case JSON_KIND_OBJECT:
	case JSON_KIND_ARRAY:
		scan->at++;
		return skip_nested(scan);
	case JSON_KIND_STRING:
		return json_scan_string(scan, &text);
	case JSON_KIND_NUMBER:
	case JSON_KIND_BOOL:
	case JSON_KIND_NULL:
		return skip_word(scan);
	case JSON_KIND_NONE:
		break;
	}
	return false;
}

bool json_scan_ended(struct json_scan *scan)
{
	peek(scan);
	return scan->at == scan->end;
}

/* ---- objects and arrays ---- */

/* Before the next of what stands between brackets. 1; 0: closed; -1. */
static int next_of(struct json_scan *scan, bool *first, const char brackets[2])
{
	if (*first && !take(scan, brackets[0]))
		return -1;
	if (take(scan, brackets[1]))
		return 0;
	if (!*first && !take(scan, ','))
		return -1;
	*first = false;
	return 1;
}

int json_scan_member(struct json_scan *scan, bool *first, struct str *out_name)
{
	int rc = next_of(scan, first, "{}");

	if (rc <= 0)
		return rc;
	return json_scan_string(scan, out_name) && take(scan, ':') ? 1 : -1;
}

int json_scan_element(struct json_scan *scan, bool *first)
{
	return next_of(scan, first, "[]");
}

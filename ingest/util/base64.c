#include "util/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes, of which the last ones may be missing, as four characters. */
static void encode_group(const uint8_t *bytes, size_t count, char out[4])
{
	uint32_t bits = (uint32_t)bytes[0] << 16;

	if (count > 1)
		bits |= (uint32_t)bytes[1] << 8;
	if (count > 2)
		bits |= bytes[2];
	out[0] = alphabet[bits >> 18];
	out[1] = alphabet[bits >> 12 & 63];
	out[2] = count > 1 ? alphabet[bits >> 6 & 63] : '=';
	out[3] = count > 2 ? alphabet[bits & 63] : '=';
}

void base64_encode(const void *data, size_t len, struct buf *out)
{
	const uint8_t *at = data;
	char *text = buf_reserve(out, (len / 3 + 1) * 4);
	char *end = text;

	for (; len; end += 4) {
		size_t count = len < 3 ? len : 3;

		encode_group(at, count, end);
		at += count;
		len -= count;
	}
	buf_grew(out, (size_t)(end - text));
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four characters, of which `pad` are padding, as three bytes, of which as many are not meant. */
static int decode_group(const char *text, size_t pad, char out[3])
{
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < 4; i++) {
		int value = i < 4 - pad ? value_of(text[i]) : 0;

		if (value < 0)
			return -1;
		bits = bits << 6 | (uint32_t)value;
	}
	if (bits & ((UINT32_C(1) << 8 * pad) - 1))
		return -1;
	out[0] = (char)(bits >> 16);
	out[1] = (char)(bits >> 8);
	out[2] = (char)bits;
	return 0;
}

static size_t padding(const char *text, size_t len)
{
	if (len < 4 || text[len - 1] != '=')
		return 0;
	return text[len - 2] == '=' ? 2 : 1;
}

int base64_decode(const char *text, size_t len, struct buf *out)
{
	size_t pad = padding(text, len), at;
	char *bytes;

	if (len % 4)
		return -1;
	bytes = buf_reserve(out, len / 4 * 3);
	for (at = 0; at < len; at += 4)
		if (decode_group(text + at, at + 4 == len ? pad : 0, bytes + at / 4 * 3) < 0)
			return -1;
	buf_grew(out, len / 4 * 3 - pad);
	return 0;
}

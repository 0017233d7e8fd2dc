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

	while (len) {
		size_t count = len < 3 ? len : 3;

		encode_group(at, count, buf_reserve(out, 4));
		buf_grew(out, 4);
		at += count;
		len -= count;
	}
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

/* Four characters, of which `pad` are padding, as 3 - pad bytes. */
static int decode_group(const char *text, size_t pad, struct buf *out)
{
	uint32_t bits = 0;
	uint8_t bytes[3];
	size_t i;

	for (i = 0; i < 4; i++) {
		int value = i < 4 - pad ? value_of(text[i]) : 0;

		if (value < 0)
			return -1;
		bits = bits << 6 | (uint32_t)value;
	}
	if (bits & ((UINT32_C(1) << 8 * pad) - 1))
		return -1;
	bytes[0] = (uint8_t)(bits >> 16);
	bytes[1] = (uint8_t)(bits >> 8);
	bytes[2] = (uint8_t)bits;
	buf_add(out, bytes, 3 - pad);
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

	if (len % 4)
		return -1;
	for (at = 0; at < len; at += 4)
		if (decode_group(text + at, at + 4 == len ? pad : 0, out) < 0)
			return -1;
	return 0;
}

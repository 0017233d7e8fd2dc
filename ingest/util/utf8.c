#include "util/utf8.h"

/* Length of the character that `lead` begins and its payload bits; 0: none. */
static size_t lead_length(unsigned char lead, uint32_t *out_bits)
{
	if (lead < 0x80) {
		*out_bits = lead;
		return 1;
	}
	if (lead >= 0xc2 && lead <= 0xdf) {
		*out_bits = lead & 0x1fu;
		return 2;
	}
	if ((lead & 0xf0) == 0xe0) {
		*out_bits = lead & 0x0fu;
		return 3;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		*out_bits = lead & 0x07u;
		return 4;
	}
	return 0;
}

size_t utf8_read(const char *text, size_t len, uint32_t *out_code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	size_t size = lead_length((unsigned char)text[0], &code);
	size_t i;

	if (size == 0 || size > len)
		return 0;
	for (i = 1; i < size; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (next & 0x3fu);
	}
	if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*out_code = code;
	return size;
}

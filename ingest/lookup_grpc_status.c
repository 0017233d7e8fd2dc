#include "lookup_grpc_status.h"

#include "lookup_reply.h"

/* grpc doc/http-grpc-status-mapping.md */
int status_of_http(int http_status)
{
	switch (http_status) {
	case 400:
	case 431:
		return CODE_INTERNAL;
	case 401:
		return CODE_UNAUTHENTICATED;
	case 403:
		return CODE_PERMISSION_DENIED;
	case 404:
		return CODE_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return CODE_UNAVAILABLE;
	default:
		return CODE_UNKNOWN;
	}
}

/* grpc doc/PROTOCOL-HTTP2.md, "Errors"; the numbers are RFC 9113's. */
int status_of_reset(uint32_t error)
{
	switch (error) {
	case 0x7: /* REFUSED_STREAM: nothing was done */
		return CODE_UNAVAILABLE;
	case 0x8: /* CANCEL */
		return CODE_CANCELLED;
	case 0xb: /* ENHANCE_YOUR_CALM */
		return CODE_RESOURCE_EXHAUSTED;
	case 0xc: /* INADEQUATE_SECURITY */
		return CODE_PERMISSION_DENIED;
	default:
		return CODE_INTERNAL;
	}
}

int status_parse(struct str value)
{
	int code = 0;
	size_t i;

	if (!value.len || value.len > 4)
		return -1;
	for (i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return -1;
		code = 10 * code + (value.data[i] - '0');
	}
	return code;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The byte of "%41" at the text's start; -1: none stands there. */
static int escaped_byte(struct str text)
{
	int high, low;

	if (text.len < 3 || text.data[0] != '%')
		return -1;
	high = hex_digit(text.data[1]);
	low = hex_digit(text.data[2]);
	return high < 0 || low < 0 ? -1 : 16 * high + low;
}

/* A broken escape stays as it is, and a NUL too: the text must go on behind it. */
void status_message(struct str value, struct buf *out)
{
	while (value.len) {
		int byte = escaped_byte(value);
		size_t used = byte > 0 ? 3 : 1;

		buf_addch(out, byte > 0 ? (char)byte : value.data[0]);
		value = (struct str){value.data + used, value.len - used};
	}
}

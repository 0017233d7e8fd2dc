/*
 * Any bytes as one record; the first byte chooses the format. What the first
 * step drops by any head must be nothing that the second step gives.
 */
#include "decode.h"

#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_dropped(const struct decoder *decoder, const uint8_t *data, size_t size)
{
	return decode_wants(decoder, data, size < 64 ? size : 64, size) == DECODE_SKIP ||
	       decode_wants(decoder, data, size, size) == DECODE_SKIP;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoder *decoder;
	struct err err = ERR_INIT;
	struct event *event;

	if (!size)
		return 0;
	decoder = decoder_new(data[0] & 1 ? DECODE_JSON : DECODE_PROTOBUF);
	if (decode_record(decoder, data + 1, size - 1, &event, &err) > 0 &&
	    is_dropped(decoder, data + 1, size - 1))
		abort();
	decoder_free(decoder);
	return 0;
}

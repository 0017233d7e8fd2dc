#include "decode.h"

#include "decode_internal.h"
#include "decode_rules.h"
#include "util/mem.h"

#include <stdlib.h>

/*
 * For the arrays of one record. A build of a thousand -c values needs 100 KB;
 * the largest record could name some millions of attempts.
 */
#define ARENA_MAX ((size_t)16 << 20)

struct decoder {
	enum decode_format format;
	struct arena arena;
	struct event event;
	struct json_line *line; /* NULL for protobuf */
};

struct decoder *decoder_new(enum decode_format format)
{
	struct decoder *decoder = xcalloc(1, sizeof(*decoder));

	decoder->format = format;
	arena_init(&decoder->arena, ARENA_MAX);
	if (format == DECODE_JSON)
		decoder->line = json_line_new();
	return decoder;
}

void decoder_free(struct decoder *decoder)
{
	if (!decoder)
		return;
	json_line_free(decoder->line);
	arena_release(&decoder->arena);
	free(decoder);
}

enum decode_want decode_wants(const struct decoder *decoder, const uint8_t *head, size_t head_len,
			      uint64_t size)
{
	if (decoder->format == DECODE_JSON)
		return json_wants(decoder->line, head, head_len);
	return pb_wants(head, head_len, size);
}

int decode_record(struct decoder *decoder, const uint8_t *data, size_t len,
		  struct event **out_event, struct err *err)
{
	struct shape_sink sink = {.event = &decoder->event, .arena = &decoder->arena};
	int rc;

	arena_reset(&decoder->arena);
	rules_begin(&sink);
	rc = decoder->line ? json_read(decoder->line, &sink, data, len, err)
			   : pb_read(&sink, data, len, err);
	if (rc < 0)
		return -1;
	rules_finish(&sink);
	if (decoder->event.kind == EVENT_NONE)
		return 0;
	*out_event = &decoder->event;
	return 1;
}

#include "decode.h"

#include "decode_internal.h"
#include "decode_rules.h"
#include "util/mem.h"

#include <stdlib.h>

/*
 * For the arrays of one record. A build of a thousand -c values needs 100 KB, a path of
 * ten thousand steps 9 MB; the largest record could name some millions.
 */
#define ARENA_MAX ((size_t)16 << 20)

/* Where a line has not said by then what it is, it is read. */
#define JSON_HEAD_MAX ((size_t)4096)

struct decoder {
	enum decode_format format;
	struct arena arena;
	struct event event;
	struct shape_sink sink; /* over the two above */
	struct json_line *line; /* NULL for protobuf */
	struct pb_event found;	/* in the record at hand; protobuf */
};

struct decoder *decoder_new(enum decode_format format)
{
	struct decoder *decoder = xcalloc(1, sizeof(*decoder));

	decoder->format = format;
	arena_init(&decoder->arena, ARENA_MAX);
	decoder->sink.event = &decoder->event;
	decoder->sink.arena = &decoder->arena;
	decoder->sink.used = RULES_USED_ALL;
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

void decoder_let_go(struct decoder *decoder)
{
	arena_reset(&decoder->arena);
}

bool decode_finds(struct decoder *decoder, const uint8_t *data, size_t len)
{
	if (!decoder->line)
		return pb_find(data, len, &decoder->found) == DECODE_WANT;
	return json_wants(decoder->line, data, len < JSON_HEAD_MAX ? len : JSON_HEAD_MAX) ==
	       DECODE_WANT;
}

int decode_found(struct decoder *decoder, const uint8_t *data, size_t len, struct event **out_event,
		 struct err *err)
{
	struct shape_sink *sink = &decoder->sink;
	int rc;

	arena_reset(&decoder->arena);
	rules_begin(sink);
	rc = decoder->line ? json_read(decoder->line, sink, data, len, err)
			   : pb_read(sink, &decoder->found, data, len, err);
	if (rc < 0)
		return -1;
	rules_finish(sink);
	*out_event = &decoder->event;
	return decoder->event.kind != EVENT_NONE;
}

int decode_record(struct decoder *decoder, const uint8_t *data, size_t len,
		  struct event **out_event, struct err *err)
{
	if (!decode_finds(decoder, data, len))
		return 0;
	return decode_found(decoder, data, len, out_event, err);
}

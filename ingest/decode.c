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
	struct pb_leads leads;	/* for protobuf */
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
	else
		pb_leads(&decoder->leads);
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

uint32_t decode_glance(struct decoder *decoder, const uint8_t *data, size_t len)
{
	if (!decoder->line)
		return pb_glance(&decoder->leads, data, len);
	return json_wants(decoder->line, data, len < JSON_HEAD_MAX ? len : JSON_HEAD_MAX) ==
	       DECODE_WANT;
}

static int give(struct decoder *decoder, const uint8_t *data, size_t len, struct event **out_event)
{
	struct event *event = &decoder->event;

	event->record = (struct str){(const char *)data, len};
	event->is_json = decoder->line != NULL;
	*out_event = event;
	return 1;
}

static int decode_whole(struct decoder *decoder, const uint8_t *data, size_t len, uint32_t glance,
			struct event **out_event, struct err *err)
{
	struct shape_sink *sink = &decoder->sink;
	int rc;

	arena_reset(&decoder->arena);
	rules_begin(sink);
	rc = decoder->line ? json_read(decoder->line, sink, data, len, err)
			   : pb_read(sink, glance, data, len, err);
	if (rc < 0)
		return -1;
	rules_finish(sink);
	return sink->event->kind == EVENT_NONE ? 0 : give(decoder, data, len, out_event);
}

int decode_glanced(struct decoder *decoder, const uint8_t *data, size_t len, uint32_t glance,
		   struct event **out_event, struct err *err)
{
	if (!decoder->line && pb_read_head(&decoder->event, glance, data, len))
		return give(decoder, data, len, out_event);
	return decode_whole(decoder, data, len, glance, out_event, err);
}

int decode_record(struct decoder *decoder, const uint8_t *data, size_t len,
		  struct event **out_event, struct err *err)
{
	uint32_t glance = decode_glance(decoder, data, len);

	return glance ? decode_whole(decoder, data, len, glance, out_event, err) : 0;
}

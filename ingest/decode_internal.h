/*
 * What stands behind decode.h: one reader a format. Both take the two steps
 * that decode.h promises, over the tables of decode_shape.h.
 *
 * For decode*.c only.
 */
#ifndef BR2_DECODE_INTERNAL_H
#define BR2_DECODE_INTERNAL_H

#include "decode.h"
#include "decode_shape.h"
#include "util/wire.h"

enum decode_want pb_wants(const uint8_t *head, size_t head_len, uint64_t size);

/* An event's parts, found and not read yet. */
struct pb_event {
	const struct shape_row *row; /* NULL: not found, the record is unlike most */
	struct wire_cursor data;     /* of the row's message */
	uint32_t around;	     /* offset in struct event of what the row's own offset is in */
	/*
	 * The event's timestamp, its length just before it. Behind it stand a tag, a length,
	 * and the trace id, a UUID; then the span's id and its parent's.
	 */
	const uint8_t *timestamp;
};

/*
 * As pb_wants() for a whole record, which is wanted if it is unlike most; what it
 * found is for pb_read().
 */
enum decode_want pb_find(const uint8_t *record, size_t len, struct pb_event *out_event);
/* Fills *sink->event, its kind included. -1: ERR_FORMAT or ERR_LIMIT. */
int pb_read(struct shape_sink *sink, const struct pb_event *found, const uint8_t *record,
	    size_t len, struct err *err);

/* What was learned of the names in a log's lines. */
struct json_line;

struct json_line *json_line_new(void);
void json_line_free(struct json_line *line);
enum decode_want json_wants(struct json_line *line, const uint8_t *head, size_t head_len);
/* As pb_read(). */
int json_read(struct json_line *line, struct shape_sink *sink, const uint8_t *data, size_t len,
	      struct err *err);

#endif

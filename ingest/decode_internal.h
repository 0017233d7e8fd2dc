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

#define PB_TAG_BYTES(number) ((number) << 3 | WIRE_BYTES)
#define PB_TAG_VARINT(number) ((number) << 3 | WIRE_VARINT)
#define PB_UUID_LEN 36 /* of a trace id */

#define PB_WHATS 32
#define PB_NUMBERS 128

/* Where the tables lead, by the number of what happened and that of the field in it. */
struct pb_leads {
	uint8_t of[PB_WHATS][PB_NUMBERS];
};

void pb_leads(struct pb_leads *out_leads);

enum { PB_UNWANTED = 0, PB_UNLIKE = 1, PB_PLACE = 0xff };

/*
 * A first look at a whole record. PB_UNWANTED; PB_UNLIKE: not told, it is unlike most; else
 * where in it stands what happened, in the bits of PB_PLACE, and what: enum event_kind << 8.
 */
uint32_t pb_glance(const struct pb_leads *leads, const uint8_t *record, size_t len);

/* The parts of a BuckEvent as nearly all stand in their record. */
struct pb_usual {
	struct wire_cursor time;
	struct str trace_id;
	struct wire_cursor ids; /* of the span and of its parent; 0 is left out; and what follows */
	uint32_t what;		/* number of the field that says what happened */
	struct wire_cursor data; /* of that */
};

/* `glance`: neither PB_UNWANTED nor PB_UNLIKE. */
void pb_usual(const uint8_t *record, size_t len, uint32_t glance, struct pb_usual *out);
/*
 * Of a start or a stage: its kind, and what stands in front of what happened; a stage's time
 * is UNKNOWN. false: it is another event, or unlike most, or malformed; to be read as a whole.
 */
bool pb_read_head(struct event *event, uint32_t glance, const uint8_t *record, size_t len);
/*
 * Fills *sink->event, its kind included. -1: ERR_FORMAT or ERR_LIMIT. `glance`: what
 * pb_glance() said, and no PB_UNWANTED.
 */
int pb_read(struct shape_sink *sink, uint32_t glance, const uint8_t *record, size_t len,
	    struct err *err);

/* What was learned of the names in a log's lines. */
struct json_line;

struct json_line *json_line_new(void);
void json_line_free(struct json_line *line);
enum decode_want json_wants(struct json_line *line, const uint8_t *head, size_t head_len);
/* As pb_read(). */
int json_read(struct json_line *line, struct shape_sink *sink, const uint8_t *data, size_t len,
	      struct err *err);

#endif

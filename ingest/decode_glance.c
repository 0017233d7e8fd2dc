#include "decode_internal.h"
#include "util/wire.h"

#include <string.h>

/*
 * The first step: which records are wanted. Buck2 writes hundreds of kinds; three of four
 * records end here.
 */

/* ---- by a head ---- */

static inline const struct shape *leads_to(const struct shape *shape, uint32_t number)
{
	return number < shape->count ? shape->rows[number].shape : NULL;
}

/*
 * Follows the fields that only lead to others: CommandProgress -> BuckEvent ->
 * SpanStart, SpanEnd, Instant -> what happened, each up to the end of the one around
 * it. `beyond`: so many bytes of the record follow on the head.
 *
 * What the head cannot tell is wanted. Groups are rare and can be long, and so is what
 * follows on a message that leads somewhere (another one, maybe): they are left to the
 * second step.
 */
static enum decode_want route(const struct shape *shape, struct wire_cursor head, uint64_t beyond)
{
	while (head.at < head.end) {
		const struct shape *inner;
		struct wire_field field;
		uint64_t len, left;

		if (!wire_tag(&head, &field))
			return DECODE_WANT;
		inner = leads_to(shape, field.number);
		if (field.type != WIRE_BYTES) {
			if (inner || !wire_pass(&head, field.type))
				return DECODE_WANT;
			continue;
		}
		if (!wire_short_varint(&head, &len))
			return DECODE_WANT;
		left = (uint64_t)(head.end - head.at);
		if (inner) {
			if (!inner->is_route || len != left + beyond)
				return DECODE_WANT;
			shape = inner;
		} else if (len > left) {
			return len == left + beyond ? DECODE_SKIP : DECODE_WANT;
		} else {
			head.at += len;
		}
	}
	return beyond ? DECODE_WANT : DECODE_SKIP;
}

/*
 * CommandProgress is a oneof: one field that fills the record. Anything else
 * (the Invocation, fields that we do not know) is rare and left to the second
 * step, which sees the whole record.
 */
enum decode_want pb_wants(const uint8_t *head, size_t head_len, uint64_t size)
{
	struct wire_cursor rest = {head, head + head_len};
	uint64_t tag, len;

	if (!wire_varint(&rest, &tag) || tag != PB_TAG_BYTES(1) || !wire_varint(&rest, &len) ||
	    len != size - (uint64_t)(rest.at - head))
		return DECODE_WANT;
	return route(&shape_buck_event, rest, size - head_len);
}

/* ---- by a glance at the usual record ---- */

/* Hardly any is shorter, and up to the trace id no more looks at the length are needed. */
#define USUAL_MIN 64
#define USUAL_MAX 4096
#define TIME_MAX 16

/*
 * Nothing below calls a function, so that all of it stays in registers: three of four
 * records end here. What takes more than this is unlike most.
 */

/* A tag or a length of one byte or two, as nearly all are. */
static inline bool take_short(struct wire_cursor *cursor, uint32_t *out_value)
{
	const uint8_t *at = cursor->at;
	uint32_t value;

	if (at == cursor->end)
		return false;
	value = *at++;
	if (value >= 0x80) {
		if (at == cursor->end || *at >= 0x80)
			return false;
		value = (value & 0x7f) | (uint32_t)*at++ << 7;
	}
	cursor->at = at;
	*out_value = value;
	return true;
}

/*
 * Proto3 leaves out a 0. false: it is longer than Buck2's are, which count up from 1,
 * or less than 8 bytes are left.
 */
static inline bool pass_id(struct wire_cursor *cursor, uint8_t tag)
{
	uint64_t bytes, ends;

	if (cursor->end - cursor->at < 8)
		return false;
	if (*cursor->at != tag)
		return true;
	memcpy(&bytes, cursor->at, sizeof(bytes));
	ends = ~le64toh(bytes) & 0x8080808080808000;
	if (!ends)
		return false;
	cursor->at += ((size_t)__builtin_ctzll(ends) >> 3) + 1;
	return true;
}

/* The first two bytes, which are there: a tag and a length, or a tag as two bytes. */
static inline uint32_t two_bytes(const uint8_t *at)
{
	uint16_t two;

	memcpy(&two, at, sizeof(two));
	return le16toh(two);
}

/*
 * A length that is to reach up to the cursor's end, of one byte or two; something must be
 * left, of USUAL_MAX at most. 0: it does.
 */
static inline uint32_t pass_length(struct wire_cursor *cursor)
{
	const uint8_t *at = cursor->at;
	uint32_t left = (uint32_t)(cursor->end - at) - 1;

	if (left < 0x80) {
		cursor->at = at + 1;
		return left ^ at[0];
	}
	cursor->at = at + 2;
	left--;
	return two_bytes(at) ^ (left >> 7 << 8 | 0x80 | (left & 0x7f));
}

/* stats and duration of a SpanEnd, in front of what ended: messages of a few bytes. */
static inline bool pass_small(struct wire_cursor *cursor, uint8_t tag)
{
	const uint8_t *at = cursor->at;

	if (cursor->end - at < 2 || at[0] != tag || at[1] >= cursor->end - at - 2)
		return false;
	cursor->at = at + 2 + at[1];
	return true;
}

/* Fields 16 to 127 that are length-delimited have tags of two bytes. */
#define LONG_TAG(number) (PB_TAG_BYTES((number) % 16) | 0x80 | (number) / 16 << 8)

/* 0: it is such a tag. */
static inline uint32_t unlike_long_tag(uint32_t two)
{
	return (two & 0xf887) ^ (0x80 | WIRE_BYTES);
}

static inline uint32_t long_tag_number(uint32_t two)
{
	return (two >> 3 & 0x0f) | (two >> 4 & 0x70);
}

/* In struct pb_leads: 0, an event's kind, or this. */
#define LEADS_ON UINT8_MAX

static uint8_t lead_of(const struct shape_row *row)
{
	if (!row || !row->shape)
		return 0;
	return row->shape->is_route ? LEADS_ON : (uint8_t)row->value;
}

void pb_leads(struct pb_leads *out_leads)
{
	uint32_t what, number;

	memset(out_leads, 0, sizeof(*out_leads));
	for (what = 0; what < PB_WHATS; what++) {
		const struct shape_row *row = shape_find(&shape_buck_event, what);

		for (number = 0; row && row->shape && number < PB_NUMBERS; number++)
			out_leads->of[what][number] = lead_of(shape_find(row->shape, number));
	}
}

static inline uint32_t pb_word(uint32_t place, uint32_t kind)
{
	return place | kind << 8;
}

/*
 * Through messages that only lead to others and hold one field each: those of executor
 * stages, a fourth of all records. In line it would cost the others their registers.
 */
static __attribute__((noinline)) uint32_t look_on(const struct shape *shape, struct wire_cursor at,
						  uint32_t place)
{
	for (;;) {
		const struct shape_row *row;
		uint32_t tag, len;

		if (!take_short(&at, &tag) || !take_short(&at, &len) || len != at.end - at.at ||
		    (tag & 7) != WIRE_BYTES || tag < PB_TAG_BYTES(1))
			return PB_UNLIKE;
		row = shape_find(shape, tag >> 3);
		if (!row || !row->shape)
			return PB_UNWANTED;
		if (!row->shape->is_route)
			return pb_word(place, (uint32_t)row->value);
		shape = row->shape;
	}
}

/*
 * Nearly every record is a CommandProgress with an event whose fields stand in the
 * order of their numbers, as prost writes them: timestamp, trace id, span id,
 * parent id, and what happened, each message up to the end of the one around it; and
 * in what happened one field, whose number tells what. What must hold of them is gathered
 * in `unlike` and asked once: it always holds, and each question costs.
 */
uint32_t pb_glance(const struct pb_leads *leads, const uint8_t *record, size_t len)
{
	struct wire_cursor at = {record + 1, record + len};
	const uint8_t *what;
	uint32_t two, unlike, happened, number;
	uint8_t lead;

	if (len < USUAL_MIN || len > USUAL_MAX)
		return PB_UNLIKE;
	unlike = (uint32_t)record[0] ^ PB_TAG_BYTES(1);
	unlike |= pass_length(&at);

	two = two_bytes(at.at);
	unlike |= (two & 0xff) ^ PB_TAG_BYTES(1);
	if (two >> 8 > TIME_MAX)
		return PB_UNLIKE;
	at.at += 2 + (two >> 8);
	unlike |= two_bytes(at.at) ^ (PB_TAG_BYTES(2) | PB_UUID_LEN << 8);
	at.at += 2 + PB_UUID_LEN;
	if (!pass_id(&at, PB_TAG_VARINT(3)) || !pass_id(&at, PB_TAG_VARINT(4)))
		return PB_UNLIKE;

	what = at.at;
	if (at.end - what < 6)
		return PB_UNLIKE;
	two = two_bytes(what);
	unlike |= unlike_long_tag(two);
	happened = long_tag_number(two);
	at.at += 2;
	unlike |= pass_length(&at);
	if (two == LONG_TAG(21) &&
	    !(pass_small(&at, PB_TAG_BYTES(1)) && pass_small(&at, PB_TAG_BYTES(2))))
		return PB_UNLIKE;

	if (at.end - at.at < 3)
		return PB_UNLIKE;
	two = two_bytes(at.at);
	unlike |= unlike_long_tag(two) | happened / PB_WHATS;
	number = long_tag_number(two);
	at.at += 2;
	unlike |= pass_length(&at);
	if (unlike)
		return PB_UNLIKE;
	lead = leads->of[happened][number];
	if (lead == LEADS_ON)
		return look_on(shape_buck_event.rows[happened].shape->rows[number].shape, at,
			       (uint32_t)(what - record));
	return lead ? pb_word((uint32_t)(what - record), lead) : PB_UNWANTED;
}

void pb_usual(const uint8_t *record, size_t len, uint32_t glance, struct pb_usual *out)
{
	const uint8_t *timestamp = record + (record[1] < 0x80 ? 4 : 5);
	const uint8_t *what = record + (glance & PB_PLACE);

	out->time = (struct wire_cursor){timestamp, timestamp + timestamp[-1]};
	out->trace_id = (struct str){(const char *)out->time.end + 2, PB_UUID_LEN};
	out->ids = (struct wire_cursor){out->time.end + 2 + PB_UUID_LEN, record + len};
	out->what = long_tag_number(two_bytes(what));
	out->data = (struct wire_cursor){what + 2, record + len};
	pass_length(&out->data);
}

/*
 * Stage 3: a record's bytes -> struct event. Pure: no I/O, no clock, no globals.
 * Two steps: decode_wants() looks at the first bytes only and finds the few
 * kinds of events that matter; decode_record() unpacks those. decode_pb.c and
 * decode_json.c stand behind it and give equal events for equal records.
 *
 * Unknown fields, events, enum values, wire types and groups are skipped, as a
 * future Buck2 will send them. Source: facebook/buck2 app/buck2_data/data.proto
 * and app/buck2_cli_proto/daemon.proto at e26331d4a2, and the older shapes that
 * proto/buck2.proto names.
 */
#ifndef BR2_DECODE_H
#define BR2_DECODE_H

#include "model.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;

enum decode_format { DECODE_PROTOBUF, DECODE_JSON };
enum decode_want { DECODE_SKIP, DECODE_WANT };

struct decoder *decoder_new(enum decode_format format);
void decoder_free(struct decoder *decoder);
/* The event given last is of no more use: gives back what a large one took. */
void decoder_let_go(struct decoder *decoder);

/*
 * From the first bytes of a record (`size` in all; UINT64_MAX: not known yet):
 * is it one of the kinds that decode_record() gives? Where the head is too
 * short to tell, DECODE_WANT.
 */
enum decode_want decode_wants(const struct decoder *decoder, const uint8_t *head, size_t head_len,
			      uint64_t size);

/*
 * A first look at a whole record. 0: it is not wanted; else it may be: to be told to
 * decode_glanced(), with the same bytes.
 */
uint32_t decode_glance(struct decoder *decoder, const uint8_t *data, size_t len);

/*
 * Decodes one whole record; looks first whether it is wanted, as above. 1:
 * *out_event, borrowed until the next call with this decoder; 0: a record that says
 * nothing we keep; -1: malformed (err says how; the decoder can go on with the next
 * record) or too large when unpacked (ERR_LIMIT). event.seq is left to the caller.
 */
int decode_record(struct decoder *decoder, const uint8_t *data, size_t len,
		  struct event **out_event, struct err *err);
/*
 * As decode_record(), but of a start or a stage only this is sure to be set: kind, record,
 * trace_id, span_id, parent_id, a start's time_ns. decode_record() reads the rest, if anybody
 * needs it: hardly ever, since nearly all actions that start also end.
 */
int decode_glanced(struct decoder *decoder, const uint8_t *data, size_t len, uint32_t glance,
		   struct event **out_event, struct err *err);

#endif

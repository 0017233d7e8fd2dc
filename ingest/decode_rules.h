/*
 * What the fields that decode_shape.c names mean once they are there: where a
 * repeated message goes, what the presence of a message says, how a number on
 * the wire becomes one of ours.
 *
 * For decode*.c only.
 */
#ifndef BR2_DECODE_RULES_H
#define BR2_DECODE_RULES_H

#include "decode_shape.h"

/* One more element of a repeated field: argv, metadata, properties, -c values, attempts. */
shape_enter enter_argument, enter_metadata, enter_property, enter_config, enter_attempt;
/* The record's kind, from row->value; the last three for actions. */
shape_enter enter_event, enter_run, enter_test, enter_listing;
/* proto3 does not write empty texts: in a message that is there they are "", not unknown. */
shape_enter enter_name, enter_label;
/* An executor stage's name, an attempt's kind and status. */
shape_enter enter_stage, enter_command, enter_status;
/* The command's result: none yet, an answer (row->value: it has an exit code), an error. */
shape_enter enter_result, enter_answer, enter_error;

/* BuildGraphExecutionInfo; one more step of a path; its kind, from row->value. */
shape_enter enter_graph, enter_path, enter_step;

/* Nothing is known of what lies in *sink->event: for sink->used of a new one. */
#define RULES_USED_ALL (~0u)

/* The record's kind, whose parts of *sink->event are written to from now on. */
static inline void rules_set_kind(struct shape_sink *sink, enum event_kind kind)
{
	sink->event->kind = kind;
	sink->used |= 1u << kind;
}

/* Makes everything in *sink->event unknown, where sink->used says that it is not. */
void rules_begin(struct shape_sink *sink);
/* What follows from the whole event. */
void rules_finish(struct shape_sink *sink);

/* An empty text leaves the target as it is. */
static inline void rules_set_text(struct str *target, const char *data, size_t len)
{
	if (len)
		*target = (struct str){data, len};
}

/* Of several numbers the first one stays; 0 is none. */
static inline void rules_set_first(uint64_t *target, uint64_t value)
{
	if (!*target)
		*target = value;
}

/* UNKNOWN for what does not fit. */
static inline int64_t rules_size(uint64_t value)
{
	return value > INT64_MAX ? UNKNOWN : (int64_t)value;
}

int64_t rules_time_ns(int64_t seconds, int64_t nanos);
int64_t rules_duration_us(int64_t seconds, int64_t nanos);
/* Not a digest: hash_len 0. */
void rules_set_digest(struct digest *target, struct str text);
/* buck.data.ActionKind's number by its name in JSON; UNKNOWN. */
int64_t rules_action_kind(struct str name);

#endif

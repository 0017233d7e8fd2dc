/*
 * What the tests of the decoder share: events packed by libprotobuf-c, the same
 * as lines of JSON, and the check that both become one text.
 */
#ifndef BR2_DECODE_TESTING_H
#define BR2_DECODE_TESTING_H

#include "buck2.pb-c.h"
#include "decode.h"
#include "util/buf.h"

#include <stddef.h>

#define HASH "ab34567890ab34567890ab34567890ab34567890ab34567890ab34567890ab34"
#define TRACE "83f0a2c4-0000-4000-8000-123456789abc"

ProtobufCBinaryData bin(const char *text);
#define TEXT(member, text) .has_##member = 1, .member = bin(text)
#define NUMBER(member, number) .has_##member = 1, .member = number

/* ---- running the decoder ---- */

/* The text of the event; "none" or the error's text where there is none. Caller frees. */
char *decode_text(enum decode_format format, const void *data, size_t len);
/* The record gives this text. */
void expect_text(enum decode_format format, const void *data, size_t len, const char *want);
/*
 * The whole event of a start or a stage, of which a reader gave the head. Returns the decoder,
 * which owns it; caller frees.
 */
struct decoder *decode_rest(const struct event *head, struct event **out_event);
/* Both formats give this text. */
void expect_both(const ProtobufCMessage *message, const char *json, const char *want);

/* ---- events, wrapped as in a log ---- */

extern Buck2__Timestamp a_time;	   /* 1796003972.211896568 */
extern Buck2__Duration a_duration; /* 1.000999999 s */

struct wrapped {
	Buck2__CommandProgress progress;
	Buck2__BuckEvent event;
	Buck2__SpanStartEvent start;
	Buck2__SpanEndEvent end;
	Buck2__InstantEvent instant;
};

/* An event in span 7 below span 3; its kind is still to be set. */
void wrap(struct wrapped *wrapped);
/* expect_both() of it as a span's start, as its end. */
void expect_start(struct wrapped *wrapped, const char *json, const char *want);
void expect_end(struct wrapped *wrapped, const char *json, const char *want);

#define JSON_EVENT(data)                                                         \
	"{\"Event\":{\"timestamp\":[1796003972,211896568],\"trace_id\":\"" TRACE \
	"\",\"span_id\":7,\"parent_id\":3,\"data\":{" data "}}}"
#define JSON_START(data) JSON_EVENT("\"SpanStart\":{\"data\":{" data "}}")
#define JSON_END(data)                                                                \
	JSON_EVENT("\"SpanEnd\":{\"stats\":{\"max_poll_time_us\":1},\"duration_us\":" \
		   "1000999,\"data\":{" data "}}")
#define JSON_INSTANT(data) JSON_EVENT("\"Instant\":{\"data\":{" data "}}")
#define HEAD(kind) kind " seq=0 span=7 parent=3 time_ns=1796003972211896568 trace=\"" TRACE "\""

/* ---- actions ---- */

struct parts {
	struct wrapped wrapped;
	Buck2__TargetLabel label;
	Buck2__TargetConfiguration configuration;
	Buck2__ConfiguredTargetLabel owner;
	Buck2__ActionKey key;
	Buck2__ActionName name;
	Buck2__ActionExecutionStart start;
	Buck2__ActionExecutionEnd end;
};

/* The start and the end of action c of root//a:b in cfg#1. */
void init_parts(struct parts *parts);

#define JSON_LABEL                                             \
	"{\"label\":{\"package\":\"root//a\",\"name\":\"b\"}," \
	"\"configuration\":{\"full_name\":\"cfg#1\"},\"execution_configuration\":null}"
#define JSON_KEY \
	"\"key\":{\"id\":\"0102\",\"key\":\"_1\",\"owner\":{\"TargetLabel\":" JSON_LABEL "}}"
#define JSON_NAME "\"kind\":\"Run\",\"name\":{\"category\":\"c\",\"identifier\":\"\"}"
#define LABEL " package=\"root//a\" target=\"b\""
#define NAME LABEL " category=\"c\" identifier=\"\" configuration=\"cfg#1\" kind=3"

#define JSON_STAGE(stage) JSON_START("\"ExecutorStage\":{\"stage\":{" stage "}}")

#endif

/*
 * JSON read where it lies: no tree, no copies. A scan stands before a value; each
 * function takes what it names and moves behind it, or says that it is not there.
 *
 * It checks what it walks through, and no more: of a value that is passed over,
 * strings and brackets are followed, literals are not looked at. Knows nothing of
 * what the values mean. Source: RFC 8259.
 */
#ifndef BR2_JSON_SCAN_H
#define BR2_JSON_SCAN_H

#include "util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_scan {
	const char *at, *end;
};

enum json_kind {
	JSON_KIND_NONE, /* no value: the end, or what cannot begin one */
	JSON_KIND_OBJECT,
	JSON_KIND_ARRAY,
	JSON_KIND_STRING,
	JSON_KIND_NUMBER,
	JSON_KIND_BOOL,
	JSON_KIND_NULL,
};

struct json_number {
	enum {
		JSON_NUMBER_SIGNED,   /* whole, in `value` */
		JSON_NUMBER_UNSIGNED, /* whole, over INT64_MAX: `value` as a uint64_t */
		JSON_NUMBER_OTHER,    /* not whole, or 64 bits do not hold it: `value` is 0 */
	} kind;
	int64_t value;
};

/* What the next value is, by its first byte. */
enum json_kind json_scan_kind(struct json_scan *scan);

/*
 * The members of an object: *first is true before the first. 1: *out_name as it
 * stands between its quotes, the scan is before the value, which the caller takes;
 * 0: the object has ended; -1: malformed.
 */
int json_scan_member(struct json_scan *scan, bool *first, struct str *out_name);
/* The same for an array: 1: the scan is before an element. */
int json_scan_element(struct json_scan *scan, bool *first);

/* A string as it stands between its quotes. */
bool json_scan_string(struct json_scan *scan, struct str *out_raw);
/* A number, taken whatever it is. false: none stands there. */
bool json_scan_number(struct json_scan *scan, struct json_number *out_number);
bool json_scan_bool(struct json_scan *scan, bool *out_value);
/* Any value. false: it does not end, or lies deeper than 500 brackets. */
bool json_scan_skip(struct json_scan *scan);
/* Nothing follows. */
bool json_scan_ended(struct json_scan *scan);

/* Escapes stand in the string. */
bool json_is_escaped(struct str raw);
/* Writes the string to out, which has room for raw.len bytes. -1: malformed. */
ptrdiff_t json_unescape(struct str raw, char *out);

#endif

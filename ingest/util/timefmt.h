/*
 * Times as people and file names write them. Pure: "now" is a parameter. Times
 * are nanoseconds since the Unix epoch; text without an offset is UTC.
 */
#ifndef BR2_TIMEFMT_H
#define BR2_TIMEFMT_H

#include "util/err.h"
#include "util/str.h"

#include <stdint.h>

/* Room for either text and its NUL. */
#define TIME_TEXT_MAX 64

/* "2026-11-30 02:20:56.123": UTC, cut (not rounded) to milliseconds. */
void time_format(int64_t ns, char out[TIME_TEXT_MAX]);
/* "2026-11-30T02:20:56.123Z", likewise. */
void time_format_rfc3339(int64_t ns, char out[TIME_TEXT_MAX]);

/*
 * A moment given as an age ("90m", "36h", "2d", "3w", also "s"; before now_ns)
 * or as a date, with or without a time: RFC 3339 ('T' or a space between,
 * fractions, Z or an offset, none meaning UTC). -1 (ERR_USAGE): neither, a day
 * that no month has, or outside of what int64_t holds (1677 to 2262).
 */
int time_parse(const char *text, int64_t now_ns, int64_t *out_ns, struct err *err);

/* "YYYYMMDD-HHMMSS" as in the names of Buck2's logs. -1: it is not that; no message. */
int time_parse_log_name(struct str text, int64_t *out_ns);

#endif

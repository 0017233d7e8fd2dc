#include "util/timefmt.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

/* ---- writing ---- */

static void format(int64_t ns, char between, const char *zone, char out[TIME_TEXT_MAX])
{
	int64_t fraction = ns % NS_PER_S;
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (fraction < 0) {
		fraction += NS_PER_S;
		seconds--;
	}
	gmtime_r(&seconds, &tm);
	snprintf(out, TIME_TEXT_MAX, "%04d-%02d-%02d%c%02d:%02d:%02d.%03d%s", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, between, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (int)(fraction / 1000000), zone);
}

void time_format(int64_t ns, char out[TIME_TEXT_MAX])
{
	format(ns, ' ', "", out);
}

void time_format_rfc3339(int64_t ns, char out[TIME_TEXT_MAX])
{
	format(ns, 'T', "Z", out);
}

/* ---- reading ---- */

/* What is left to read. */
struct cursor {
	const char *at, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes exactly `count` digits. */
static bool take_digits(struct cursor *in, int count, int *out_number)
{
	int number = 0;

	if (in->end - in->at < count)
		return false;
	for (; count > 0; count--, in->at++) {
		if (!is_digit(*in->at))
			return false;
		number = number * 10 + (*in->at - '0');
	}
	*out_number = number;
	return true;
}

/* Takes one character if it is one of `set`. */
static bool take_one(struct cursor *in, const char *set)
{
	if (in->at == in->end || !*in->at || !strchr(set, *in->at))
		return false;
	in->at++;
	return true;
}

/* `separator` stands between the parts: "-" and ":", or "" for none. */
static bool take_date(struct cursor *in, const char *separator, int64_t *out_s)
{
	struct tm tm = {0}, asked;
	int year;

	if (!take_digits(in, 4, &year) || (*separator && !take_one(in, separator)) ||
	    !take_digits(in, 2, &tm.tm_mon) || (*separator && !take_one(in, separator)) ||
	    !take_digits(in, 2, &tm.tm_mday))
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon--;
	asked = tm;
	*out_s = (int64_t)timegm(&tm);
	/* timegm() turns 30 February into 2 March. */
	return tm.tm_mon == asked.tm_mon && tm.tm_mday == asked.tm_mday;
}

static bool take_clock(struct cursor *in, const char *separator, int64_t *out_s)
{
	int hour, minute, second;

	if (!take_digits(in, 2, &hour) || (*separator && !take_one(in, separator)) ||
	    !take_digits(in, 2, &minute) || (*separator && !take_one(in, separator)) ||
	    !take_digits(in, 2, &second))
		return false;
	/* 60 is a leap second, which Unix time counts as the second after it. */
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	*out_s = hour * 3600 + minute * 60 + second;
	return true;
}

/* ".123…"; digits beyond nanoseconds are cut off. Nothing there is 0. */
static bool take_fraction(struct cursor *in, int64_t *out_ns)
{
	int64_t unit = NS_PER_S / 10, ns = 0;

	*out_ns = 0;
	if (!take_one(in, "."))
		return true;
	if (in->at == in->end || !is_digit(*in->at))
		return false;
	for (; in->at < in->end && is_digit(*in->at); in->at++, unit /= 10)
		ns += (*in->at - '0') * unit;
	*out_ns = ns;
	return true;
}

/* "Z", "+HH:MM", "-HH:MM" or nothing: seconds east of UTC. */
static bool take_offset(struct cursor *in, int64_t *out_s)
{
	bool west = in->at < in->end && *in->at == '-';
	int hours, minutes, seconds;

	*out_s = 0;
	if (in->at == in->end || take_one(in, "Zz"))
		return true;
	if (!take_one(in, "+-") || !take_digits(in, 2, &hours) || !take_one(in, ":") ||
	    !take_digits(in, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	seconds = hours * 3600 + minutes * 60;
	*out_s = west ? -seconds : seconds;
	return true;
}

static bool parse_moment(struct cursor in, int64_t *out_s, int64_t *out_fraction)
{
	int64_t date, clock_s, offset;

	*out_fraction = 0;
	if (!take_date(&in, "-", &date))
		return false;
	*out_s = date;
	if (in.at == in.end)
		return true;
	if (!take_one(&in, "Tt ") || !take_clock(&in, ":", &clock_s) ||
	    !take_fraction(&in, out_fraction) || !take_offset(&in, &offset) || in.at != in.end)
		return false;
	*out_s = date + clock_s - offset;
	return true;
}

static int64_t unit_seconds(char unit)
{
	switch (unit) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return INT64_C(7) * 86400;
	default:
		return 0;
	}
}

/* Seconds of "<digits><unit>"; INT64_MAX where they are too many to count. */
static bool parse_age(struct cursor in, int64_t *out_s)
{
	const char *start = in.at;
	int64_t count = 0, unit;

	for (; in.at < in.end && is_digit(*in.at); in.at++)
		count = count > INT64_MAX / 100 ? count : count * 10 + (*in.at - '0');
	if (in.at == start || in.end - in.at != 1)
		return false;
	unit = unit_seconds(*in.at);
	*out_s = unit && count > INT64_MAX / unit ? INT64_MAX : count * unit;
	return unit != 0;
}

static int out_of_range(const char *text, struct err *err)
{
	return err_set(err, ERR_USAGE, "'%s' is out of range: times go from 1678 to 2261", text);
}

/* One second within int64_t on either side, so that a fraction always fits. */
static bool fits(int64_t seconds)
{
	return seconds > INT64_MIN / NS_PER_S + 1 && seconds < INT64_MAX / NS_PER_S - 1;
}

int time_parse(const char *text, int64_t now_ns, int64_t *out_ns, struct err *err)
{
	struct cursor in = {text, text + strlen(text)};
	int64_t seconds, fraction;

	if (parse_age(in, &seconds)) {
		if (!fits(seconds) || now_ns < INT64_MIN + seconds * NS_PER_S)
			return out_of_range(text, err);
		*out_ns = now_ns - seconds * NS_PER_S;
		return 0;
	}
	if (!parse_moment(in, &seconds, &fraction))
		return err_set(err, ERR_USAGE,
			       "'%s' is no time: give an age (90m, 36h, 2d) or a date "
			       "(2026-11-30, 2026-11-30T02:20:56Z)",
			       text);
	if (!fits(seconds))
		return out_of_range(text, err);
	*out_ns = seconds * NS_PER_S + fraction;
	return 0;
}

int time_parse_log_name(struct str text, int64_t *out_ns)
{
	struct cursor in = {text.data, text.data + text.len};
	int64_t date, clock_s;

	if (!text.data || !take_date(&in, "", &date) || !take_one(&in, "-") ||
	    !take_clock(&in, "", &clock_s) || in.at != in.end || !fits(date + clock_s))
		return -1;
	*out_ns = (date + clock_s) * NS_PER_S;
	return 0;
}

#include "util/quantity.h"

#include <stdbool.h>

#define PLACES 18
#define ONE UINT64_C(1000000000000000000)
#define EXPONENT_MAX 1000

/* whole + fraction/ONE, and a little more where `rest` is set. */
struct number {
	uint64_t whole, fraction;
	bool rest;
	bool overflow;
};

struct cursor {
	const char *at, *end;
};

/* What is multiplied with: 2^twos * 10^tens. */
struct scale {
	int twos, tens;
};

static const struct {
	const char *text;
	struct scale scale;
} suffixes[] = {
	{"", {0, 0}},	 {"n", {0, -9}},  {"u", {0, -6}},  {"m", {0, -3}},
	{"k", {0, 3}},	 {"M", {0, 6}},	  {"G", {0, 9}},   {"T", {0, 12}},
	{"P", {0, 15}},	 {"E", {0, 18}},  {"Ki", {10, 0}}, {"Mi", {20, 0}},
	{"Gi", {30, 0}}, {"Ti", {40, 0}}, {"Pi", {50, 0}}, {"Ei", {60, 0}},
};

/* ---- arithmetic ---- */

/* By 2 or 10: fraction * 10 still fits 64 bits. */
static void multiply(struct number *n, uint64_t factor)
{
	uint64_t fraction = n->fraction * factor, carry = fraction / ONE;

	n->overflow |= n->whole > (UINT64_MAX - carry) / factor;
	n->whole = n->whole * factor + carry;
	n->fraction = fraction % ONE;
}

static void divide_by_ten(struct number *n)
{
	n->rest |= n->fraction % 10 != 0;
	n->fraction = n->whole % 10 * (ONE / 10) + n->fraction / 10;
	n->whole /= 10;
}

static void apply(struct number *n, struct scale scale)
{
	for (; scale.twos > 0; scale.twos--)
		multiply(n, 2);
	for (; scale.tens > 0; scale.tens--)
		multiply(n, 10);
	for (; scale.tens < 0; scale.tens++)
		divide_by_ten(n);
}

/* ---- reading ---- */

static bool take_digit(struct cursor *in, unsigned int *out_digit)
{
	if (in->at == in->end || *in->at < '0' || *in->at > '9')
		return false;
	*out_digit = (unsigned int)(*in->at++ - '0');
	return true;
}

static bool take(struct cursor *in, char c)
{
	if (in->at == in->end || *in->at != c)
		return false;
	in->at++;
	return true;
}

/* "5", "5.", ".5", "5.25" */
static bool take_decimal(struct cursor *in, struct number *n)
{
	uint64_t unit = ONE / 10;
	unsigned int digit;
	const char *start = in->at;
	bool point;

	while (take_digit(in, &digit)) {
		multiply(n, 10);
		n->overflow |= n->whole > UINT64_MAX - digit;
		n->whole += digit;
	}
	point = take(in, '.');
	while (point && take_digit(in, &digit)) {
		n->rest |= !unit && digit;
		n->fraction += digit * unit;
		unit /= 10;
	}
	return in->at - start > point;
}

static bool take_exponent(struct cursor *in, struct scale *out_scale)
{
	unsigned int digit;
	int exponent = 0;
	bool negative;

	if (!take(in, 'e') && !take(in, 'E'))
		return false;
	negative = take(in, '-');
	if (!negative)
		take(in, '+');
	if (in->at == in->end)
		return false;
	while (take_digit(in, &digit))
		if (exponent < EXPONENT_MAX)
			exponent = exponent * 10 + (int)digit;
	*out_scale = (struct scale){0, negative ? -exponent : exponent};
	return in->at == in->end;
}

static bool take_scale(struct cursor *in, struct scale *out_scale)
{
	struct str rest = {in->at, (size_t)(in->end - in->at)};
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (str_is(rest, suffixes[i].text)) {
			*out_scale = suffixes[i].scale;
			return true;
		}
	return take_exponent(in, out_scale);
}

static int fault(struct str text, const char *what, struct err *err)
{
	int len = text.len < 40 ? (int)text.len : 40;

	return err_set(err, ERR_FORMAT, "'%.*s' %s", len, text.data ? text.data : "", what);
}

static int parse(struct str text, int tens, int64_t *out_value, struct err *err)
{
	struct cursor in;
	struct number n = {0, 0, false, false};
	struct scale scale;
	bool negative;

	if (!text.data)
		return fault(text, "is no Kubernetes quantity", err);
	in = (struct cursor){text.data, text.data + text.len};
	negative = take(&in, '-');
	if (!negative)
		take(&in, '+');
	if (!take_decimal(&in, &n) || !take_scale(&in, &scale))
		return fault(text, "is no Kubernetes quantity (such as 4500m or 9Gi)", err);
	scale.tens += tens;
	if (n.whole || n.fraction || n.rest) {
		if (negative)
			return fault(text, "is below zero", err);
		apply(&n, scale);
	}
	if (n.fraction || n.rest)
		n.whole += n.whole < UINT64_MAX;
	if (n.overflow || n.whole > INT64_MAX)
		return fault(text, "is too large to be true", err);
	*out_value = (int64_t)n.whole;
	return 0;
}

int quantity_millicores(struct str text, int64_t *out_millicores, struct err *err)
{
	return parse(text, 3, out_millicores, err);
}

int quantity_bytes(struct str text, int64_t *out_bytes, struct err *err)
{
	return parse(text, 0, out_bytes, err);
}

int quantity_size(struct str text, int64_t *out_bytes, struct err *err)
{
	if (text.len > 1 && text.data[text.len - 1] == 'B')
		text.len--;
	return parse(text, 0, out_bytes, err);
}

#include "redact_shape.h"

#include "redact_name.h"

#include <ctype.h>
#include <limits.h>
#include <strings.h>

#define NAME_MAX_BYTES 128 /* a longer name is looked at from its end */

/* ---- characters ---- */

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c);
}

static bool is_name(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

/* base64, base64url, and what RFC 6750 allows in a bearer token */
static bool is_token(char c)
{
	return is_name(c) || (c && strchr(".~+/=", c));
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r' || c == '\0';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || is_line_end(c);
}

static char at_or_nul(struct str text, size_t at)
{
	return at < text.len ? text.data[at] : '\0';
}

static bool starts_at(struct str text, size_t at, const char *word)
{
	size_t len = strlen(word);

	return at <= text.len && text.len - at >= len &&
	       strncasecmp(text.data + at, word, len) == 0;
}

static size_t run_of(struct str text, size_t at, bool (*is)(char))
{
	size_t end = at;

	while (end < text.len && is(text.data[end]))
		end++;
	return end - at;
}

/* A word may begin where the last secret ended: once that is cut out, it does. */
static bool begins(struct str text, size_t at, size_t from, bool (*is)(char))
{
	return at == from || !is(text.data[at - 1]);
}

static bool found(struct secret *out, size_t start, size_t end)
{
	*out = (struct secret){start, end};
	return end > start;
}

/* ---- URLs ---- */

/* RFC 3986: userinfo ends at the authority's last '@'; a password may hold a raw one. */
static bool find_userinfo(struct str text, size_t colon, struct secret *out)
{
	size_t start = colon + 3, at = 0, i;

	if (!starts_at(text, colon, "://"))
		return false;
	for (i = start; i < text.len; i++) {
		char c = text.data[i];

		if (is_space(c) || strchr("/?#<>\"'`", c))
			break;
		if (c == '@')
			at = i;
	}
	return found(out, start, at);
}

/* ---- names and values ---- */

/* The name that ends at `end`, with the quote between, as in JSON: "name": */
static struct str name_before(struct str text, size_t end, bool (*is)(char))
{
	size_t start;

	if (end && is_quote(text.data[end - 1]))
		end--;
	if (end && text.data[end - 1] == '\\')
		end--;
	for (start = end; start && end - start < NAME_MAX_BYTES && is(text.data[start - 1]);)
		start--;
	return (struct str){text.data + start, end - start};
}

static char before(struct str text, struct str name)
{
	return name.data > text.data ? name.data[-1] : '\0';
}

/* Over blanks and one opening quote, which may be escaped; *quote: 0 for none. */
static size_t skip_opening(struct str text, size_t at, char *quote)
{
	while (at < text.len && (text.data[at] == ' ' || text.data[at] == '\t'))
		at++;
	if (at_or_nul(text, at) == '\\' && is_quote(at_or_nul(text, at + 1)))
		at++;
	*quote = is_quote(at_or_nul(text, at)) ? text.data[at] : '\0';
	return *quote ? at + 1 : at;
}

/* A quoted value ends at its quote, a header's at the next one or with the line. */
static size_t line_end(struct str text, size_t at, char quote)
{
	for (; at < text.len && !is_line_end(text.data[at]); at++) {
		size_t next = text.data[at] == '\\' ? at + 1 : at;
		char c = at_or_nul(text, next);

		if (quote ? c == quote : is_quote(c))
			break;
	}
	return at;
}

static size_t word_end(struct str text, size_t at, const char *stops)
{
	while (at < text.len && !is_space(text.data[at]) && !strchr(stops, text.data[at]))
		at++;
	return at;
}

/*
 * "Authorization: Basic x"; not "Cookie::parse", nor what bb_storage says with a
 * refusal, "Authorization: Permission denied" (pkg/auth/authorizer.go wraps it so).
 */
static bool find_header(struct str text, size_t colon, struct secret *out)
{
	struct str name = name_before(text, colon, is_name);
	size_t start;
	char quote;

	if (!name.len || at_or_nul(text, colon + 1) == ':' || !name_is_secret_header(name))
		return false;
	start = skip_opening(text, colon + 1, &quote);
	if (starts_at(text, start, "permission denied"))
		return false;
	return found(out, start, line_end(text, start, quote));
}

/* "?sig=x", "&token=x", "API_TOKEN=x"; not "token == x" nor "token = next()". */
static bool find_assigned(struct str text, size_t equals, struct secret *out)
{
	struct str name = name_before(text, equals, is_name);
	bool query = name.len && strchr("?&;", before(text, name)) && before(text, name);
	size_t start;
	char quote;

	if (!name.len || at_or_nul(text, equals + 1) == '=' ||
	    is_space(at_or_nul(text, equals + 1)))
		return false;
	if (!(query ? name_is_secret_query(name) : name_is_secret(name)))
		return false;
	start = skip_opening(text, equals + 1, &quote);
	if (quote)
		return found(out, start, line_end(text, start, quote));
	return found(out, start, word_end(text, start, query ? "&#\"'<>)`" : "\"'"));
}

static bool is_value_name(char c)
{
	return is_name(c) || c == '.';
}

bool secret_is_named(struct str value)
{
	size_t i;

	for (i = 0; i < value.len; i++) {
		struct str name;
		size_t end = i;

		if ((value.data[i] != '=' && value.data[i] != ':') || value.len - i < 2 ||
		    starts_at(value, i, "://"))
			continue;
		while (end && value.data[end - 1] == ' ')
			end--;
		name = name_before(value, end, is_value_name);
		if (value.data[i] == ':' && before(value, name) == '/')
			continue;
		if (name.len && name_is_secret(name))
			return true;
	}
	return false;
}

/* ---- words that announce ---- */

/* "No bearer token provided": the next word tells of one, it is none. */
static bool is_prose(struct str text, size_t at, size_t len)
{
	static const char *const words[] = {"token", "tokens", "auth", "authentication",
					    "authorization"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (len == strlen(words[i]) && starts_at(text, at, words[i]))
			return true;
	return false;
}

/* RFC 6750 and RFC 7617. "Basic block" is none: base64 of user:password is not all small. */
static bool find_scheme(struct str text, size_t at, struct secret *out)
{
	bool bearer = starts_at(text, at, "bearer ");
	size_t start, len, i;

	if (!bearer && !starts_at(text, at, "basic "))
		return false;
	start = at + (bearer ? strlen("bearer ") : strlen("basic "));
	len = run_of(text, start, is_token);
	for (i = start + 1; !bearer && i < start + len; i++)
		if (isupper((unsigned char)text.data[i]) || isdigit((unsigned char)text.data[i]))
			bearer = true;
	return bearer && !is_prose(text, start, len) && found(out, start, start + len);
}

/* ---- tokens of well-known shape ---- */

/*
 * Prefixes that their makers chose to be found: GitHub, GitLab, Slack, Docker
 * Hub, npm, PyPI, Google, Stripe, DigitalOcean. `min` bytes must follow, so
 * that a mere mention stays.
 */
static const struct prefix {
	const char *text;
	size_t min;
} prefixes[] = {
	{"ghp_", 4},	    {"gho_", 4},     {"ghu_", 4},  {"ghs_", 4},	  {"ghr_", 4},
	{"github_pat_", 4}, {"glpat-", 4},   {"gldt-", 8}, {"xoxb-", 4},  {"xoxp-", 4},
	{"xoxa-", 4},	    {"xoxs-", 4},    {"xoxr-", 4}, {"xapp-", 8},  {"dckr_pat_", 4},
	{"npm_", 36},	    {"pypi-AgE", 8}, {"AIza", 30}, {"ya29.", 16}, {"sk_live_", 8},
	{"rk_live_", 8},    {"dop_v1_", 16},
};

static bool find_prefixed(struct str text, size_t at, struct secret *out)
{
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i].text), run;

		if (text.len - at < len || memcmp(text.data + at, prefixes[i].text, len) != 0)
			continue;
		run = run_of(text, at + len, is_name);
		if (run >= prefixes[i].min)
			return found(out, at, at + len + run);
	}
	return false;
}

static bool is_aws(char c)
{
	return isupper((unsigned char)c) || isdigit((unsigned char)c);
}

/* Access key ids of AWS have 20 characters. */
static bool find_aws(struct str text, size_t at, struct secret *out)
{
	if (!starts_at(text, at, "AKIA") && !starts_at(text, at, "ASIA"))
		return false;
	return run_of(text, at, is_aws) == 20 && found(out, at, at + 20);
}

static bool is_web_token(char c)
{
	return is_name(c) || c == '.' || c == '=';
}

/* RFC 7519: base64url of {"… begins with eyJ; the parts are joined by dots. */
static bool find_web_token(struct str text, size_t at, size_t from, struct secret *out)
{
	size_t head;

	/* Also from here on inside a run: else each "eyJ" of one would scan all of it. */
	if (!begins(text, at, from, is_name) || text.len - at < 3 ||
	    memcmp(text.data + at, "eyJ", 3) != 0)
		return false;
	head = run_of(text, at, is_name);
	if (head < 6 || at_or_nul(text, at + head) != '.' ||
	    run_of(text, at + head + 1, is_name) < 4)
		return false;
	return found(out, at, at + run_of(text, at, is_web_token));
}

static size_t find_word(struct str text, size_t at, const char *word)
{
	while (at < text.len && !starts_at(text, at, word))
		at++;
	return at < text.len ? at : text.len;
}

static bool is_label(char c)
{
	return is_alnum(c) || c == ' ';
}

/* RFC 7468. One without an end was cut: all that follows may be key. */
static bool find_private_key(struct str text, size_t at, struct secret *out)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ", dashes[] = "-----";
	struct str label = {text.data, at + strlen(begin)};
	size_t stop;

	if (!starts_at(text, at, begin))
		return false;
	label.len += run_of(text, label.len, is_label);
	if (find_word(label, at, "PRIVATE KEY") == label.len)
		return false;
	stop = find_word(text, find_word(text, label.len, end) + strlen(end), dashes);
	return found(out, at, stop < text.len ? stop + strlen(dashes) : text.len);
}

/* ---- the scan ---- */

static bool find_at_word(struct str text, size_t at, size_t from, struct secret *out)
{
	if (!begins(text, at, from, is_alnum))
		return false;
	return find_prefixed(text, at, out) || find_aws(text, at, out) ||
	       find_web_token(text, at, from, out) || find_scheme(text, at, out);
}

static bool find_at(struct str text, size_t at, size_t from, struct secret *out)
{
	switch (text.data[at]) {
	case ':':
		return find_userinfo(text, at, out) || find_header(text, at, out);
	case '=':
		return find_assigned(text, at, out);
	case '-':
		return find_private_key(text, at, out);
	default:
		return find_at_word(text, at, from, out);
	}
}

/* The bytes at which a secret or what announces it may begin. */
static const char marks[] = ":=-bBgxdnpAysre";

bool secret_find(struct str text, size_t from, struct secret *out)
{
	bool is_mark[UCHAR_MAX + 1] = {false};
	const char *mark;
	size_t i;

	for (mark = marks; *mark; mark++)
		is_mark[(unsigned char)*mark] = true;
	for (i = from; i < text.len; i++)
		if (is_mark[(unsigned char)text.data[i]] && find_at(text, i, from, out))
			return true;
	return false;
}

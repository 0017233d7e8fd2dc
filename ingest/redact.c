#include "redact.h"

#include "util/json.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Parts of names whose values are secrets, in any letter case. */
static const char *const secret_words[] = {
	"token",       "secret",     "password", "passwd",	  "passphrase", "credential",
	"apikey",      "api_key",    "api-key",	 "authorization", "cookie",	"private_key",
	"private-key", "privatekey", "bearer",	 "http_header",	  NULL,
};

/* And of command-line options: what a header holds is not known. */
static const char *const secret_options[] = {"header", NULL};

/* ---- names and values ---------------------------------------------------------- */

static bool contains(struct str text, const char *word)
{
	size_t len = strlen(word), i;

	for (i = 0; i + len <= text.len; i++)
		if (strncasecmp(text.data + i, word, len) == 0)
			return true;
	return false;
}

static bool contains_any(struct str text, const char *const *words)
{
	for (; *words; words++)
		if (contains(text, *words))
			return true;
	return false;
}

static bool starts_nocase(struct str text, const char *prefix)
{
	size_t len = strlen(prefix);

	return text.len >= len && strncasecmp(text.data, prefix, len) == 0;
}

static struct str from(struct str text, size_t start)
{
	return (struct str){text.data + start, text.len - start};
}

/* "://user:password@", also "://token@": the part before the host. */
static bool has_userinfo(struct str text)
{
	size_t i;

	for (i = 0; i + 3 <= text.len; i++) {
		size_t end = i + 3;

		if (memcmp(text.data + i, "://", 3) != 0)
			continue;
		while (end < text.len && !memchr("/?# @", text.data[end], 5))
			end++;
		if (end < text.len && text.data[end] == '@')
			return true;
	}
	return false;
}

/* A JSON Web Token: base64url of {"… begins with eyJ; its parts are joined by dots. */
static bool has_web_token(struct str text)
{
	size_t i;

	for (i = 0; i + 20 < text.len; i++)
		if (memcmp(text.data + i, "eyJ", 3) == 0 &&
		    (!i || !isalnum((unsigned char)text.data[i - 1])) &&
		    memchr(text.data + i, '.', text.len - i))
			return true;
	return false;
}

static bool looks_secret(struct str value)
{
	return contains(value, "bearer ") || starts_nocase(value, "basic ") ||
	       contains(value, ": basic ") || contains(value, ":basic ") ||
	       contains(value, "authorization:") || contains(value, "private key-----") ||
	       has_userinfo(value) || has_web_token(value);
}

bool redact_is_secret(struct str section, struct str key, struct str value)
{
	return contains_any(section, secret_words) || contains_any(key, secret_words) ||
	       looks_secret(value);
}

/* ---- one argument ------------------------------------------------------------------ */

/* Writes what stays of an argument, then the mark. */
static void add_redacted(struct buf *out, struct str kept)
{
	struct buf text = BUF_INIT;

	buf_add(&text, kept.data, kept.len);
	buf_addstr(&text, REDACTED);
	json_add_text(out, (struct str){text.data, text.len});
	buf_release(&text);
}

static size_t find(struct str text, char c)
{
	const char *found = text.len ? memchr(text.data, c, text.len) : NULL;

	return found ? (size_t)(found - text.data) : text.len;
}

/*
 * "[cell//]section.key=value" with `prefix` bytes of option before it, as in
 * "-c", "--config=". The whole argument is written.
 */
static void add_config(struct buf *out, struct str arg, size_t prefix)
{
	size_t equals = prefix + find(from(arg, prefix), '=');
	struct str name = {arg.data + prefix, equals - prefix};
	struct str kept = {arg.data, equals < arg.len ? equals + 1 : arg.len};

	if (redact_is_secret(STR_NULL, name, from(arg, kept.len)))
		add_redacted(out, kept);
	else
		json_add_text(out, arg);
}

/* Where the value of "name=value" or "Name: value" begins; 0: it is neither. */
static size_t value_start(struct str arg)
{
	size_t equals = find(arg, '='), colon = find(arg, ':');
	struct str name = {arg.data, equals < colon ? equals : colon};

	/* "//security/token:target" is no header. */
	if (name.len == arg.len || (colon < equals && contains(name, "//")))
		return 0;
	return name.len + 1;
}

static bool is_option(struct str arg)
{
	return str_starts(arg, "-") && arg.len > 1;
}

static bool is_secret_name(struct str name)
{
	return contains_any(name, secret_words) ||
	       (is_option(name) && contains_any(name, secret_options));
}

static void add_argument(struct buf *out, struct str arg)
{
	size_t start = value_start(arg);
	struct str kept = {arg.data, start};

	if (looks_secret(from(arg, start)))
		add_redacted(out, kept);
	else if (looks_secret(arg))
		add_redacted(out, STR(""));
	else if (start && is_secret_name(kept))
		add_redacted(out, kept);
	else
		json_add_text(out, arg);
}

/* ---- the command line ------------------------------------------------------------------ */

/* What an argument says about the next one. */
enum next { NEXT_PLAIN, NEXT_CONFIG, NEXT_SECRET, NEXT_FOREIGN };

static enum next announces(struct str arg)
{
	if (str_is(arg, "--"))
		return NEXT_FOREIGN;
	if (str_is(arg, "-c") || str_is(arg, "--config"))
		return NEXT_CONFIG;
	if (is_option(arg) && !value_start(arg) && is_secret_name(arg))
		return NEXT_SECRET;
	return NEXT_PLAIN;
}

/* Writes one argument; returns what holds for the next. */
static enum next add_next(struct buf *out, struct str arg, enum next state)
{
	if (state == NEXT_FOREIGN) {
		add_redacted(out, STR(""));
		return NEXT_FOREIGN;
	}
	if (state == NEXT_CONFIG) {
		add_config(out, arg, 0);
		return NEXT_PLAIN;
	}
	if (state == NEXT_SECRET && !str_is(arg, "--")) {
		add_redacted(out, STR(""));
		return NEXT_PLAIN;
	}
	if (str_starts(arg, "--config="))
		add_config(out, arg, strlen("--config="));
	else if (str_starts(arg, "-c") && arg.len > 2)
		add_config(out, arg, arg.data[2] == '=' ? 3 : 2);
	else
		add_argument(out, arg);
	return announces(arg);
}

void redact_argv(const struct str *argv, size_t argc, struct buf *out_json)
{
	enum next state = NEXT_PLAIN;
	size_t i;

	buf_addch(out_json, '[');
	for (i = 0; i < argc; i++) {
		if (i)
			buf_addch(out_json, ',');
		state = add_next(out_json, argv[i], state);
	}
	buf_addch(out_json, ']');
}

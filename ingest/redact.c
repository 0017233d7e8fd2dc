#include "redact.h"

#include "redact_name.h"
#include "redact_shape.h"
#include "util/json.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* ---- values ------------------------------------------------------------------------ */

static struct str from(struct str text, size_t start)
{
	return (struct str){text.data + start, text.len - start};
}

/* The whole of a value may be what a header holds; inside a text that would be a guess. */
static bool looks_secret(struct str value)
{
	struct secret secret;

	return (value.len >= 6 && strncasecmp(value.data, "basic ", 6) == 0) ||
	       secret_is_named(value) || secret_find(value, 0, &secret);
}

bool redact_is_secret(struct str section, struct str key, struct str value)
{
	return name_is_secret(section) || name_is_secret(key) || looks_secret(value);
}

/* ---- texts ------------------------------------------------------------------------- */

/* Keeps the last `max` bytes of what was added at least, and twice as many at most; wants all. */
static bool add_tail(struct buf *out, struct str text, size_t max)
{
	if (text.len > max) {
		text = from(text, text.len - max);
		buf_clear(out);
	}
	buf_add(out, text.data, text.len);
	if (out->len / 2 >= max) {
		memmove(out->data, out->data + out->len - max, max);
		out->len = max;
	}
	return true;
}

/* False: it has all that is wanted. */
static bool add_begin(struct buf *out, struct str text, size_t max)
{
	size_t room = out->len < max ? max - out->len : 0;

	buf_add(out, text.data, text.len < room ? text.len : room);
	return out->len < max;
}

typedef bool add_fn(struct buf *out, struct str text, size_t max);

static struct str redact_by(add_fn *add, struct str text, size_t max, struct buf *out)
{
	struct secret secret;
	size_t done = 0;
	bool more;

	if (!text.len || !secret_find(text, 0, &secret))
		return text;
	buf_clear(out);
	do {
		add(out, (struct str){text.data + done, secret.start - done}, max);
		more = add(out, STR(REDACTED), max);
		done = secret.end;
	} while (more && secret_find(text, done, &secret));
	add(out, from(text, done), max);
	return (struct str){out->data, out->len};
}

struct str redact_tail(struct str text, size_t max, struct buf *out)
{
	return redact_by(add_tail, text, max, out);
}

struct str redact_begin(struct str text, size_t max, struct buf *out)
{
	return redact_by(add_begin, text, max, out);
}

struct str redact_text(struct str text, struct buf *out)
{
	return redact_begin(text, SIZE_MAX, out);
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
	const char *found = text.data ? memchr(text.data, c, text.len) : NULL;

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
	if (name.len == arg.len || (colon < equals && find(name, '/') < name.len))
		return 0;
	return name.len + 1;
}

static bool is_option(struct str arg)
{
	return str_starts(arg, "-") && arg.len > 1;
}

/* "--env", "--test-env", "--repo_env", with or without what follows the name. */
static bool ends_word(struct str option, const char *word)
{
	size_t end = find(option, '='), len = strlen(word);

	return end > len && strchr("-_", option.data[end - len - 1]) &&
	       strncasecmp(option.data + end - len, word, len) == 0;
}

/* What a header holds is not known. */
static bool is_secret_name(struct str name)
{
	return name_is_secret(name) || (is_option(name) && ends_word(name, "header"));
}

/* "NAME=VALUE" after `prefix` bytes of option: no one can tell which variables are harmless. */
static void add_variable(struct buf *out, struct str arg, size_t prefix)
{
	size_t equals = prefix + find(from(arg, prefix), '=');

	if (equals < arg.len)
		add_redacted(out, (struct str){arg.data, equals + 1});
	else if (looks_secret(arg))
		add_redacted(out, STR(""));
	else
		json_add_text(out, arg);
}

static void add_argument(struct buf *out, struct str arg)
{
	size_t start = value_start(arg);
	struct str kept = {arg.data, start};

	if (is_option(arg) && ends_word(arg, "env"))
		add_variable(out, arg, start);
	else if (str_starts(arg, "-e"))
		add_variable(out, arg, 2);
	else if (start && (is_secret_name(kept) || looks_secret(from(arg, start))))
		add_redacted(out, kept);
	else if (looks_secret(arg))
		add_redacted(out, STR(""));
	else
		json_add_text(out, arg);
}

/* ---- the command line ------------------------------------------------------------------ */

/* What an argument says about the next one. */
enum next { NEXT_PLAIN, NEXT_CONFIG, NEXT_VARIABLE, NEXT_SECRET, NEXT_FOREIGN };

static enum next announces(struct str arg)
{
	if (str_is(arg, "--"))
		return NEXT_FOREIGN;
	if (str_is(arg, "-c") || str_is(arg, "--config"))
		return NEXT_CONFIG;
	if (str_is(arg, "-e") || (is_option(arg) && !value_start(arg) && ends_word(arg, "env")))
		return NEXT_VARIABLE;
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
	if (state == NEXT_VARIABLE && !str_is(arg, "--")) {
		add_variable(out, arg, 0);
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

void redact_argv(const struct str *argv, size_t argc, size_t max, struct buf *out_json)
{
	enum next state = NEXT_PLAIN;
	struct buf one = BUF_INIT;
	size_t i;

	buf_addch(out_json, '[');
	for (i = 0; i < argc; i++) {
		buf_clear(&one);
		if (i)
			buf_addch(&one, ',');
		state = add_next(&one, argv[i], state);
		if (one.len + 1 > max - out_json->len)
			break;
		buf_add(out_json, one.data, one.len);
	}
	buf_addch(out_json, ']');
	buf_release(&one);
}

#include "cli_config.h"

#include "redact.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void cli_config_release(struct cli_config *config)
{
	size_t i;

	for (i = 0; i < config->count; i++) {
		free((char *)(uintptr_t)config->values[i].cell.data);
		free((char *)(uintptr_t)config->values[i].section.data);
		free((char *)(uintptr_t)config->values[i].key.data);
		free((char *)(uintptr_t)config->values[i].value.data);
	}
	free(config->values);
	*config = (struct cli_config)CLI_CONFIG_INIT;
}

static struct str own(struct str text)
{
	return text.data ? (struct str){xmemdup0(text.data, text.len), text.len} : STR_NULL;
}

static size_t size_of(const struct config_value *value)
{
	return sizeof(*value) + value->cell.len + value->section.len + value->key.len +
	       value->value.len;
}

static void add(struct cli_config *config, const struct config_value *value)
{
	size_t bytes = size_of(value);
	struct config_value *copy;
	bool secret;

	if (!value->section.data || !value->key.data || !value->value.data ||
	    bytes > CLI_CONFIG_MAX - config->bytes)
		return;
	config->bytes += bytes;
	secret = redact_is_secret(value->section, value->key, value->value);
	config->values = xreallocarray(config->values, config->count + 1, sizeof(*config->values));
	copy = &config->values[config->count++];
	*copy = *value;
	copy->cell = own(value->cell);
	copy->section = own(value->section);
	copy->key = own(value->key);
	copy->value = own(secret ? STR(REDACTED) : value->value);
}

/* "[cell//]section.key=value" */
static bool parse_argument(struct str text, struct config_value *out)
{
	const char *name = text.data, *equals, *dot, *slash;

	memset(out, 0, sizeof(*out));
	equals = name ? memchr(name, '=', text.len) : NULL;
	if (!equals)
		return false;
	slash = memchr(name, '/', (size_t)(equals - name));
	if (slash && slash[1] == '/') {
		out->cell = (struct str){name, (size_t)(slash - name)};
		name = slash + 2;
	}
	dot = memchr(name, '.', (size_t)(equals - name));
	if (!dot)
		return false;
	out->is_cli = true;
	out->section = (struct str){name, (size_t)(dot - name)};
	out->key = (struct str){dot + 1, (size_t)(equals - dot - 1)};
	out->value = (struct str){equals + 1, text.len - (size_t)(equals + 1 - text.data)};
	return true;
}

/* The value of a -c/--config at argv[*at], which may stand in the next argument. */
static struct str argument_at(const struct str *argv, size_t argc, size_t *at)
{
	struct str word = argv[*at];

	if (str_is(word, "-c") || str_is(word, "--config"))
		return ++*at < argc ? argv[*at] : STR_NULL;
	if (str_starts(word, "--config="))
		return (struct str){word.data + 9, word.len - 9};
	if (str_starts(word, "-c"))
		return (struct str){word.data + 2, word.len - 2};
	return STR_NULL;
}

void cli_config_from_argv(struct cli_config *config, const struct str *argv, size_t argc)
{
	size_t i;

	cli_config_release(config);
	for (i = 0; i < argc && !str_is(argv[i], "--"); i++) {
		struct config_value value;

		if (parse_argument(argument_at(argv, argc, &i), &value))
			add(config, &value);
	}
}

void cli_config_from_record(struct cli_config *config, const struct config_value *values,
			    size_t count)
{
	size_t i;

	cli_config_release(config);
	for (i = 0; i < count; i++)
		if (values[i].is_cli)
			add(config, &values[i]);
}

struct str cli_config_get(const struct cli_config *config, const char *section, const char *key)
{
	size_t i;

	for (i = config->count; i > 0; i--) {
		const struct config_value *value = &config->values[i - 1];

		if (str_is(value->section, section) && str_is(value->key, key))
			return value->value;
	}
	return STR_NULL;
}

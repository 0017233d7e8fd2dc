#include "util/options.h"

#include "util/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 26
#define HELP_WIDTH 80

static bool same_name(const char *name, const char *given, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (name[i] != given[i] && !(name[i] == '-' && given[i] == '_'))
			return false;
	return name[len] == '\0';
}

static const struct option *find_long(const struct option *const *groups, const char *given,
				      size_t len)
{
	const struct option *option;

	for (; *groups; groups++)
		for (option = *groups; option->name; option++)
			if (strlen(option->name) >= len && same_name(option->name, given, len))
				return option;
	return NULL;
}

static const struct option *find_letter(const struct option *const *groups, char letter)
{
	const struct option *option;

	for (; *groups; groups++)
		for (option = *groups; option->name; option++)
			if (option->letter == letter)
				return option;
	return NULL;
}

static int set_number(const struct option *option, const char *value, struct err *err)
{
	char *end;

	errno = 0;
	if (option->type == OPTION_NUMBER) {
		long long number = strtoll(value, &end, 10);

		if (errno || end == value || *end || number < 0)
			return err_set(err, ERR_USAGE, "--%s wants a whole number, not '%s'",
				       option->name, value);
		*(long long *)option->dest = number;
	} else {
		double number = strtod(value, &end);

		if (errno || end == value || *end || !(number >= 0) || isinf(number))
			return err_set(err, ERR_USAGE, "--%s wants a number, not '%s'",
				       option->name, value);
		*(double *)option->dest = number;
	}
	return 0;
}

static int set_value(const struct option *option, const char *value, struct err *err)
{
	switch (option->type) {
	case OPTION_FLAG:
		*(bool *)option->dest = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)option->dest = value;
		return 0;
	case OPTION_LIST:
		option_list_add(option->dest, value);
		return 0;
	case OPTION_NUMBER:
	case OPTION_REAL:
		return set_number(option, value, err);
	}
	return 0;
}

/* Sets one option whose value is `inline_value`, else the next argument. */
static int take(const struct option *option, const char *inline_value, int argc, char **argv,
		int *at, struct err *err)
{
	if (option->type == OPTION_FLAG) {
		if (inline_value)
			return err_set(err, ERR_USAGE, "--%s takes no value", option->name);
		return set_value(option, NULL, err);
	}
	if (inline_value)
		return set_value(option, inline_value, err);
	if (*at + 1 >= argc)
		return err_set(err, ERR_USAGE, "--%s wants a value: --%s %s", option->name,
			       option->name, option->value);
	return set_value(option, argv[++*at], err);
}

static int take_long(const struct option *const *groups, int argc, char **argv, int *at,
		     struct err *err)
{
	const char *given = argv[*at] + 2;
	const char *equals = strchr(given, '=');
	size_t len = equals ? (size_t)(equals - given) : strlen(given);
	const struct option *option = find_long(groups, given, len);

	if (!option)
		return err_set(err, ERR_USAGE, "unknown option '--%.*s' (see --help)",
			       (int)(len > 64 ? 64 : len), given);
	return take(option, equals ? equals + 1 : NULL, argc, argv, at, err);
}

static int take_letters(const struct option *const *groups, int argc, char **argv, int *at,
			struct err *err)
{
	const char *given = argv[*at] + 1;

	for (; *given; given++) {
		const struct option *option = find_letter(groups, *given);

		if (!option)
			return err_set(err, ERR_USAGE, "unknown option '-%c' (see --help)", *given);
		if (option->type != OPTION_FLAG)
			return take(option, given[1] ? given + 1 : NULL, argc, argv, at, err);
		set_value(option, NULL, err);
	}
	return 0;
}

int options_parse(const struct option *const *groups, int argc, char **argv, struct err *err)
{
	int operands = 0;
	int at;

	for (at = 0; at < argc; at++) {
		char *word = argv[at];
		int failed = 0;

		if (strcmp(word, "--") == 0) {
			for (at++; at < argc; at++)
				argv[operands++] = argv[at];
			break;
		}
		if (word[0] != '-' || !word[1])
			argv[operands++] = word;
		else if (word[1] == '-')
			failed = take_long(groups, argc, argv, &at, err);
		else
			failed = take_letters(groups, argc, argv, &at, err);
		if (failed)
			return -1;
	}
	return operands;
}

/* Prints `help` wrapped at HELP_WIDTH, continuing at HELP_COLUMN. */
static void print_help(const char *help, FILE *out)
{
	int column = HELP_COLUMN;

	while (*help) {
		int len = (int)strcspn(help, " ");

		if (column + len > HELP_WIDTH && column > HELP_COLUMN) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		fprintf(out, "%.*s", len, help);
		column += len;
		help += len;
		if (*help == ' ') {
			help++;
			if (*help && column < HELP_WIDTH) {
				fputc(' ', out);
				column++;
			}
		}
	}
	fputc('\n', out);
}

void options_print(const struct option *table, FILE *out)
{
	for (; table->name; table++) {
		char left[64];
		int len;

		if (!table->help)
			continue;
		len = snprintf(left, sizeof(left), "  %c%c%s--%s%s%s", table->letter ? '-' : ' ',
			       table->letter ? table->letter : ' ', table->letter ? ", " : "  ",
			       table->name, table->value ? " " : "",
			       table->value ? table->value : "");
		fputs(left, out);
		if (len + 2 > HELP_COLUMN)
			fprintf(out, "\n%*s", HELP_COLUMN, "");
		else
			fprintf(out, "%*s", HELP_COLUMN - len, "");
		print_help(table->help, out);
	}
}

void option_list_add(struct option_list *list, const char *value)
{
	list->values = xreallocarray(list->values, list->count + 1, sizeof(*list->values));
	list->values[list->count++] = value;
}

void option_list_release(struct option_list *list)
{
	free(list->values);
	list->values = NULL;
	list->count = 0;
}

/*
 * The -c/--config values of a run, cleaned of secrets. Buck2 records them since
 * 2024-12 (BuckconfigInputValues); before that they are taken from argv.
 */
#ifndef BR2_CLI_CONFIG_H
#define BR2_CLI_CONFIG_H

#include "model.h"

#include <stddef.h>

struct cli_config {
	struct config_value *values; /* texts owned; in the order given, the last of a key counts */
	size_t count;
	size_t bytes; /* that they take: none is added beyond CLI_CONFIG_MAX */
};

/* More than a command line can hold that gives each of its values a thousand letters. */
#define CLI_CONFIG_MAX ((size_t)1 << 20)

#define CLI_CONFIG_INIT    \
	{                  \
		NULL, 0, 0 \
	}

void cli_config_release(struct cli_config *config);
/* Replaces the values by those that argv gives, up to a lone "--". */
void cli_config_from_argv(struct cli_config *config, const struct str *argv, size_t argc);
/* Replaces the values by those of a record that were given on the command line. */
void cli_config_from_record(struct cli_config *config, const struct config_value *values,
			    size_t count);
/* The value that counts for section.key of any cell, borrowed; NULL: not given. */
struct str cli_config_get(const struct cli_config *config, const char *section, const char *key);

#endif

/*
 * The settings that .buckconfig files make, and the values that they come to;
 * only for buckconfig.c.
 */
#ifndef BR2_BUCKCONFIG_TABLE_H
#define BR2_BUCKCONFIG_TABLE_H

#include "util/err.h"
#include "util/str.h"

#include <stdbool.h>
#include <stddef.h>

struct setting {
	char *section, *key;
	char *raw;	/* as written */
	char *resolved; /* after interpolation; NULL: not asked for yet */
	char *origin;	/* path:line */
	bool resolving;
};

/* In the order read: the last one of a key counts. */
struct table {
	struct setting *settings;
	size_t count, cap;
};

/* Copies all that it is given. */
void table_add(struct table *table, const char *section, struct str key, struct str value,
	       const char *path, size_t line);
void table_release(struct table *table);
/* NULL: not set. Good until the next table_add(). */
struct setting *table_find(const struct table *table, struct str section, struct str key);
/* See buckconfig_get(). */
int table_get(const struct table *table, const char *section, const char *key,
	      const char **out_value, struct err *err);

#endif

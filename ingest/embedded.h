/*
 * SQL files that the build puts into the binary: the schema's steps in order,
 * and the canned views in the order in which they can be created.
 */
#ifndef BR2_EMBEDDED_H
#define BR2_EMBEDDED_H

#include <stddef.h>

struct embedded_sql {
	const char *name; /* file name without .sql; NULL ends the table */
	const char *text; /* NUL-terminated */
	size_t len;
};

extern const struct embedded_sql schema_steps[];
extern const struct embedded_sql canned_views[];

#endif

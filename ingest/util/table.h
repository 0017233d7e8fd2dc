/*
 * Text tables for people: columns as wide as their longest cell, numbers to the
 * right. Cells are shown as they are but for what a terminal would obey:
 * control characters, stray bytes and direction overrides appear escaped.
 */
#ifndef BR2_TABLE_H
#define BR2_TABLE_H

#include "util/buf.h"
#include "util/str.h"

#include <stdint.h>

struct table;

/* `names` (copied) are the header's cells. */
struct table *table_new(const char *const *names, size_t columns);
void table_free(struct table *table);

/* The next cell, row by row. A column whose cells are all numbers or unknown is right-aligned. */
void table_text(struct table *table, struct str text); /* NULL data: unknown */
void table_integer(struct table *table, int64_t number);
void table_real(struct table *table, double number, int decimals);
/* A real as it comes, six significant digits. */
void table_number(struct table *table, double number);
void table_unknown(struct table *table); /* shown as "-" */

/* Adds header and rows; the last column is not padded. `indent` spaces before each line. */
void table_add(const struct table *table, int indent, struct buf *buf);

/* Adds `text` with the escapes that cells get. */
void table_add_safe(struct buf *buf, struct str text);

#endif

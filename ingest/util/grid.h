/*
 * Text tables for people: columns as wide as their longest cell, numbers to the
 * right. Cells are shown as they are but for what a terminal would obey:
 * control characters, stray bytes and direction overrides appear escaped.
 */
#ifndef BR2_GRID_H
#define BR2_GRID_H

#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>
#include <stdint.h>

struct grid;

/* `names` (copied) are the header's cells. */
struct grid *grid_new(const char *const *names, size_t columns);
void grid_free(struct grid *grid);

/* The next cell, row by row. A column whose cells are all numbers or unknown is right-aligned. */
void grid_text(struct grid *grid, struct str text); /* NULL data: unknown */
void grid_integer(struct grid *grid, int64_t number);
void grid_real(struct grid *grid, double number, int decimals);
/* A real as it comes, six significant digits. */
void grid_number(struct grid *grid, double number);
void grid_unknown(struct grid *grid); /* shown as "-" */

/* Adds header and rows; the last column is not padded. `indent` spaces before each line. */
void grid_add(const struct grid *grid, int indent, struct buf *buf);

#endif

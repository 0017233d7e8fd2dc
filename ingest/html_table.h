/*
 * Tables of a page: a header with scopes, columns of numbers to the right, unknown
 * values as a dash that is read as such; each in a container of its own, which
 * scrolls. Filled cell by cell, then added.
 */
#ifndef BR2_HTML_TABLE_H
#define BR2_HTML_TABLE_H

#include "store.h"
#include "util/buf.h"

#include <stddef.h>
#include <stdint.h>

struct html_table;

/* `columns` (copied) are those of a view, see html_add_heading(). */
struct html_table *html_table_new(const char *const *columns, size_t count);
void html_table_free(struct html_table *table);

/* The next cell, row by row. */
void html_cell_text(struct html_table *table, struct str text); /* NULL data: unknown */
void html_cell_integer(struct html_table *table, int64_t number);
void html_cell_real(struct html_table *table, double number, int decimals);
void html_cell_unknown(struct html_table *table);
/* A value as it comes from a view; reals with six significant digits. */
void html_cell(struct html_table *table, const struct value *value);
/* The cell that names its row. */
void html_cell_name(struct html_table *table, struct str name);

/* `label` names the container for those who cannot see it. */
void html_table_add(const struct html_table *table, const char *label, struct buf *html);

#endif

#include "util/grid.h"

#include "util/mem.h"
#include "util/number.h"
#include "util/safe.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct column {
	size_t width;
	bool has_text; /* some cell is neither a number nor unknown */
};

struct grid {
	struct column *columns;
	size_t column_count;
	char **cells; /* the header first */
	size_t cell_count, cell_cap;
};

/* Columns on screen of escaped text: characters, combining ones not counted. */
static size_t width_of(const char *text)
{
	size_t len = strlen(text);
	size_t at = 0;
	size_t width = 0;

	while (at < len) {
		uint32_t code = 0;
		size_t size = utf8_read(text + at, len - at, &code);

		width += !(code >= 0x300 && code <= 0x36f);
		at += size ? size : 1;
	}
	return width;
}

static void put(struct grid *grid, char *cell, bool is_text)
{
	struct column *column = &grid->columns[grid->cell_count % grid->column_count];
	size_t width = width_of(cell);

	if (grid->cell_count == grid->cell_cap) {
		grid->cell_cap = grid->cell_cap ? grid->cell_cap * 2 : 64;
		grid->cells = xreallocarray(grid->cells, grid->cell_cap, sizeof(*grid->cells));
	}
	grid->cells[grid->cell_count++] = cell;
	if (width > column->width)
		column->width = width;
	column->has_text |= is_text;
}

static char *safe_copy(struct str text)
{
	struct buf buf = BUF_INIT;

	safe_add(&buf, text);
	return buf_detach(&buf);
}

struct grid *grid_new(const char *const *names, size_t columns)
{
	struct grid *grid = xcalloc(1, sizeof(*grid));
	size_t i;

	grid->column_count = columns;
	grid->columns = xcalloc(columns, sizeof(*grid->columns));
	for (i = 0; i < columns; i++)
		put(grid, safe_copy(str_of(names[i])), false);
	return grid;
}

void grid_free(struct grid *grid)
{
	size_t i;

	if (!grid)
		return;
	for (i = 0; i < grid->cell_count; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(grid->columns);
	free(grid);
}

void grid_text(struct grid *grid, struct str text)
{
	if (text.data)
		put(grid, safe_copy(text), true);
	else
		grid_unknown(grid);
}

void grid_integer(struct grid *grid, int64_t number)
{
	put(grid, xasprintf("%" PRId64, number), false);
}

void grid_real(struct grid *grid, double number, int decimals)
{
	if (isfinite(number))
		put(grid, xasprintf("%.*f", decimals, number), false);
	else
		grid_unknown(grid);
}

void grid_number(struct grid *grid, double number)
{
	struct buf buf = BUF_INIT;

	number_add_short(&buf, number);
	if (buf.len)
		put(grid, buf_detach(&buf), false);
	else
		grid_unknown(grid);
}

void grid_unknown(struct grid *grid)
{
	put(grid, xstrdup("-"), false);
}

static void pad(struct buf *buf, size_t count)
{
	while (count--)
		buf_addch(buf, ' ');
}

static void end_line(struct buf *buf)
{
	while (buf->len && buf->data[buf->len - 1] == ' ')
		buf->len--;
	buf_addch(buf, '\n');
}

static void add_cell(const struct grid *grid, size_t index, struct buf *buf)
{
	size_t at = index % grid->column_count;
	const struct column *column = &grid->columns[at];
	const char *cell = grid->cells[index];
	size_t space = column->width - width_of(cell);
	bool last = at + 1 == grid->column_count;

	if (at)
		buf_addstr(buf, "  ");
	if (!column->has_text)
		pad(buf, space);
	buf_addstr(buf, cell);
	if (column->has_text && !last)
		pad(buf, space);
	if (last)
		end_line(buf);
}

void grid_add(const struct grid *grid, int indent, struct buf *buf)
{
	size_t i;

	for (i = 0; i < grid->cell_count; i++) {
		if (i % grid->column_count == 0)
			pad(buf, (size_t)indent);
		add_cell(grid, i, buf);
	}
}

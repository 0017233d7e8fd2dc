#include "compare_side.h"

#include "report_sql.h"
#include "util/grid.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- read ---- */

static int take_side(void *context, const struct row *row, struct err *err)
{
	struct compare_side *side = context;
	size_t i;

	(void)err;
	for (i = 0; i < SIDE_COLUMNS && i < row->count; i++) {
		side->values[i] = row->values[i];
		if (!row->values[i].text.data)
			continue;
		side->texts[i] = xmemdup0(row->values[i].text.data, row->values[i].text.len);
		side->values[i].text.data = side->texts[i];
	}
	return 1;
}

int compare_side_read(struct store *store, const char *run, struct compare_side *out_side,
		      struct err *err)
{
	struct param param = {":run", {.type = VALUE_TEXT, .text = str_of(run)}};

	memset(out_side, 0, sizeof(*out_side));
	if (store_query(store, report_sql("compare_side"), &param, 1, take_side, out_side, err) < 0)
		return -1;
	if (!out_side->values[SIDE_RUN].text.data)
		return err_set(err, ERR_USAGE, "no stored run is known by the trace id %s", run);
	return 0;
}

void compare_side_release(struct compare_side *side)
{
	size_t i;

	for (i = 0; i < SIDE_COLUMNS; i++)
		free(side->texts[i]);
	memset(side, 0, sizeof(*side));
}

/* ---- who they are ---- */

static void add_words(struct buf *buf, const struct value *value)
{
	if (value->type == VALUE_NULL)
		return;
	buf_addstr(buf, buf->len ? " " : "");
	buf_add(buf, value->text.data, value->text.len);
}

static void add_cell_text(struct grid *grid, const struct compare_side *side)
{
	static const enum compare_column parts[] = {SIDE_VARIANT, SIDE_MODE, SIDE_PASS, SIDE_TAG};
	struct buf text = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		add_words(&text, &side->values[parts[i]]);
	grid_text(grid, (struct str){text.len ? text.data : NULL, text.len});
	buf_release(&text);
}

static void add_text_row(struct grid *grid, const char *name, enum compare_column column,
			 const struct compare_side *a, const struct compare_side *b)
{
	grid_text(grid, str_of(name));
	grid_text(grid, a->values[column].text);
	grid_text(grid, b->values[column].text);
}

static struct str truth(const struct value *value)
{
	if (value->type == VALUE_NULL)
		return STR_NULL;
	return value->integer ? STR("yes") : STR("no");
}

static void add_identity(const struct compare *compare, const struct compare_side *a,
			 const struct compare_side *b, struct buf *buf)
{
	static const char *const names[] = {"", "A", "B"};
	struct grid *grid = grid_new(names, 3);

	add_text_row(grid, "run", SIDE_RUN, a, b);
	add_text_row(grid, "project", SIDE_PROJECT, a, b);
	grid_text(grid, STR("what"));
	add_cell_text(grid, a);
	add_cell_text(grid, b);
	add_text_row(grid, "salt", SIDE_SALT, a, b);
	add_text_row(grid, "started", SIDE_STARTED, a, b);
	add_text_row(grid, "log", SIDE_LOG, a, b);
	grid_text(grid, STR("succeeded"));
	grid_text(grid, truth(&a->values[SIDE_OK]));
	grid_text(grid, truth(&b->values[SIDE_OK]));
	grid_add(grid, 2, buf);
	grid_free(grid);
	if (*compare->how_a)
		buf_addf(buf, "A: %s\n", compare->how_a);
	if (*compare->how_b)
		buf_addf(buf, "B: %s\n", compare->how_b);
}

/* ---- what they used ---- */

static void add_number(struct grid *grid, const struct value *value, int decimals)
{
	if (value->type == VALUE_NULL)
		grid_unknown(grid);
	else if (value->type == VALUE_INTEGER)
		grid_integer(grid, value->integer);
	else
		grid_real(grid, value->real, decimals);
}

static double real_of(const struct value *value)
{
	return value->type == VALUE_INTEGER ? (double)value->integer : value->real;
}

static bool equal(const struct value *a, const struct value *b)
{
	return a->type == b->type && a->integer == b->integer && a->real == b->real;
}

/* What ran under other limits used other amounts for that reason alone. */
static bool may_differ_by_limit(enum compare_column column, const struct compare_side *a,
				const struct compare_side *b)
{
	if (column < SIDE_WALL || column > SIDE_RSS)
		return false;
	return !equal(&a->values[SIDE_LIMIT_MIN], &b->values[SIDE_LIMIT_MIN]) ||
	       !equal(&a->values[SIDE_LIMIT_MAX], &b->values[SIDE_LIMIT_MAX]);
}

static void add_change(struct grid *grid, const struct value *a, const struct value *b,
		       int decimals)
{
	if (a->type == VALUE_NULL || b->type == VALUE_NULL) {
		grid_unknown(grid);
		grid_unknown(grid);
		return;
	}
	if (a->type == VALUE_INTEGER && b->type == VALUE_INTEGER)
		grid_integer(grid, b->integer - a->integer);
	else
		grid_real(grid, real_of(b) - real_of(a), decimals);
	if (real_of(a) == 0)
		grid_unknown(grid);
	else
		grid_real(grid, real_of(b) / real_of(a), 2);
}

static const struct {
	const char *name;
	enum compare_column column;
	int decimals;
} figures[] = {
	{"seconds of the command", SIDE_SECONDS, 1},
	{"seconds from first to last result", SIDE_EXECUTING, 1},
	{"actions with a command", SIDE_ACTIONS, 0},
	{"  executed by the run itself", SIDE_EXECUTED, 0},
	{"  served from a cache", SIDE_HITS, 0},
	{"  without usage", SIDE_UNKNOWN, 0},
	{"failed actions", SIDE_FAILED, 0},
	{"suspected kills for memory", SIDE_KILLS, 0},
	{"wall s of the actions", SIDE_WALL, 1},
	{"cpu s", SIDE_CPU, 1},
	{"average cores while running", SIDE_CORES, 2},
	{"max RSS GiB, one process", SIDE_RSS, 2},
	{"smallest memory limit GiB", SIDE_LIMIT_MIN, 2},
	{"largest memory limit GiB", SIDE_LIMIT_MAX, 2},
};

static void add_figures(const struct compare_side *a, const struct compare_side *b, struct buf *buf)
{
	static const char *const names[] = {"", "A", "B", "B - A", "B / A"};
	static const struct value unknown = {.type = VALUE_NULL};
	struct grid *grid = grid_new(names, 5);
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		const struct value *left = &a->values[figures[i].column];
		const struct value *right = &b->values[figures[i].column];

		if (left->type == VALUE_NULL && right->type == VALUE_NULL)
			continue;
		grid_text(grid, str_of(figures[i].name));
		add_number(grid, left, figures[i].decimals);
		add_number(grid, right, figures[i].decimals);
		if (may_differ_by_limit(figures[i].column, a, b))
			left = right = &unknown;
		add_change(grid, left, right, figures[i].decimals);
	}
	buf_addch(buf, '\n');
	grid_add(grid, 2, buf);
	grid_free(grid);
}

void compare_side_add(const struct compare *compare, const struct compare_side *a,
		      const struct compare_side *b, struct buf *buf)
{
	add_identity(compare, a, b, buf);
	add_figures(a, b, buf);
}

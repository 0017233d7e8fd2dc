#include "compare.h"

#include "compare_side.h"
#include "output.h"
#include "report_sql.h"
#include "util/grid.h"
#include "util/safe.h"

#include <inttypes.h>
#include <string.h>

/* ---- questions ---- */

static int ask(struct store *store, const struct compare *compare, const char *name,
	       store_row_fn *row, void *context, struct err *err)
{
	struct param params[] = {
		{":a", {.type = VALUE_TEXT, .text = str_of(compare->a)}},
		{":b", {.type = VALUE_TEXT, .text = str_of(compare->b)}},
	};

	return store_query(store, report_sql(name), params, 2, row, context, err);
}

/* NULL where the row has no such column. */
static const struct value *value_of(const struct row *row, const char *name)
{
	static const struct value none = {.type = VALUE_NULL};
	size_t i;

	for (i = 0; i < row->count; i++)
		if (strcmp(row->names[i], name) == 0)
			return &row->values[i];
	return &none;
}

/* ---- what is counted by status ---- */

/* In the order of the page; from ONLY_A on they are not compared, and are named. */
enum status {
	SLOWER,
	FASTER,
	WITHIN_NOISE,
	SAME_DIGEST,
	ONLY_A,
	ONLY_B,
	NOT_KNOWN,
	OTHER_LIMIT,
	STATUSES /* another word, of a view that the user made */
};

static const struct {
	const char *status; /* as run_compare words it */
	const char *words;
} statuses[STATUSES] = {
	[SLOWER] = {"slower", "slower"},
	[FASTER] = {"faster", "faster"},
	[WITHIN_NOISE] = {"within noise", "within noise"},
	[SAME_DIGEST] = {"same digest", "one and the same execution"},
	[ONLY_A] = {"only in a", "only in A"},
	[ONLY_B] = {"only in b", "only in B"},
	[NOT_KNOWN] = {"unknown", "unknown (without usage)"},
	[OTHER_LIMIT] = {"other limit", "under other memory limits"},
};

struct counts {
	int64_t of[STATUSES];
};

static size_t status_of(struct str status)
{
	size_t i;

	for (i = 0; i < STATUSES; i++)
		if (str_is(status, statuses[i].status))
			break;
	return i;
}

static void add_counts(struct buf *buf, const char *what, const struct counts *counts)
{
	const char *separator = " ";
	size_t i;

	buf_addf(buf, "%s:", what);
	for (i = 0; i < STATUSES; i++) {
		if (!counts->of[i])
			continue;
		buf_addf(buf, "%s%" PRId64 " %s", separator, counts->of[i], statuses[i].words);
		separator = ", ";
	}
	buf_addstr(buf, separator[0] == ',' ? "\n" : " none\n");
}

static int take_words(void *context, const struct row *row, struct err *err)
{
	struct counts *counts = context;
	size_t status = status_of(row->values[0].text);

	(void)err;
	if (status < STATUSES)
		counts->of[status] += row->values[1].integer;
	return 0;
}

/* ---- packages ---- */

/* Columns of run_compare_packages that the page shows of what changed. */
static const struct {
	const char *column, *title;
} shown[] = {
	{"package", "package"},	    {"wall_a_s", "wall A s"},	{"wall_b_s", "wall B s"},
	{"wall_delta_s", "B - A"},  {"wall_ratio", "B / A"},	{"cpu_a_s", "cpu A s"},
	{"cpu_b_s", "cpu B s"},	    {"cores_a", "cores A"},	{"cores_b", "cores B"},
	{"max_rss_a_gib", "RSS A"}, {"max_rss_b_gib", "RSS B"}, {"actions_a", "actions A"},
	{"actions_b", "actions B"}, {"usual_s", "usual s"},	{"noise_s", "noise s"},
};

#define SHOWN (sizeof(shown) / sizeof(*shown))

struct page {
	const struct compare *compare;
	struct counts packages;
	struct grid *changed;
	int64_t changes;
	struct buf lists[STATUSES]; /* names of those that are not compared */
};

static void add_change(struct page *page, const struct row *row)
{
	size_t i;

	if (page->changes++ >= page->compare->top)
		return;
	for (i = 0; i < SHOWN; i++) {
		struct row cell = {
			.names = row->names, .values = value_of(row, shown[i].column), .count = 1};

		output_add_cells(&cell, page->changed);
	}
}

static void add_limit(struct buf *buf, const struct value *limit)
{
	if (limit->type == VALUE_NULL)
		buf_addstr(buf, "not known");
	else
		buf_addf(buf, "%g",
			 limit->type == VALUE_REAL ? limit->real : (double)limit->integer);
}

static void add_name(struct page *page, size_t status, const struct row *row)
{
	struct buf *list = &page->lists[status];

	if (page->packages.of[status] > page->compare->top)
		return;
	buf_addstr(list, list->len ? ", " : "");
	safe_add(list, value_of(row, "package")->text);
	if (status != OTHER_LIMIT)
		return;
	buf_addstr(list, " (");
	add_limit(list, value_of(row, "limit_a_gib"));
	buf_addstr(list, " and ");
	add_limit(list, value_of(row, "limit_b_gib"));
	buf_addstr(list, " GiB)");
}

static int take_package(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;
	struct str word = value_of(row, "status")->text;
	size_t status = status_of(word);

	(void)err;
	if (status == STATUSES)
		return 0;
	page->packages.of[status]++;
	if (status >= ONLY_A)
		add_name(page, status, row);
	else if (str_is(word, "slower") || str_is(word, "faster"))
		add_change(page, row);
	return 0;
}

static void add_changed(const struct page *page, struct buf *buf)
{
	int64_t count = page->changes < page->compare->top ? page->changes : page->compare->top;

	if (!page->changes || !count)
		return;
	buf_addf(buf, "\npackages that changed most: (%" PRId64 " of %" PRId64 " shown)\n", count,
		 page->changes);
	grid_add(page->changed, 2, buf);
}

static void add_lists(const struct page *page, struct buf *buf)
{
	size_t i;

	for (i = ONLY_A; i < STATUSES; i++) {
		int64_t more = page->packages.of[i] - page->compare->top;

		if (!page->lists[i].len)
			continue;
		buf_addf(buf, "packages %s: %s", statuses[i].words, page->lists[i].data);
		if (more > 0)
			buf_addf(buf, " and %" PRId64 " more", more);
		buf_addch(buf, '\n');
	}
}

static int take_rule(void *context, const struct row *row, struct err *err)
{
	enum { FLOOR_S, FLOOR_PCT, NOISE, REPEATS };
	const struct value *v = row->values;
	size_t i;

	for (i = 0; i < row->count; i++)
		if (v[i].type == VALUE_NULL)
			return err_set(err, ERR_USAGE,
				       "a setting compare_* is missing: it comes back as it was "
				       "shipped with the next ingest");
	buf_addf(context,
		 "\nA difference counts from %g s and %g %% of the shorter one on, and beyond %g "
		 "times "
		 "the\nmedian deviation of other runs where %g or more executed the same; settings "
		 "compare_*\nsay so. Times under other memory limits are not compared. cores are "
		 "averages, RSS is\none process. All rows: views run_compare_packages and "
		 "run_compare.\n",
		 v[FLOOR_S].real, v[FLOOR_PCT].real, v[NOISE].real, v[REPEATS].real);
	return 0;
}

static int add_packages(struct store *store, struct page *page, struct buf *buf, struct err *err)
{
	struct counts actions = {{0}};
	struct buf rule = BUF_INIT;
	int rc = -1;

	/* First, as without it no word of the others is known. */
	if (store_query(store, report_sql("compare_rule"), NULL, 0, take_rule, &rule, err) < 0 ||
	    ask(store, page->compare, "compare_packages", take_package, page, err) < 0 ||
	    ask(store, page->compare, "compare_words", take_words, &actions, err) < 0)
		goto out;
	buf_addch(buf, '\n');
	add_counts(buf, "packages", &page->packages);
	add_counts(buf, "actions", &actions);
	add_changed(page, buf);
	add_lists(page, buf);
	buf_add(buf, rule.data, rule.len);
	rc = 0;
out:
	buf_release(&rule);
	return rc;
}

static int show_packages(struct store *store, const struct compare *compare, struct buf *buf,
			 struct err *err)
{
	const char *titles[SHOWN];
	struct page page = {.compare = compare};
	size_t i;
	int rc;

	for (i = 0; i < SHOWN; i++)
		titles[i] = shown[i].title;
	for (i = 0; i < STATUSES; i++)
		buf_init(&page.lists[i]);
	page.changed = grid_new(titles, SHOWN);
	rc = add_packages(store, &page, buf, err);
	grid_free(page.changed);
	for (i = 0; i < STATUSES; i++)
		buf_release(&page.lists[i]);
	return rc;
}

/* ---- failures and kills ---- */

struct news {
	struct buf *buf;
	const char *title;
	int64_t count, top;
};

/* "  LABEL (IDENTIFIER): WORD, WORD" a line. */
static int take_news(void *context, const struct row *row, struct err *err)
{
	enum { LABEL, CATEGORY, IDENTIFIER, FIRST, SECOND };
	struct news *news = context;
	const struct value *v = row->values;

	(void)err;
	if (news->count++ >= news->top)
		return 0;
	if (news->count == 1)
		buf_addf(news->buf, "\n%s:\n", news->title);
	buf_addstr(news->buf, "  ");
	safe_add(news->buf, v[LABEL].text.data ? v[LABEL].text : STR("no known action"));
	if (v[IDENTIFIER].text.len) {
		buf_addstr(news->buf, " (");
		safe_add(news->buf, v[IDENTIFIER].text);
		buf_addch(news->buf, ')');
	}
	buf_addf(news->buf, ": %.*s", (int)v[FIRST].text.len, v[FIRST].text.data);
	if (v[SECOND].type == VALUE_INTEGER)
		buf_addf(news->buf, ", exit code %" PRId64, v[SECOND].integer);
	else if (v[SECOND].text.data)
		buf_addf(news->buf, ", confidence %s", v[SECOND].text.data);
	buf_addch(news->buf, '\n');
	return 0;
}

static int show_news(struct store *store, const struct compare *compare, const char *statement,
		     const char *title, struct buf *buf, struct err *err)
{
	struct news news = {buf, title, 0, compare->top};

	if (ask(store, compare, statement, take_news, &news, err) < 0)
		return -1;
	if (news.count > news.top)
		buf_addf(buf, "%s  and %" PRId64 " more\n", news.top ? "" : "\n",
			 news.count - news.top);
	return 0;
}

/* What failed stands in logs only: where one is gone, nothing is new for sure. */
static int show_failures(struct store *store, const struct compare *compare,
			 const struct compare_side *a, const struct compare_side *b,
			 struct buf *buf, struct err *err)
{
	bool a_gone = str_is(a->values[SIDE_LOG].text, "gone");

	if (str_is(b->values[SIDE_LOG].text, "gone")) {
		buf_addstr(buf, "\nfailures of B are not known: its log is gone\n");
		return 0;
	}
	if (show_news(store, compare, "compare_failures",
		      a_gone ? "failed in B (of A it is not known, as its log is gone)"
			     : "failed in B and not in A",
		      buf, err) < 0)
		return -1;
	return show_news(store, compare, "compare_kills", "suspected kills for memory, new in B",
			 buf, err);
}

/* ---- the whole ---- */

struct sides {
	struct compare_side a, b;
};

static int read_sides(struct store *store, const struct compare *compare, struct sides *sides,
		      struct err *err)
{
	memset(sides, 0, sizeof(*sides));
	if (compare_side_read(store, compare->a, &sides->a, err) < 0)
		return -1;
	return compare_side_read(store, compare->b, &sides->b, err);
}

static void release_sides(struct sides *sides)
{
	compare_side_release(&sides->a);
	compare_side_release(&sides->b);
}

int compare_check(struct store *store, const struct compare *compare, struct err *err)
{
	struct sides sides;
	int rc;

	if (strcmp(compare->a, compare->b) == 0)
		return err_set(err, ERR_USAGE, "A and B are the same run: %s", compare->a);
	rc = read_sides(store, compare, &sides, err);
	if (rc == 0 &&
	    !str_equal(sides.a.values[SIDE_PROJECT].text, sides.b.values[SIDE_PROJECT].text))
		rc = err_set(err, ERR_USAGE,
			     "A is a run of project %s, B of %s: only runs of one project are "
			     "compared%s",
			     sides.a.values[SIDE_PROJECT].text.data,
			     sides.b.values[SIDE_PROJECT].text.data,
			     /* A trace id, of which there is nothing to say, stays what it is. */
			     *compare->how_a || *compare->how_b
				     ? "; --project NAME says whose last run or salt is meant"
				     : "");
	release_sides(&sides);
	return rc;
}

int compare_text(struct store *store, const struct compare *compare, struct buf *buf,
		 struct err *err)
{
	struct sides sides;
	int rc = read_sides(store, compare, &sides, err);

	if (rc == 0) {
		compare_side_add(compare, &sides.a, &sides.b, buf);
		rc = show_packages(store, compare, buf, err);
	}
	if (rc == 0)
		rc = show_failures(store, compare, &sides.a, &sides.b, buf, err);
	release_sides(&sides);
	return rc;
}

/* ---- for programs ---- */

struct members {
	struct buf *buf;
	size_t rows;
};

static int add_object(void *context, const struct row *row, struct err *err)
{
	struct members *members = context;

	(void)err;
	buf_addstr(members->buf, members->rows++ ? ",\n  " : "");
	output_add_object(row, members->buf);
	return 0;
}

static int add_run(struct store *store, const char *run, struct members *members, struct err *err)
{
	struct param param = {":run", {.type = VALUE_TEXT, .text = str_of(run)}};

	return store_query(store, report_sql("compare_side"), &param, 1, add_object, members, err);
}

int compare_json(struct store *store, const struct compare *compare, struct buf *buf,
		 struct err *err)
{
	static const char *const names[] = {"packages", "actions", "failures", "kills"};
	struct members members = {buf, 0};
	size_t i;

	buf_addstr(buf, "{\"runs\": [");
	if (add_run(store, compare->a, &members, err) < 0 ||
	    add_run(store, compare->b, &members, err) < 0)
		return -1;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char statement[64];

		members.rows = 0;
		snprintf(statement, sizeof(statement), "compare_%s", names[i]);
		buf_addf(buf, "],\n \"%s\": [", names[i]);
		if (ask(store, compare, statement, add_object, &members, err) < 0)
			return -1;
	}
	buf_addstr(buf, "]}\n");
	return 0;
}

/*
 * Rows that are sums: what a transaction adds to them is gathered here and written
 * once, before its COMMIT, since many results of a slice add to the same few rows.
 */
#include "store_db.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are gathered; when there are more, all are written and it begins anew. */
#define ROWS_MAX 4096

enum total_way {
	TOTAL_ADD,
	TOTAL_STOP, /* added up, no further than to the largest integer: sums of hostile numbers */
	TOTAL_LEAST,
	TOTAL_GREATEST,
};

struct total_value {
	const char *param; /* ":" and the column's name, as those of keys */
	enum total_way way;
};

static const struct total_spec {
	const char *table;
	bool is_there; /* the row was made with its name */
	const char *keys[TOTAL_KEYS_MAX];
	struct total_value values[TOTAL_VALUES_MAX];
} specs[TOTAL_TABLES] = {
	[TOTAL_WORKER] = {"worker",
			  true,
			  {":worker_id"},
			  {{":results", TOTAL_ADD},
			   {":with_usage", TOTAL_ADD},
			   {":wall_ns", TOTAL_STOP},
			   {":cpu_ns", TOTAL_STOP},
			   {":failed", TOTAL_ADD},
			   {":rss_min_bytes", TOTAL_LEAST},
			   {":rss_max_bytes", TOTAL_GREATEST}}},
	[TOTAL_REQUEST] = {"request",
			   true,
			   {":request_id"},
			   {{":results", TOTAL_ADD},
			    {":with_usage", TOTAL_ADD},
			    {":wall_ns", TOTAL_STOP},
			    {":cpu_ns", TOTAL_STOP},
			    {":first_ns", TOTAL_LEAST},
			    {":last_ns", TOTAL_GREATEST}}},
	[TOTAL_BUCKET] = {"bucket_sum",
			  false,
			  {":bucket"},
			  {{":results", TOTAL_ADD},
			   {":wall_s", TOTAL_ADD},
			   {":wall_rest_ns", TOTAL_ADD},
			   {":cpu_s", TOTAL_ADD},
			   {":cpu_rest_ns", TOTAL_ADD},
			   {":rss_max_bytes", TOTAL_GREATEST}}},
	[TOTAL_PHASE] = {"phase_sum",
			 false,
			 {":phase_id"},
			 {{":known", TOTAL_ADD},
			  {":skewed", TOTAL_ADD},
			  {":total_s", TOTAL_ADD},
			  {":total_rest_ns", TOTAL_ADD},
			  {":max_ns", TOTAL_GREATEST}}},
	[TOTAL_SIZE] = {"size_count",
			false,
			{":allotment_id", ":category_id", ":kind", ":size", ":project_id"},
			{{":results", TOTAL_ADD},
			 {":wall_s", TOTAL_ADD},
			 {":wall_rest_ns", TOTAL_ADD}}},
	[TOTAL_BUSY] = {"busy_sum",
			false,
			{":allotment_id", ":project_id"},
			{{":results", TOTAL_ADD},
			 {":known", TOTAL_ADD},
			 {":busy_high", TOTAL_ADD},
			 {":busy_low", TOTAL_ADD},
			 {":cpu_high", TOTAL_ADD},
			 {":cpu_low", TOTAL_ADD},
			 {":held_high", TOTAL_ADD},
			 {":held_low", TOTAL_ADD}}},
	[TOTAL_ACTIONS] = {"action_count",
			   false,
			   {":run_id", ":type", ":execution_kind", ":failed"},
			   {{":actions", TOTAL_ADD}}},
};

/* The two statements of a table. */
static enum statement_id put_id(int64_t table)
{
	return (enum statement_id)(ST_TOTAL_FIRST + 2 * table);
}

static enum statement_id drop_id(int64_t table)
{
	return (enum statement_id)(put_id(table) + 1);
}

struct totals {
	struct total_row rows[ROWS_MAX];
	size_t count;
	struct hashmap index; /* by table and keys; what it forgets gets a second row */
};

/* ---- gathering ---- */

static int64_t add_up_to_largest(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t merged(enum total_way way, int64_t a, int64_t b)
{
	switch (way) {
	case TOTAL_ADD:
		return a + b;
	case TOTAL_STOP:
		return add_up_to_largest(a, b);
	case TOTAL_LEAST:
		return a == UNKNOWN || (b != UNKNOWN && b < a) ? b : a;
	case TOTAL_GREATEST:
		break;
	}
	return a == UNKNOWN || (b != UNKNOWN && b > a) ? b : a;
}

static void merge(struct total_row *into, const struct total_row *row)
{
	const struct total_spec *spec = &specs[row->table];
	size_t i;

	for (i = 0; i < TOTAL_VALUES_MAX && spec->values[i].param; i++)
		into->values[i] = merged(spec->values[i].way, into->values[i], row->values[i]);
}

static struct totals *totals_of(struct store *store)
{
	if (!store->totals) {
		store->totals = xcalloc(1, sizeof(*store->totals));
		hashmap_init(&store->totals->index, ROWS_MAX,
			     ROWS_MAX * offsetof(struct total_row, values));
	}
	return store->totals;
}

int totals_add(struct store *store, const struct total_row *row, struct err *err)
{
	struct totals *totals = totals_of(store);
	size_t key_size = offsetof(struct total_row, values);
	int64_t at;

	if (hashmap_get(&totals->index, row, key_size, &at)) {
		merge(&totals->rows[at], row);
		return 0;
	}
	if (totals->count == ROWS_MAX && totals_put(store, err) < 0)
		return -1;
	hashmap_put(&totals->index, row, key_size, (int64_t)totals->count);
	totals->rows[totals->count++] = *row;
	return 0;
}

/* ---- writing ---- */

static void add_keys(struct buf *sql, const struct total_spec *spec)
{
	size_t i;

	for (i = 0; i < TOTAL_KEYS_MAX && spec->keys[i]; i++)
		buf_addf(sql, "%s%s = %s", i ? " AND " : "", spec->keys[i] + 1, spec->keys[i]);
}

static void add_columns(struct buf *sql, const struct total_spec *spec, size_t skip)
{
	size_t i;

	for (i = 0; i < TOTAL_KEYS_MAX && spec->keys[i]; i++)
		buf_addf(sql, "%s%s", i ? ", " : "", spec->keys[i] + skip);
	for (i = 0; i < TOTAL_VALUES_MAX && spec->values[i].param; i++)
		buf_addf(sql, ", %s", spec->values[i].param + skip);
}

static void add_merge(struct buf *sql, const struct total_value *value)
{
	static const char *const ways[] = {
		[TOTAL_ADD] = "%s = %s + :%s",
		[TOTAL_STOP] = "%s = %s + min(:%s, 9223372036854775807 - %s)",
		[TOTAL_LEAST] = "%s = coalesce(min(%s, :%s), %s, :%s)",
		[TOTAL_GREATEST] = "%s = coalesce(max(%s, :%s), %s, :%s)",
	};
	const char *way = ways[value->way];

	for (; *way; way++)
		if (way[0] == '%' && way[1] == 's') {
			buf_addstr(sql, value->param + 1);
			way++;
		} else {
			buf_addch(sql, *way);
		}
}

/* "UPDATE …" or "INSERT … ON CONFLICT DO UPDATE …": each column is named up to five times. */
static void make_put_sql(struct buf *sql, const struct total_spec *spec)
{
	size_t i;

	if (spec->is_there) {
		buf_addf(sql, "UPDATE %s SET ", spec->table);
	} else {
		buf_addf(sql, "INSERT INTO %s (", spec->table);
		add_columns(sql, spec, 1);
		buf_addstr(sql, ") VALUES (");
		add_columns(sql, spec, 0);
		buf_addstr(sql, ") ON CONFLICT DO UPDATE SET ");
	}
	for (i = 0; i < TOTAL_VALUES_MAX && spec->values[i].param; i++) {
		buf_addstr(sql, i ? ", " : "");
		add_merge(sql, &spec->values[i]);
	}
	if (spec->is_there) {
		buf_addstr(sql, " WHERE ");
		add_keys(sql, spec);
	}
}

static void make_drop_sql(struct buf *sql, const struct total_spec *spec)
{
	buf_addf(sql, "DELETE FROM %s WHERE %s = 0 AND ", spec->table, spec->values[0].param + 1);
	add_keys(sql, spec);
}

static struct statement *use_sql(struct store *store, enum statement_id id,
				 const struct total_spec *spec,
				 void (*make)(struct buf *sql, const struct total_spec *spec))
{
	struct buf sql = BUF_INIT;
	struct statement *s;

	if (!store->statements[id].handle)
		make(&sql, spec);
	s = db_use(store, id, sql.data);
	buf_release(&sql);
	return s;
}

static void bind_keys(struct statement *s, const struct total_row *row)
{
	const char *const *keys = specs[row->table].keys;
	size_t i;

	for (i = 0; i < TOTAL_KEYS_MAX && keys[i]; i++)
		bind_int(s, keys[i], row->keys[i]);
}

static int put_row(struct store *store, const struct total_row *row, struct err *err)
{
	const struct total_spec *spec = &specs[row->table];
	struct statement *s = use_sql(store, put_id(row->table), spec, make_put_sql);
	size_t i;

	if (!spec->is_there)
		bind_keys(s, row);
	for (i = 0; i < TOTAL_VALUES_MAX && spec->values[i].param; i++)
		bind_int(s, spec->values[i].param, row->values[i]);
	if (spec->is_there)
		bind_keys(s, row);
	return db_done(s, err);
}

/* Where nobody is left there is no row. */
static int drop_row(struct store *store, const struct total_row *row, struct err *err)
{
	struct statement *s =
		use_sql(store, drop_id(row->table), &specs[row->table], make_drop_sql);

	bind_keys(s, row);
	return db_done(s, err);
}

static bool changes_nothing(const struct total_row *row)
{
	size_t i;

	for (i = 0; i < TOTAL_VALUES_MAX; i++)
		if (row->values[i])
			return false;
	return true;
}

/*
 * In the order in which they were begun: two rows of one key are its history, so a
 * table's row never falls below what it stood for at some time.
 */
int totals_put(struct store *store, struct err *err)
{
	struct totals *totals = store->totals;
	size_t i;

	for (i = 0; totals && i < totals->count; i++) {
		const struct total_row *row = &totals->rows[i];

		if (changes_nothing(row))
			continue;
		if (put_row(store, row, err) < 0 ||
		    (row->values[0] < 0 && drop_row(store, row, err) < 0))
			return -1;
	}
	totals_forget(store);
	return 0;
}

void totals_forget(struct store *store)
{
	if (!store->totals || !store->totals->count)
		return;
	store->totals->count = 0;
	hashmap_clear(&store->totals->index);
}

void totals_free(struct store *store)
{
	if (store->totals)
		hashmap_release(&store->totals->index);
	free(store->totals);
	store->totals = NULL;
}

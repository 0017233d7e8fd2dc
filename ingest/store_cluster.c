/*
 * How containers ended, as pods and Prometheus say it. Any order of lists and
 * questions gives equal rows: what is unknown is filled in, of two known values
 * the greater stays (restart counts only grow; all else is said once).
 */
#include "store_db.h"

#include "util/intervals.h"

/* ---- rows that several answers complete ---- */

#define KEYS_MAX 4
#define VALUES_MAX 6

/* A table; the parameter of a column is ":" and its name. */
struct merge {
	enum statement_id id;
	const char *table;
	const char *keys[KEYS_MAX + 1], *values[VALUES_MAX + 1]; /* end with NULL */
};

static const struct merge merge_termination = {
	.id = ST_TERMINATION_PUT,
	.table = "termination",
	.keys = {"pod_id", "container", "finished_ns", "layer"},
	.values = {"started_ns", "exit_code", "signal", "reason", "container_id", "restarts"},
};
static const struct merge merge_oom_count = {
	.id = ST_OOM_COUNT_PUT,
	.table = "oom_count",
	.keys = {"pod_id", "container", "container_id", "last_ns"},
	.values = {"first_ns", "count"},
};

/* Every column with `before` in front of it, and a separator between two. */
static void add_columns(struct buf *sql, const char *const *columns, const char *before,
			const char *separator)
{
	size_t i;

	for (i = 0; columns[i]; i++)
		buf_addf(sql, "%s%s%s", i ? separator : "", before, columns[i]);
}

/* The known one of two values; of two known ones the greater. */
static void add_merged(struct buf *sql, const char *column, const char *operator)
{
	buf_addf(sql, "%s%scoalesce(max(%s, excluded.%s), %s, excluded.%s)", column, operator,
		 column, column, column, column);
}

static void add_each_merged(struct buf *sql, const char *const *columns, const char *operator,
			    const char * separator)
{
	size_t i;

	for (i = 0; columns[i]; i++) {
		buf_addstr(sql, i ? separator : "");
		add_merged(sql, columns[i], operator);
	}
}

static struct statement *use_merge(struct store *store, const struct merge *merge)
{
	struct buf sql = BUF_INIT;
	struct statement *s;

	buf_addf(&sql, "INSERT INTO %s (", merge->table);
	add_columns(&sql, merge->keys, "", ", ");
	add_columns(&sql, merge->values, ", ", "");
	buf_addstr(&sql, ") VALUES (");
	add_columns(&sql, merge->keys, ":", ", ");
	add_columns(&sql, merge->values, ", :", "");
	buf_addstr(&sql, ") ON CONFLICT (");
	add_columns(&sql, merge->keys, "", ", ");
	buf_addstr(&sql, ") DO UPDATE SET ");
	add_each_merged(&sql, merge->values, " = ", ", ");
	buf_addstr(&sql, " WHERE "); /* a row that says nothing new is not written */
	add_each_merged(&sql, merge->values, " IS NOT ", " OR ");
	s = db_use(store, merge->id, sql.data);
	buf_release(&sql);
	return s;
}

/* A key's part; its table says '' where it is not known. */
static void bind_key(struct statement *s, const char *name, struct str text)
{
	bind_text(s, name, text.data ? text : STR(""));
}

/* ---- pods ---- */

int pod_intern(struct store *store, struct str namespace, struct str name, int64_t *out_pod_id,
	       struct err *err)
{
	struct statement *s = db_use(store, ST_POD_PUT,
				     "INSERT INTO pod (namespace, name) VALUES (:namespace, :name)"
				     " ON CONFLICT DO NOTHING");

	bind_key(s, ":namespace", namespace);
	bind_text(s, ":name", name);
	if (db_done(s, err) < 0)
		return -1;
	s = db_use(store, ST_POD_SELECT,
		   "SELECT pod_id FROM pod WHERE namespace = :namespace AND name = :name");
	bind_key(s, ":namespace", namespace);
	bind_text(s, ":name", name);
	if (db_row(s, err) < 0)
		return -1;
	*out_pod_id = column_int(s, 0);
	db_reset(s);
	return 0;
}

/* ---- what befell them ---- */

int store_put_termination(struct store *store, const struct termination *end, struct err *err)
{
	struct statement *s;
	int64_t pod_id;

	if (end->finished_ns == UNKNOWN)
		return 0;
	if (pod_intern(store, end->namespace, end->pod, &pod_id, err) < 0)
		return -1;
	s = use_merge(store, &merge_termination);
	bind_int(s, ":pod_id", pod_id);
	bind_key(s, ":container", end->container);
	bind_int(s, ":finished_ns", end->finished_ns);
	bind_int(s, ":layer", end->layer);
	bind_int(s, ":started_ns", end->started_ns);
	bind_int(s, ":exit_code", end->exit_code);
	bind_int(s, ":signal", end->signal);
	bind_text(s, ":reason", end->reason);
	bind_text(s, ":container_id", end->container_id);
	bind_int(s, ":restarts", end->restarts);
	return db_done(s, err);
}

int store_put_oom_count(struct store *store, const struct oom_count *oom, struct err *err)
{
	struct statement *s;
	int64_t pod_id;

	if (pod_intern(store, oom->namespace, oom->pod, &pod_id, err) < 0)
		return -1;
	s = use_merge(store, &merge_oom_count);
	bind_int(s, ":pod_id", pod_id);
	bind_key(s, ":container", oom->container);
	bind_key(s, ":container_id", oom->container_id);
	bind_int(s, ":last_ns", oom->last_ns);
	bind_int(s, ":first_ns", oom->first_ns);
	bind_int(s, ":count", oom->count);
	return db_done(s, err);
}

/* ---- what was looked at ---- */

static void bind_look_key(struct statement *s, const struct look *look)
{
	bind_int(s, ":layer", look->layer);
	bind_text(s, ":cache", str_of(look->cache));
	bind_text(s, ":selector", str_of(look->selector));
}

static void bind_look(struct statement *s, const struct look *look, struct interval span)
{
	bind_look_key(s, look);
	bind_int(s, ":from", span.from);
	bind_int(s, ":to", span.to);
}

/* 1: a stored look covers it all; 0; -1. */
static int is_looked_at(struct store *store, const struct look *look, struct interval span,
			struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOK_COVERS,
		       "SELECT 1 FROM layer_look WHERE layer = :layer AND cache = :cache"
		       " AND selector = :selector AND from_ns <= :from AND to_ns >= :to");
	int found;

	bind_look(s, look, span);
	found = db_step(s, err);
	db_reset(s);
	return found;
}

/* Widens `span` to the stored looks that it touches: those touch no others. */
static int widen(struct store *store, const struct look *look, struct interval *span,
		 struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOK_TOUCHED,
		       "SELECT min(ifnull(min(from_ns), :from), :from),"
		       " max(ifnull(max(to_ns), :to), :to) FROM layer_look"
		       " WHERE layer = :layer AND cache = :cache AND selector = :selector"
		       " AND from_ns <= :to AND to_ns >= :from");

	bind_look(s, look, *span);
	if (db_row(s, err) < 0)
		return -1;
	*span = (struct interval){column_int(s, 0), column_int(s, 1)};
	db_reset(s);
	return 0;
}

static int drop_looks(struct store *store, const struct look *look, struct interval span,
		      struct err *err)
{
	struct statement *s =
		db_use(store, ST_LOOK_DROP,
		       "DELETE FROM layer_look WHERE layer = :layer AND cache = :cache"
		       " AND selector = :selector AND from_ns >= :from AND to_ns <= :to");

	bind_look(s, look, span);
	return db_done(s, err);
}

int store_put_look(struct store *store, const struct look *look, struct interval span,
		   struct err *err)
{
	int known = is_looked_at(store, look, span, err);
	struct statement *s;

	if (known)
		return known < 0 ? -1 : 0;
	if (widen(store, look, &span, err) < 0 || drop_looks(store, look, span, err) < 0)
		return -1;
	s = db_use(store, ST_LOOK_PUT,
		   "INSERT INTO layer_look (layer, cache, selector, from_ns, to_ns)"
		   " VALUES (:layer, :cache, :selector, :from, :to)");
	bind_look(s, look, span);
	return db_done(s, err);
}

int store_get_looks(struct store *store, const struct look *look, struct intervals *out_looks,
		    struct err *err)
{
	struct statement *s = db_use(store, ST_LOOK_SELECT,
				     "SELECT from_ns, to_ns FROM layer_look WHERE layer = :layer"
				     " AND cache = :cache AND selector = :selector");
	int more;

	bind_look_key(s, look);
	while ((more = db_step(s, err)) > 0)
		intervals_add(out_looks, column_int(s, 0), column_int(s, 1));
	return more;
}

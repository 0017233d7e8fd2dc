/*
 * What pods and Prometheus say. Any order of lists and questions gives equal
 * rows: what is unknown is filled in, of two known values the greater stays
 * (restart counts only grow; all else that ends a container is said once).
 */
#include "store_db.h"

#include "util/intervals.h"

/* The known one of two values; of two known ones the greater. */
#define MERGED(column) \
	"coalesce(max(" column ", excluded." column "), " column ", excluded." column ")"
#define MERGE(column) column " = " MERGED(column)
#define DIFFERS(column) column " IS NOT " MERGED(column)

/* A key's part; its table says '' where it is not known. */
static void bind_key(struct statement *s, const char *name, struct str text)
{
	bind_text(s, name, text.data ? text : STR(""));
}

/* ---- pods ---- */

static int merge_pod(struct store *store, struct str namespace, struct str name, struct str uid,
		     struct str node, struct err *err)
{
	struct statement *s =
		db_use(store, ST_POD_PUT,
		       "INSERT INTO pod (namespace, name, uid, node)"
		       " VALUES (:namespace, :name, :uid, :node) ON CONFLICT (namespace, name)"
		       " DO UPDATE SET " MERGE("uid") ", " MERGE("node") " WHERE " DIFFERS(
			       "uid") " OR " DIFFERS("node"));

	bind_key(s, ":namespace", namespace);
	bind_text(s, ":name", name);
	bind_text(s, ":uid", uid);
	bind_text(s, ":node", node);
	return db_done(s, err);
}

static int put_pod(struct store *store, struct str namespace, struct str name, struct str uid,
		   struct str node, int64_t *out_pod_id, struct err *err)
{
	struct statement *s;

	if (merge_pod(store, namespace, name, uid, node, err) < 0)
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

int store_put_container(struct store *store, const struct container_spec *spec, struct err *err)
{
	struct statement *s;
	int64_t pod_id;

	if (put_pod(store, spec->namespace, spec->pod, spec->uid, spec->node, &pod_id, err) < 0)
		return -1;
	s =
		db_use(store, ST_CONTAINER_PUT,
		       "INSERT INTO container (pod_id, name, cpu_request_milli, cpu_limit_milli,"
		       " memory_request_bytes, memory_limit_bytes, restarts) VALUES (:pod, :name,"
		       " :cpu_request, :cpu_limit, :memory_request, :memory_limit, :restarts)"
		       " ON CONFLICT DO UPDATE SET " MERGE("cpu_request_milli") ", " MERGE("cpu_"
											   "limit_"
											   "milli") ", " MERGE("memory_request_bytes") ", " MERGE("memory_limit_bytes") ", " MERGE(
			       "restarts") " WHERE " DIFFERS("cpu_request_milli") " OR " DIFFERS("c"
												 "p"
												 "u"
												 "_"
												 "l"
												 "i"
												 "m"
												 "i"
												 "t"
												 "_"
												 "m"
												 "i"
												 "l"
												 "l"
												 "i") " OR " DIFFERS("memory_request_bytes") " OR " DIFFERS("memory_limit_bytes") " OR " DIFFERS("restarts"));
	bind_int(s, ":pod", pod_id);
	bind_key(s, ":name", spec->container);
	bind_int(s, ":cpu_request", spec->cpu_request_millicores);
	bind_int(s, ":cpu_limit", spec->cpu_limit_millicores);
	bind_int(s, ":memory_request", spec->memory_request_bytes);
	bind_int(s, ":memory_limit", spec->memory_limit_bytes);
	bind_int(s, ":restarts", spec->restart_count);
	return db_done(s, err);
}

int store_put_termination(struct store *store, const struct termination *end, struct err *err)
{
	struct statement *s;
	int64_t pod_id;

	if (end->finished_ns == UNKNOWN)
		return 0;
	if (put_pod(store, end->namespace, end->pod, end->uid, STR_NULL, &pod_id, err) < 0)
		return -1;
	s = db_use(
		store, ST_TERMINATION_PUT,
		"INSERT INTO termination (pod_id, container, finished_ns, layer, started_ns,"
		" exit_code, signal, reason, container_id, restarts) VALUES (:pod, :container,"
		" :finished, :layer, :started, :exit_code, :signal, :reason, :container_id,"
		" :restarts) ON CONFLICT DO UPDATE SET " MERGE("started_ns") ", " MERGE("exit_code") ", " MERGE("signal") ", " MERGE("reason") ", " MERGE("container_id") ", " MERGE("restarts") " WHERE " DIFFERS(
			"started_ns") " OR " DIFFERS("exit_code") " OR " DIFFERS("signal") " OR"
											   " " DIFFERS("reason") " OR " DIFFERS("container_id") " OR " DIFFERS("restarts"));
	bind_int(s, ":pod", pod_id);
	bind_key(s, ":container", end->container);
	bind_int(s, ":finished", end->finished_ns);
	bind_int(s, ":layer", end->layer);
	bind_int(s, ":started", end->started_ns);
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

	if (put_pod(store, oom->namespace, oom->pod, STR_NULL, STR_NULL, &pod_id, err) < 0)
		return -1;
	s = db_use(store, ST_OOM_COUNT_PUT,
		   "INSERT INTO oom_count (pod_id, container, container_id, last_ns, first_ns,"
		   " count) VALUES (:pod, :container, :container_id, :last, :first, :count)"
		   " ON CONFLICT DO UPDATE SET " MERGE("first_ns") ", " MERGE(
			   "count") " WHERE " DIFFERS("first_ns") " OR " DIFFERS("count"));
	bind_int(s, ":pod", pod_id);
	bind_key(s, ":container", oom->container);
	bind_key(s, ":container_id", oom->container_id);
	bind_int(s, ":last", oom->last_ns);
	bind_int(s, ":first", oom->first_ns);
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

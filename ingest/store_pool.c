/* What the user says of workers: the chart's pools, and shapes that are thought of. */
#include "store_db.h"

#define SAID                                                                         \
	"enabled, instance_prefix, concurrency, cpu_request_milli, cpu_limit_milli," \
	" memory_request_bytes, memory_limit_bytes, workers_min, workers_max, cooldown_s"
#define SAID_NOW                                                                               \
	":enabled, :instance_prefix, :concurrency, :cpu_request, :cpu_limit, :memory_request," \
	" :memory_limit, :workers_min, :workers_max, :cooldown_s"

static void bind_pool(struct statement *s, const char *cache, const struct pool_spec *pool,
		      int64_t valid_from_ns)
{
	bind_text(s, ":cache", str_of(cache));
	bind_text(s, ":pool", pool->pool);
	bind_int(s, ":from", valid_from_ns);
	bind_int(s, ":enabled", pool->enabled);
	bind_text(s, ":instance_prefix", pool->instance_prefix);
	bind_int(s, ":concurrency", pool->concurrency);
	bind_int(s, ":cpu_request", pool->cpu_request_millicores);
	bind_int(s, ":cpu_limit", pool->cpu_limit_millicores);
	bind_int(s, ":memory_request", pool->memory_request_bytes);
	bind_int(s, ":memory_limit", pool->memory_limit_bytes);
	bind_int(s, ":workers_min", pool->workers_min);
	bind_int(s, ":workers_max", pool->workers_max);
	bind_int(s, ":cooldown_s", pool->cooldown_s);
}

/* 1: the row in force at that time says the same; 0; -1. */
static int is_in_force(struct store *store, const char *cache, const struct pool_spec *pool,
		       int64_t at_ns, struct err *err)
{
	struct statement *s = db_use(store, ST_POOL_SAME,
				     "SELECT (" SAID ") IS (" SAID_NOW ") FROM pool_spec"
				     " WHERE cache = :cache AND pool = :pool"
				     " AND valid_from_ns <= :from"
				     " ORDER BY valid_from_ns DESC LIMIT 1");
	int same;

	bind_pool(s, cache, pool, at_ns);
	same = db_step(s, err);
	if (same > 0)
		same = column_int(s, 0) != 0;
	db_reset(s);
	return same;
}

/* When the first later row says something else; UNKNOWN: none does. */
static int find_until(struct store *store, const char *cache, const struct pool_spec *pool,
		      int64_t from_ns, int64_t *out_ns, struct err *err)
{
	struct statement *s =
		db_use(store, ST_POOL_UNTIL,
		       "SELECT min(valid_from_ns) FROM pool_spec"
		       " WHERE cache = :cache AND pool = :pool"
		       " AND valid_from_ns > :from AND (" SAID ") IS NOT (" SAID_NOW ")");

	bind_pool(s, cache, pool, from_ns);
	if (db_row(s, err) < 0)
		return -1;
	*out_ns = column_int(s, 0);
	db_reset(s);
	return 0;
}

int store_pool_news(struct store *store, const char *cache, const struct pool_spec *pool,
		    int64_t valid_from_ns, int64_t *out_until_ns, struct err *err)
{
	int same = is_in_force(store, cache, pool, valid_from_ns, err);

	if (same < 0 || find_until(store, cache, pool, valid_from_ns, out_until_ns, err) < 0)
		return -1;
	return !same;
}

/*
 * Where somebody said since when, the row is kept though the one in force says the same: one that
 * is stored later, of a time between them, must not reach beyond it.
 */
int store_put_pool(struct store *store, const char *cache, const struct pool_spec *pool,
		   int64_t valid_from_ns, bool observed, struct err *err)
{
	int same = observed ? is_in_force(store, cache, pool, valid_from_ns, err) : 0;
	struct statement *s;

	if (same)
		return same < 0 ? -1 : 0;
	s = db_use(store, ST_POOL_PUT,
		   "INSERT INTO pool_spec (cache, pool, valid_from_ns, " SAID ")"
		   " VALUES (:cache, :pool, :from, " SAID_NOW ")"
		   " ON CONFLICT (cache, pool, valid_from_ns) DO UPDATE SET (" SAID ") = (" SAID_NOW
		   ") WHERE (" SAID ") IS NOT (" SAID_NOW ")");
	bind_pool(s, cache, pool, valid_from_ns);
	if (db_done(s, err) < 0)
		return -1;
	return db_changes(store) > 0;
}

int store_pools_besides(struct store *store, const char *cache, struct str names, int64_t at_ns,
			store_row_fn *row, void *context, struct err *err)
{
	struct param params[] = {
		{":cache", {.type = VALUE_TEXT, .text = str_of(cache)}},
		{":at", {.type = VALUE_INTEGER, .integer = at_ns}},
		{":names", {.type = VALUE_TEXT, .text = names}},
	};

	return store_query(
		store,
		"SELECT s.pool FROM pool_spec s WHERE s.cache = :cache AND s.enabled IS NOT 0"
		" AND s.valid_from_ns = (SELECT max(n.valid_from_ns) FROM pool_spec n"
		" WHERE n.cache = s.cache AND n.pool = s.pool AND n.valid_from_ns <= :at)"
		" AND s.pool NOT IN (SELECT value FROM json_each(:names)) ORDER BY s.pool",
		params, 3, row, context, err);
}

int store_count_uncovered(struct store *store, const char *cache, const char *pool,
			  int64_t *out_results, struct err *err)
{
	struct statement *s =
		db_use(store, ST_POOL_UNCOVERED,
		       "SELECT count(*) FROM result r JOIN lookup l ON l.lookup_id = r.lookup_id"
		       " JOIN instance i ON i.instance_id = l.instance_id AND i.cache = :cache"
		       " WHERE r.allotment_id IS NULL"
		       " AND r.worker_id IN (SELECT worker_id FROM _worker WHERE pool = :pool)"
		       " AND (SELECT coalesce(t.execution_start_ns, t.worker_start_ns, t.queued_ns)"
		       " FROM _time t WHERE t.result_id = r.result_id)"
		       " < (SELECT min(valid_from_ns) FROM pool_spec"
		       " WHERE cache = :cache AND pool = :pool)");

	bind_text(s, ":cache", str_of(cache));
	bind_text(s, ":pool", str_of(pool));
	if (db_row(s, err) < 0)
		return -1;
	*out_results = column_int(s, 0);
	db_reset(s);
	return 0;
}

int store_put_shape(struct store *store, const struct shape *shape, struct err *err)
{
	struct statement *s = db_use(
		store, ST_SHAPE_PUT,
		"INSERT INTO shape (shape, cpu_milli, memory_request_bytes, memory_limit_bytes)"
		" VALUES (:shape, :cpu, :request, :limit) ON CONFLICT (shape) DO UPDATE SET"
		" cpu_milli = :cpu, memory_request_bytes = :request, memory_limit_bytes = :limit"
		" WHERE (cpu_milli, memory_request_bytes, memory_limit_bytes)"
		" IS NOT (:cpu, :request, :limit)");

	bind_text(s, ":shape", shape->name);
	bind_int(s, ":cpu", shape->cpu_milli);
	bind_int(s, ":request", shape->memory_request_bytes);
	bind_int(s, ":limit", shape->memory_limit_bytes);
	if (db_done(s, err) < 0)
		return -1;
	return db_changes(store) > 0;
}

/*
 * What each execution was given: the requests and limits of its own container,
 * else those of its pool at that time. One rule, for a result that comes in and
 * for stored ones of whose pod or pool more was learned: that is noted in
 * allotment_due, in the transaction that learned it, and done in slices.
 *
 * check_allotments.sql says the same rule once more, in SQL alone.
 */
#include "store_db.h"

#include "util/mem.h"

#include <stdlib.h>

/* More workers than one ingest meets; what is forgotten is asked again. */
#define WORKERS_MAX 4096
/*
 * Results that are allotted anew in one transaction. Each moves in an index by package, whose
 * pages it finds in no order: so many still fit the page cache with 640,000 results, and a page
 * is written a third less often than with slices as new results have them.
 */
#define ALLOT_SLICE 4000

#define RESOURCES "cpu_request_milli, cpu_limit_milli, memory_request_bytes, memory_limit_bytes"
#define RESOURCE_COUNT 4

/* What is known of workers, until something changes or another process has written. */
struct allot {
	struct hashmap workers; /* worker_id -> see given_to() */
	char **pools;		/* names in pool_allotment */
	size_t pool_count;
	int64_t data_version;
	bool loaded;
};

static struct allot *allot_of(struct store *store)
{
	if (!store->allot) {
		store->allot = xcalloc(1, sizeof(*store->allot));
		hashmap_init(&store->allot->workers, WORKERS_MAX, WORKERS_MAX * sizeof(int64_t));
	}
	return store->allot;
}

void allot_forget(struct store *store)
{
	struct allot *allot = store->allot;
	size_t i;

	if (!allot)
		return;
	hashmap_clear(&allot->workers);
	for (i = 0; i < allot->pool_count; i++)
		free(allot->pools[i]);
	free(allot->pools);
	allot->pools = NULL;
	allot->pool_count = 0;
	allot->loaded = false;
}

void allot_free(struct store *store)
{
	if (!store->allot)
		return;
	allot_forget(store);
	hashmap_release(&store->allot->workers);
	free(store->allot);
	store->allot = NULL;
}

int allot_begin(struct store *store, struct err *err)
{
	struct statement *s;
	int64_t version;

	if (!store->allot)
		return 0;
	s = db_use(store, ST_DATA_VERSION, "SELECT data_version FROM pragma_data_version");
	if (db_row(s, err) < 0)
		return -1;
	version = column_int(s, 0);
	db_reset(s);
	if (version != store->allot->data_version)
		allot_forget(store);
	store->allot->data_version = version;
	return 0;
}

/* ---- rows of allotment ---- */

/* What was given; rows of allotment without its id. */
struct given {
	enum { GIVEN_BY_CONTAINER = 1, GIVEN_BY_POOL = 2 } source;
	struct str pool;
	int64_t resources[RESOURCE_COUNT];
};

static void bind_given(struct statement *s, const struct given *given)
{
	static const char *const params[RESOURCE_COUNT] = {":cpu_request", ":cpu_limit",
							   ":memory_request", ":memory_limit"};
	size_t i;

	bind_int(s, ":source", given->source);
	bind_text(s, ":pool", given->pool);
	for (i = 0; i < RESOURCE_COUNT; i++)
		bind_int(s, params[i], given->resources[i]);
}

static int intern(struct store *store, const struct given *given, int64_t *out_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_ALLOTMENT_INSERT,
		       "INSERT INTO allotment (source, pool, " RESOURCES ") VALUES (:source, :pool,"
		       " :cpu_request, :cpu_limit, :memory_request, :memory_limit)"
		       " ON CONFLICT DO NOTHING");

	bind_given(s, given);
	if (db_done(s, err) < 0)
		return -1;
	s = db_use(store, ST_ALLOTMENT_SELECT,
		   "SELECT allotment_id FROM allotment WHERE source = :source"
		   " AND ifnull(pool, '') = ifnull(:pool, '')"
		   " AND ifnull(cpu_request_milli, -1) = ifnull(:cpu_request, -1)"
		   " AND ifnull(cpu_limit_milli, -1) = ifnull(:cpu_limit, -1)"
		   " AND ifnull(memory_request_bytes, -1) = ifnull(:memory_request, -1)"
		   " AND ifnull(memory_limit_bytes, -1) = ifnull(:memory_limit, -1)");
	bind_given(s, given);
	if (db_row(s, err) < 0)
		return -1;
	*out_id = column_int(s, 0);
	db_reset(s);
	return 0;
}

/* ---- workers ---- */

static int load_pools(struct store *store, struct err *err)
{
	struct allot *allot = allot_of(store);
	struct statement *s;
	int more;

	if (allot->loaded)
		return 0;
	s = db_use(store, ST_ALLOT_POOLS, "SELECT DISTINCT pool FROM pool_allotment");
	while ((more = db_step(s, err)) > 0) {
		struct str name = column_text(s, 0);

		allot->pools =
			xreallocarray(allot->pools, allot->pool_count + 1, sizeof(*allot->pools));
		allot->pools[allot->pool_count++] = xmemdup0(name.data, name.len);
	}
	allot->loaded = more == 0;
	return more;
}

/* The pool's number among those of which something is known, from 1; 0: none. */
static int64_t number_of(const struct allot *allot, struct str pool)
{
	size_t i;

	for (i = 0; i < allot->pool_count; i++)
		if (str_is(pool, allot->pools[i]))
			return (int64_t)i + 1;
	return 0;
}

/* 1: one container is known, or all that are say the same; 0: none; -1; > 1: they do not agree. */
static int read_container(struct store *store, struct str pod, int64_t resources[RESOURCE_COUNT],
			  struct err *err)
{
	struct statement *s = db_use(
		store, ST_ALLOT_CONTAINER,
		"SELECT DISTINCT c.cpu_request_milli, c.cpu_limit_milli, c.memory_request_bytes,"
		" c.memory_limit_bytes, c.disputed FROM pod p JOIN container c ON c.pod_id = "
		"p.pod_id"
		" WHERE p.name = :pod"
		" AND c.name = (SELECT value FROM setting WHERE key = 'runner_container')"
		" AND (coalesce(" RESOURCES ") IS NOT NULL OR c.disputed)");
	int found, more = 0, i;

	bind_text(s, ":pod", pod);
	found = db_step(s, err);
	for (i = 0; found > 0 && i < RESOURCE_COUNT; i++)
		resources[i] = column_int(s, i);
	if (found > 0 && column_int(s, RESOURCE_COUNT))
		more = 1;
	else if (found > 0)
		more = db_step(s, err);
	db_reset(s);
	return more < 0 ? -1 : found + more;
}

/* Where pods of one name do not agree nothing is known, not even of the pool. */
static int decide_worker(struct store *store, struct str pool, struct str pod, int64_t *out,
			 struct err *err)
{
	struct given given = {.source = GIVEN_BY_CONTAINER, .pool = pool};
	int known = pod.data ? read_container(store, pod, given.resources, err) : 0;

	*out = known ? 0 : -number_of(store->allot, pool);
	return known == 1 ? intern(store, &given, out, err) : known < 0 ? -1 : 0;
}

static int read_worker(struct store *store, int64_t worker_id, int64_t *out, struct err *err)
{
	struct statement *s = db_use(store, ST_ALLOT_WORKER,
				     "SELECT pool, pod FROM _worker WHERE worker_id = :worker");
	int found;

	bind_int(s, ":worker", worker_id);
	*out = 0;
	found = db_step(s, err);
	if (found > 0)
		found = decide_worker(store, column_text(s, 0), column_text(s, 1), out, err);
	db_reset(s);
	return found < 0 ? -1 : 0;
}

/* > 0: its container's allotment; < 0: the negative number of its pool; 0: nothing is known. */
static int given_to(struct store *store, int64_t worker_id, int64_t *out, struct err *err)
{
	if (load_pools(store, err) < 0)
		return -1;
	if (hashmap_get(&store->allot->workers, &worker_id, sizeof(worker_id), out))
		return 0;
	if (read_worker(store, worker_id, out, err) < 0)
		return -1;
	hashmap_put(&store->allot->workers, &worker_id, sizeof(worker_id), *out);
	return 0;
}

/* ---- one execution ---- */

static int given_by_pool(struct store *store, const char *pool, const struct execution *execution,
			 int64_t *out_id, struct err *err)
{
	struct statement *s = db_use(
		store, ST_ALLOT_BY_POOL,
		"SELECT (SELECT s.allotment_id FROM pool_allotment s WHERE s.cache = i.cache"
		" AND s.pool = :pool AND s.valid_from_ns <= :start"
		" ORDER BY s.valid_from_ns DESC LIMIT 1) FROM lookup l"
		" JOIN instance i ON i.instance_id = l.instance_id WHERE l.lookup_id = :lookup");
	int found;

	bind_text(s, ":pool", str_of(pool));
	bind_int(s, ":start", execution->start_ns);
	bind_int(s, ":lookup", execution->lookup_id);
	found = db_step(s, err);
	*out_id = found > 0 ? column_int(s, 0) : UNKNOWN;
	db_reset(s);
	return found < 0 ? -1 : 0;
}

int allot_find(struct store *store, const struct execution *execution, int64_t *out_id,
	       struct err *err)
{
	int64_t given;

	*out_id = UNKNOWN;
	if (execution->worker_id == UNKNOWN)
		return 0;
	if (given_to(store, execution->worker_id, &given, err) < 0)
		return -1;
	if (given < 0)
		return given_by_pool(store, store->allot->pools[-given - 1], execution, out_id,
				     err);
	*out_id = given > 0 ? given : UNKNOWN;
	return 0;
}

/* ---- stored results ---- */

/* 1, with the allotment that its row has; 0: it has gone; -1. */
static int read_execution(struct store *store, int64_t result_id, struct execution *out,
			  int64_t *out_allotment_id, struct err *err)
{
	struct statement *s = db_use(
		store, ST_ALLOT_EXECUTION,
		"SELECT r.worker_id, r.lookup_id, coalesce(t.execution_start_ns,"
		" t.worker_start_ns, t.queued_ns), r.allotment_id FROM result r"
		" LEFT JOIN _time t ON t.result_id = r.result_id WHERE r.result_id = :result");
	int found;

	bind_int(s, ":result", result_id);
	found = db_step(s, err);
	if (found > 0) {
		*out = (struct execution){column_int(s, 0), column_int(s, 1), column_int(s, 2)};
		*out_allotment_id = column_int(s, 3);
	}
	db_reset(s);
	return found;
}

int allot_again(struct store *store, int64_t result_id, struct err *err)
{
	struct execution execution;
	struct statement *s;
	int64_t allotment_id, stored_id;
	int found = read_execution(store, result_id, &execution, &stored_id, err);

	if (found <= 0)
		return found;
	if (allot_find(store, &execution, &allotment_id, err) < 0)
		return -1;
	if (allotment_id == stored_id)
		return 0;
	if (sizes_leave(store, result_id, err) < 0)
		return -1;
	s = db_use(store, ST_ALLOT_PUT,
		   "UPDATE result SET allotment_id = :allotment WHERE result_id = :result");
	bind_int(s, ":allotment", allotment_id);
	bind_int(s, ":result", result_id);
	return db_done(s, err) < 0 ? -1 : sizes_join(store, result_id, err);
}

int allot_attempt_again(struct store *store, const struct attempt_key *key, struct err *err)
{
	struct statement *s = db_use(store, ST_ALLOT_OF_ATTEMPT,
				     "SELECT result_id FROM result WHERE source = 2"
				     " AND attempt_run_id = :run AND attempt_span_id = :span"
				     " AND attempt_idx = :idx");
	int64_t result_id = 0;
	int found;

	bind_attempt(s, key);
	found = db_step(s, err);
	if (found > 0)
		result_id = column_int(s, 0);
	db_reset(s);
	return found > 0 ? allot_again(store, result_id, err) : found;
}

/* ---- what is due ---- */

int allot_due_pod(struct store *store, struct str pod, struct err *err)
{
	struct statement *s = db_use(store, ST_ALLOT_DUE_POD,
				     "INSERT INTO allotment_due (kind, name) VALUES (1, :pod)");

	allot_forget(store);
	bind_text(s, ":pod", pod);
	return db_done(s, err);
}

/*
 * Another container is meant, or other names of pods: all is due. A view of this handle's
 * own stands before a stored one that is not ours (store_views.h).
 */
static int follow_rule(struct store *store, struct err *err)
{
#define RULE                                                                              \
	"(SELECT 'runner_container' AS part, (SELECT CAST(value AS TEXT) FROM setting"    \
	" WHERE key = 'runner_container') AS value UNION ALL SELECT '_worker', coalesce(" \
	"(SELECT sql FROM temp.sqlite_schema WHERE name = '_worker'),"                    \
	" (SELECT sql FROM main.sqlite_schema WHERE name = '_worker')))"
	if (db_done(db_use(store, ST_ALLOT_RULE_DUE,
			   "INSERT INTO allotment_due (kind, name) SELECT 3, '' WHERE EXISTS"
			   " (SELECT 1 FROM " RULE " n LEFT JOIN allotment_rule r"
			   " ON r.part = n.part WHERE r.part IS NULL OR r.value IS NOT n.value)"),
		    err) < 0)
		return -1;
	return db_done(
		db_use(store, ST_ALLOT_RULE_PUT,
		       "INSERT INTO allotment_rule (part, value) SELECT part, value FROM " RULE
		       " WHERE true ON CONFLICT (part) DO UPDATE SET value = excluded.value"
		       " WHERE value IS NOT excluded.value"),
		err);
#undef RULE
}

/* pool_spec may have been edited by anybody: what differs from what was followed is due. */
static int follow_pools(struct store *store, struct err *err)
{
#define KNOWN "SELECT cache, pool, valid_from_ns, allotment_id FROM pool_allotment"
#define WANTED                                                                         \
	"SELECT s.cache, s.pool, s.valid_from_ns, a.allotment_id FROM pool_spec s"     \
	" LEFT JOIN allotment a ON a.source = 2 AND ifnull(a.pool, '') = s.pool"       \
	" AND ifnull(a.cpu_request_milli, -1) = ifnull(s.cpu_request_milli, -1)"       \
	" AND ifnull(a.cpu_limit_milli, -1) = ifnull(s.cpu_limit_milli, -1)"           \
	" AND ifnull(a.memory_request_bytes, -1) = ifnull(s.memory_request_bytes, -1)" \
	" AND ifnull(a.memory_limit_bytes, -1) = ifnull(s.memory_limit_bytes, -1)"
	if (db_done(db_use(store, ST_ALLOT_SPECS,
			   "INSERT INTO allotment (source, pool, " RESOURCES ") SELECT 2, pool,"
			   " " RESOURCES " FROM pool_spec WHERE coalesce(" RESOURCES ") IS NOT NULL"
			   " ON CONFLICT DO NOTHING"),
		    err) < 0 ||
	    db_done(db_use(store, ST_ALLOT_DUE_POOLS,
			   "INSERT INTO allotment_due (kind, name) SELECT 2, pool FROM"
			   " (SELECT pool FROM (" WANTED " EXCEPT " KNOWN ") UNION SELECT pool FROM"
			   " (" KNOWN " EXCEPT " WANTED "))"),
		    err) < 0)
		return -1;
	if (!db_changes(store))
		return 0;
	allot_forget(store);
	if (db_done(db_use(store, ST_ALLOT_POOLS_DROP, "DELETE FROM pool_allotment"), err) < 0)
		return -1;
	return db_done(db_use(store, ST_ALLOT_POOLS_PUT, "INSERT INTO pool_allotment " WANTED),
		       err);
#undef KNOWN
#undef WANTED
}

/* Notes what is due by now; *out_due_id: the last of it, 0: nothing. */
static int note_due(struct store *store, int64_t *out_due_id, struct err *err)
{
	struct statement *s;

	if (store_begin(store, err) < 0)
		return -1;
	if (follow_rule(store, err) < 0 || follow_pools(store, err) < 0)
		goto fail;
	s = db_use(store, ST_ALLOT_DUE_LAST, "SELECT ifnull(max(due_id), 0) FROM allotment_due");
	if (db_row(s, err) < 0)
		goto fail;
	*out_due_id = column_int(s, 0);
	db_reset(s);
	return store_commit(store, err);
fail:
	store_rollback(store);
	return -1;
}

/* ---- doing it ---- */

struct id_list {
	int64_t *ids;
	size_t count, room;
};

static void add_id(struct id_list *list, int64_t id)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->ids = xreallocarray(list->ids, list->room, sizeof(*list->ids));
	}
	list->ids[list->count++] = id;
}

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* In ascending order. */
static int list_workers(struct store *store, struct id_list *out, struct err *err)
{
	struct statement *s = db_use(store, ST_ALLOT_DUE_WORKERS,
				     "SELECT w.worker_id FROM _worker w"
				     " WHERE EXISTS (SELECT 1 FROM allotment_due WHERE kind = 3)"
				     " OR w.pod IN (SELECT name FROM allotment_due WHERE kind = 1)"
				     " OR w.pool IN (SELECT name FROM allotment_due WHERE kind = 2)"
				     " ORDER BY w.worker_id");
	int more;

	while ((more = db_step(s, err)) > 0)
		add_id(out, column_int(s, 0));
	return more;
}

/* The next results after `after_id` that one of the workers executed, a slice at most. */
static int list_results(struct store *store, const struct id_list *workers, int64_t after_id,
			struct id_list *out, struct err *err)
{
	struct statement *s = db_use(store, ST_ALLOT_RESULTS,
				     "SELECT result_id, worker_id FROM result"
				     " WHERE result_id > :after ORDER BY result_id");
	int64_t worker_id;
	int more = 1;

	bind_int(s, ":after", after_id);
	out->count = 0;
	while (out->count < ALLOT_SLICE && (more = db_step(s, err)) > 0) {
		worker_id = column_int(s, 1);
		if (worker_id != UNKNOWN && bsearch(&worker_id, workers->ids, workers->count,
						    sizeof(worker_id), compare_ids))
			add_id(out, column_int(s, 0));
	}
	db_reset(s);
	return more < 0 ? -1 : 0;
}

static int allot_slice(struct store *store, const struct id_list *results, struct err *err)
{
	size_t i;

	if (store_begin(store, err) < 0)
		return -1;
	for (i = 0; i < results->count; i++)
		if (allot_again(store, results->ids[i], err) < 0) {
			store_rollback(store);
			return -1;
		}
	return store_commit(store, err);
}

static int allot_results(struct store *store, const struct id_list *workers, struct err *err)
{
	struct id_list results = {NULL, 0, 0};
	int64_t after_id = 0;
	int rc;

	do {
		rc = list_results(store, workers, after_id, &results, err);
		if (rc == 0 && results.count) {
			after_id = results.ids[results.count - 1];
			rc = allot_slice(store, &results, err);
		}
	} while (rc == 0 && results.count == ALLOT_SLICE);
	free(results.ids);
	return rc;
}

/* What came in since is another one's to do. */
static int drop_due(struct store *store, int64_t last_id, struct err *err)
{
	struct statement *s;

	if (store_begin(store, err) < 0)
		return -1;
	s = db_use(store, ST_ALLOT_DUE_DROP, "DELETE FROM allotment_due WHERE due_id <= :last");
	bind_int(s, ":last", last_id);
	if (db_done(s, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err);
}

int store_allot(struct store *store, struct err *err)
{
	struct id_list workers = {NULL, 0, 0};
	int64_t last_id;
	int rc;

	if (note_due(store, &last_id, err) < 0)
		return -1;
	if (!last_id)
		return 0;
	rc = list_workers(store, &workers, err);
	if (rc == 0 && workers.count)
		rc = allot_results(store, &workers, err);
	if (rc == 0)
		rc = drop_due(store, last_id, err);
	free(workers.ids);
	return rc;
}

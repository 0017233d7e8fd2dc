/* Pools, and what each execution was given: whatever is learned first, the rows are the same. */
#include "store_fixture.h"

#include <sqlite3.h>
#include <string.h>

#define GIB (INT64_C(1) << 30)
#define HOUR INT64_C(3600000000000)
/* Two pods of pool `shared`, by label and by name; one of a pool that no values name. */
#define BY_LABEL "{\"pool\":\"shared\",\"slot\":\"worker-shared-5b6dd8dff9-2bv88\"}"
#define BY_NAME "worker-shared-5b6dd8dff9-x7k4q"
#define OTHER "worker-other-5b6dd8dff9-zzzzz"

static struct pool_spec pool_of(const char *name, int64_t memory)
{
	return (struct pool_spec){
		.pool = str_of(name),
		.instance_prefix = STR_NULL,
		.enabled = 1,
		.concurrency = 1,
		.cpu_request_millicores = 4500,
		.cpu_limit_millicores = UNKNOWN,
		.memory_request_bytes = memory,
		.memory_limit_bytes = memory,
		.workers_min = 0,
		.workers_max = 8,
		.cooldown_s = UNKNOWN,
	};
}

/* 1: written; 0: not. */
static int put_pool(struct fixture *f, const char *name, int64_t memory, int64_t from_ns)
{
	struct pool_spec pool = pool_of(name, memory);
	int put = store_put_pool(f->store, "", &pool, from_ns, false, &f->err);

	assert_true(put >= 0);
	return put;
}

static int see_pool(struct fixture *f, const char *name, int64_t memory, int64_t now_ns)
{
	struct pool_spec pool = pool_of(name, memory);
	int put = store_put_pool(f->store, "", &pool, now_ns, true, &f->err);

	assert_true(put >= 0);
	return put;
}

static void put_container_of(struct fixture *f, const char *namespace, const char *pod,
			     const char *container, int64_t memory_limit)
{
	struct container_spec spec = {
		.layer = LAYER_PODS,
		.namespace = str_of(namespace),
		.pod = str_of(pod),
		.container = str_of(container),
		.cpu_request_millicores = 1000,
		.cpu_limit_millicores = UNKNOWN,
		.memory_request_bytes = UNKNOWN,
		.memory_limit_bytes = memory_limit,
		.restart_count = 0,
	};

	assert_ok(store_put_container(f->store, &spec, &f->err));
}

static void put_container(struct fixture *f, const char *pod, int64_t memory_limit)
{
	put_container_of(f, "buildbarn", pod, "runner", memory_limit);
}

/* An execution of digest `number` by a worker, so many hours after START. */
static void execute(struct fixture *f, uint8_t number, const char *worker, int64_t hours)
{
	struct result result = result_of(5000000000);

	result.worker = str_of(worker);
	result.time_ns[TIME_QUEUED] = START;
	result.time_ns[TIME_EXECUTION_START] = START + hours * HOUR;
	result.has_rusage = true;
	result.rusage.user_ns = result.rusage.system_ns = number;
	result.rusage.max_rss_bytes = UNKNOWN;
	assert_ok(store_put_result(f->store, lookup_of(f, "p", number), &result, &f->err));
}

/* Nine digests to execute. */
static void put_digests(struct fixture *f)
{
	int64_t run_id = put_run(f, "trace", START);
	uint8_t i;

	for (i = 1; i < 10; i++)
		put_action(f, run_id, i, "", i, STATUS_SUCCESS);
}

/* Each package's sums are those of its results as they are allotted by now. */
static void assert_packages(struct fixture *f)
{
	static const char differing[] =
		"SELECT count(*) FROM (SELECT * FROM (SELECT project_id, package_id, limit_bytes,"
		" results, wall_max_ns FROM package_sum WHERE project_id > 0 UNION ALL"
		" SELECT r.project_id, r.package_id, ifnull(a.memory_limit_bytes, 0), count(*),"
		" max(r.wall_ns) FROM result r"
		" LEFT JOIN allotment a ON a.allotment_id = r.allotment_id"
		" WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY 1, 2, 3)"
		" GROUP BY 1, 2, 3, 4, 5 HAVING count(*) <> 2)";

	assert_number(f, "SELECT count(*) FROM package_due", 0);
	assert_number(f, differing, 0);
	assert_number(f,
		      "SELECT (SELECT total(results) FROM package_sum WHERE project_id = 0)"
		      " = (SELECT count(*) FROM result WHERE source = 1 AND cpu_ns IS NOT NULL)",
		      1);
}

static void allot(struct fixture *f)
{
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_allot(f->store, &f->err));
	assert_ok(store_sum_packages(f->store, &f->err));
	assert_ok(store_begin(f->store, &f->err));
	assert_number(f, "SELECT count(*) FROM allotment_due", 0);
	assert_packages(f);
}

/* "source pool GiB" of each result, by digest; '-': nothing is known. */
static void assert_given(struct fixture *f, const char *wanted)
{
	assert_text(f,
		    "SELECT group_concat(given, ', ') FROM (SELECT CASE WHEN a.source IS NULL"
		    " THEN '-' ELSE a.source || ' ' || ifnull(a.pool, '?') || ' '"
		    " || ifnull(a.memory_limit_bytes / 1073741824, '?') END AS given FROM result r"
		    " JOIN lookup l ON l.lookup_id = r.lookup_id"
		    " LEFT JOIN allotment a ON a.allotment_id = r.allotment_id ORDER BY l.hash)",
		    wanted);
}

/* ---- pool_spec ---- */

static void test_what_is_seen_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(see_pool(f, "shared", GIB, START), 1);
	assert_int_equal(see_pool(f, "shared", GIB, START + HOUR), 0);
	assert_int_equal(see_pool(f, "shared", 2 * GIB, START + 2 * HOUR), 1);
	assert_int_equal(see_pool(f, "shared", GIB, START + 3 * HOUR), 1);
	assert_int_equal(see_pool(f, "legacy", GIB, START + 3 * HOUR), 1);
	assert_number(f, "SELECT count(*) FROM pool_spec", 4);
	assert_text(f,
		    "SELECT pool || enabled || concurrency || cpu_request_milli"
		    " || ifnull(cpu_limit_milli, '-') || memory_request_bytes || workers_max"
		    " || ifnull(cooldown_s, '-') FROM pool_spec WHERE pool = 'legacy'",
		    "legacy114500-10737418248-");
}

/* Who says since when is taken at his word: a later word about an earlier time takes nothing away.
 */
static void test_what_is_dated(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_pool(f, "shared", GIB, START), 1);
	assert_int_equal(put_pool(f, "shared", GIB, START), 0);
	assert_int_equal(put_pool(f, "shared", GIB, START + 5 * HOUR), 1);
	assert_int_equal(put_pool(f, "shared", 2 * GIB, START + 3 * HOUR), 1);
	assert_text(f,
		    "SELECT group_concat(memory_limit_bytes >> 30) FROM (SELECT * FROM pool_spec"
		    " ORDER BY valid_from_ns)",
		    "1,2,1");
	assert_int_equal(put_pool(f, "shared", 3 * GIB, START), 1);
	assert_number(f, "SELECT count(*) FROM pool_spec", 3);
}

static void test_shapes(void **state)
{
	struct shape shape = {STR("tiny"), 500, GIB, 2 * GIB};
	struct fixture *f = *state;

	assert_return(store_put_shape(f->store, &shape, &f->err), 1);
	assert_return(store_put_shape(f->store, &shape, &f->err), 0);
	shape.cpu_milli = 750;
	assert_return(store_put_shape(f->store, &shape, &f->err), 1);
	assert_text(f,
		    "SELECT group_concat(shape || cpu_milli) FROM (SELECT * FROM shape"
		    " ORDER BY shape)",
		    "big6000,small1500,tiny750");
}

/* ---- lists of heavy packages ---- */

static void list(struct fixture *f, const char *path, int64_t mtime_ns, const char *a,
		 const char *b)
{
	const char *packages[] = {a, b};
	struct listing listing = {"p", path, mtime_ns, packages, a && b ? 2 : a ? 1 : 0};

	assert_ok(store_put_listing(f->store, &listing, &f->err));
}

static void assert_listed(struct fixture *f, const char *wanted)
{
	assert_text(
		f,
		"SELECT path || ' ' || mtime_ns || ' ' || ifnull((SELECT group_concat(package, ' ')"
		" FROM (SELECT * FROM listed_package l WHERE l.project_id = f.project_id"
		" ORDER BY position)), '-') FROM project_file f",
		wanted);
}

static void test_lists(void **state)
{
	struct fixture *f = *state;

	list(f, "/a", 5, "glibc", "gcc");
	assert_listed(f, "/a 5 glibc gcc");
	list(f, "/b", 4, "other", NULL);
	assert_listed(f, "/a 5 glibc gcc");
	list(f, "/b", 5, "other", NULL);
	assert_listed(f, "/b 5 other");
	list(f, "/b", 3, NULL, NULL); /* the same file, put back */
	assert_listed(f, "/b 3 -");
	list(f, "/a", 5, "gcc", "glibc");
	assert_listed(f, "/a 5 gcc glibc");
	list(f, "/a", 6, "gcc", NULL);
	assert_listed(f, "/a 6 gcc");
}

/* ---- one result ---- */

static void test_by_pool_and_time(void **state)
{
	struct fixture *f = *state;

	put_digests(f);
	put_pool(f, "shared", GIB, START + HOUR);
	put_pool(f, "shared", 2 * GIB, START + 3 * HOUR);
	allot(f);
	execute(f, 1, BY_LABEL, 0);
	execute(f, 2, BY_LABEL, 1);
	execute(f, 3, BY_NAME, 2);
	execute(f, 4, BY_NAME, 3);
	execute(f, 5, OTHER, 3);
	execute(f, 6, NULL, 3);
	assert_given(f, "-, 2 shared 1, 2 shared 1, 2 shared 2, -, -");
	allot(f);
	assert_given(f, "-, 2 shared 1, 2 shared 1, 2 shared 2, -, -");
}

static void test_by_container(void **state)
{
	struct fixture *f = *state;

	put_digests(f);
	put_pool(f, "shared", GIB, START);
	put_container(f, "worker-shared-5b6dd8dff9-2bv88", 4 * GIB);
	put_container_of(f, "buildbarn", BY_NAME, "worker", 5 * GIB);
	put_container(f, "alone", 6 * GIB);
	allot(f);
	execute(f, 1, BY_LABEL, 0);
	execute(f, 2, BY_NAME, 0);
	execute(f, 3, "alone", 0);
	assert_given(f, "1 shared 4, 2 shared 1, 1 ? 6");
}

static void test_namespaces_that_disagree(void **state)
{
	struct fixture *f = *state;

	put_digests(f);
	put_pool(f, "shared", GIB, START);
	allot(f);
	execute(f, 1, BY_NAME, 0);
	put_container_of(f, "east", BY_NAME, "runner", 4 * GIB);
	put_container_of(f, "west", BY_NAME, "runner", 4 * GIB);
	allot(f);
	assert_given(f, "1 shared 4");
	put_container_of(f, "west", BY_NAME, "runner", 5 * GIB);
	allot(f);
	assert_given(f, "-");
}

/* One name, one container after the other: which of them it was is not known, nor is it the pool.
 */
static void test_a_pod_that_came_again(void **state)
{
	struct fixture *f = *state;

	put_digests(f);
	put_pool(f, "shared", GIB, START);
	allot(f);
	execute(f, 1, BY_NAME, 0);
	put_container(f, BY_NAME, 12 * GIB);
	allot(f);
	assert_given(f, "1 shared 12");
	put_container(f, BY_NAME, 9 * GIB);
	allot(f);
	assert_given(f, "-");
	execute(f, 2, BY_NAME, 0);
	assert_given(f, "-, -");
	put_container(f, BY_NAME, 12 * GIB);
	allot(f);
	assert_given(f, "-, -");
}

/* A container of which nothing is known says nothing; nor does a pool without resources. */
static void test_rows_that_say_nothing(void **state)
{
	struct fixture *f = *state;
	struct container_spec bare = {
		LAYER_PODS, STR("ns"), STR(BY_NAME), STR_NULL, STR_NULL, STR("runner"),
		UNKNOWN,    UNKNOWN,   UNKNOWN,	     UNKNOWN,  1};
	struct pool_spec pool = pool_of("shared", UNKNOWN);

	put_digests(f);
	put_pool(f, "shared", GIB, START);
	pool.cpu_request_millicores = UNKNOWN;
	assert_ok(store_put_container(f->store, &bare, &f->err));
	assert_return(store_put_pool(f->store, "", &pool, START + HOUR, false, &f->err), 1);
	allot(f);
	execute(f, 1, BY_NAME, 0);
	execute(f, 2, BY_NAME, 1);
	assert_given(f, "2 shared 1, -");
}

static void test_other_clusters(void **state)
{
	struct pool_spec pool = pool_of("shared", GIB);
	struct fixture *f = *state;

	put_digests(f);
	assert_return(store_put_pool(f->store, "east", &pool, START, false, &f->err), 1);
	allot(f);
	execute(f, 1, BY_NAME, 0);
	assert_given(f, "-");
}

/* ---- what is learned later ---- */

static void test_what_is_learned_later(void **state)
{
	struct fixture *f = *state;

	put_digests(f);
	execute(f, 1, BY_LABEL, 0);
	execute(f, 2, BY_NAME, 2);
	assert_given(f, "-, -");
	allot(f);
	put_pool(f, "shared", GIB, START);
	allot(f);
	assert_given(f, "2 shared 1, 2 shared 1");
	put_pool(f, "shared", 2 * GIB, START + HOUR);
	allot(f);
	assert_given(f, "2 shared 1, 2 shared 2");
	put_container(f, "worker-shared-5b6dd8dff9-2bv88", 4 * GIB);
	execute(f, 3, BY_LABEL, 3);
	allot(f);
	assert_given(f, "1 shared 4, 2 shared 2, 1 shared 4");
}

/* Edits of the user's own: the next ingest finds them. */
static void test_edits(void **state)
{
	static const char *const edits[][2] = {
		{"UPDATE pool_spec SET memory_limit_bytes = 3221225472 WHERE valid_from_ns > 0",
		 "2 shared 3, 1 shared 4"},
		{"UPDATE pool_spec SET valid_from_ns = valid_from_ns + 3600000000000",
		 "-, 1 shared 4"},
		{"DELETE FROM pool_spec", "-, 1 shared 4"},
		{"INSERT INTO pool_spec (cache, pool, valid_from_ns, memory_limit_bytes)"
		 " VALUES ('', 'shared', 0, 7516192768)",
		 "2 shared 7, 1 shared 4"},
		{"UPDATE setting SET value = 'worker' WHERE key = 'runner_container'",
		 "2 shared 7, 2 shared 7"},
		/* A view that is not ours any more: the next handle does not ask it, this one does.
		 */
		{"DROP VIEW _worker; CREATE VIEW _worker (worker_id, pool, pod, rss_floor_bytes) AS"
		 " SELECT worker_id, 'none', name, NULL FROM worker",
		 "-, -"},
	};
	struct fixture *f = *state;
	size_t i;

	put_digests(f);
	put_pool(f, "shared", GIB, START);
	put_container(f, BY_NAME, 4 * GIB);
	execute(f, 1, BY_LABEL, 0);
	execute(f, 2, BY_NAME, 0);
	allot(f);
	assert_given(f, "2 shared 1, 1 shared 4");
	for (i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
		sqlite3 *db;

		assert_ok(store_commit(f->store, &f->err));
		assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, edits[i][0], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_ok(store_begin(f->store, &f->err));
		allot(f);
		assert_given(f, edits[i][1]);
	}
}

/* The other's container came while this handle knew the worker. */
static void test_two_at_once(void **state)
{
	struct fixture *f = *state, other = {.db = f->db};

	put_digests(f);
	put_pool(f, "shared", GIB, START);
	allot(f);
	execute(f, 1, BY_NAME, 0);
	assert_ok(store_commit(f->store, &f->err));
	other.store = made_open(f->db, STORE_WRITE);
	assert_ok(store_begin(other.store, &other.err));
	put_container(&other, BY_NAME, 4 * GIB);
	assert_ok(store_commit(other.store, &other.err));
	assert_ok(store_begin(f->store, &f->err));
	execute(f, 2, BY_NAME, 0);
	assert_given(f, "2 shared 1, 1 shared 4");
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_allot(other.store, &other.err));
	store_close(other.store);
	assert_ok(store_begin(f->store, &f->err));
	assert_given(f, "1 shared 4, 1 shared 4");
}

/* ---- the laws ---- */

/* One of the things that can be learned. */
static void learn(struct fixture *f, unsigned step)
{
	switch (step) {
	case 0:
		put_pool(f, "shared", GIB, START);
		break;
	case 1:
		put_pool(f, "shared", 2 * GIB, START + 2 * HOUR);
		break;
	case 2:
		put_pool(f, "shared", GIB, START + 3 * HOUR);
		break;
	case 3:
		put_container(f, "worker-shared-5b6dd8dff9-2bv88", 4 * GIB);
		break;
	case 4:
		put_container_of(f, "east", OTHER, "runner", 4 * GIB);
		break;
	case 5:
		put_container_of(f, "west", OTHER, "runner", 8 * GIB);
		break;
	default:
		execute(f, (uint8_t)(step - 5),
			step % 3   ? BY_NAME
			: step % 2 ? OTHER
				   : BY_LABEL,
			(int64_t)(step % 5));
	}
}
#define STEPS 15u

/* All of it in an order of the seed's, allotted now and then. */
static void learn_all(struct fixture *f, unsigned seed)
{
	unsigned i, step;

	put_digests(f);
	for (i = 0; i < STEPS; i++) {
		step = (i * (seed % 2 ? 7 : 11) + seed * 4) % STEPS;
		learn(f, seed % 3 == 2 ? STEPS - 1 - step : step);
		if ((i + seed) % 4 == 0)
			allot(f);
	}
	allot(f);
	assert_ok(store_commit(f->store, &f->err));
}

static void test_any_order(void **state)
{
	struct fixture *f = *state;
	char *wanted, *rows;
	unsigned seed;
	void *other;

	learn_all(f, 0);
	wanted = made_dump(f->db);
	for (seed = 1; seed < 12; seed++) {
		assert_int_equal(setup(&other), 0);
		learn_all(other, seed);
		rows = made_dump(((struct fixture *)other)->db);
		made_assert_same(rows, wanted);
		free(rows);
		teardown(&other);
	}
	free(wanted);
	assert_ok(store_begin(f->store, &f->err));
	assert_given(f,
		     "1 shared 4, 2 shared 2, 2 shared 1, -, 2 shared 1, 2 shared 1, 1 shared 4, "
		     "2 shared 1, 2 shared 1");
}

static void test_twice_changes_no_byte(void **state)
{
	size_t before_len, after_len;
	struct fixture *f = *state;
	char *before, *after;
	unsigned i;

	list(f, "/a", 5, "glibc", "gcc");
	learn_all(f, 1);
	before = made_bytes(f->db, &before_len);
	assert_ok(store_begin(f->store, &f->err));
	for (i = 0; i < STEPS; i++)
		learn(f, i);
	assert_int_equal(see_pool(f, "shared", GIB, START + 9 * HOUR), 0);
	list(f, "/a", 5, "glibc", "gcc");
	allot(f);
	assert_ok(store_commit(f->store, &f->err));
	after = made_bytes(f->db, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
	assert_ok(store_begin(f->store, &f->err));
}

/* What was noted and not done is done by the next one, in a process of its own. */
static void test_cut_short(void **state)
{
	struct fixture *f = *state;

	put_digests(f);
	execute(f, 1, BY_NAME, 0);
	allot(f);
	put_container(f, BY_NAME, 4 * GIB);
	assert_ok(store_commit(f->store, &f->err));
	store_close(f->store);
	f->store = made_open(f->db, STORE_WRITE);
	assert_ok(store_begin(f->store, &f->err));
	assert_number(f, "SELECT count(*) FROM allotment_due", 1);
	assert_given(f, "-");
	allot(f);
	assert_given(f, "1 shared 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_seen_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_dated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_pool_and_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_container, setup, teardown),
		cmocka_unit_test_setup_teardown(test_namespaces_that_disagree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_pod_that_came_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_that_say_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_clusters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_learned_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_edits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_twice_changes_no_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

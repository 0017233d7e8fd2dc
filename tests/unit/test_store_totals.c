/* Sums that are gathered in memory until a COMMIT: the rows are those that SQL makes of the
 * results. */
#include "store_db.h"
#include "store_fixture.h"

#include <string.h>

/* More rows of size_count than are gathered at once: four of each. */
#define RESULTS 2500
#define ROWS_MAX 4096 /* as many are gathered */

/* Each is of a size and of cores that no other one has. */
static void put_counted_result(struct fixture *f, int64_t run_id, int64_t number)
{
	struct attempt attempt = attempt_of(0, STATUS_SUCCESS);
	struct action action = action_of("i", &attempt, 1);
	struct result result = result_of(1000000000);
	enum lookup_state state;
	int64_t lookup_id;

	attempt.digest = numbered(number);
	assert_ok(store_put_action(f->store, run_id, (uint64_t)number, (uint64_t)number, START,
				   &action, &f->err));
	result.worker = STR("w");
	result.has_rusage = true;
	result.rusage.user_ns = number * 10000000;
	result.rusage.max_rss_bytes = number << 20;
	assert_return(
		store_find_lookup(f->store, "", "p", &attempt.digest, &lookup_id, &state, &f->err),
		1);
	assert_ok(store_put_result(f->store, lookup_id, &result, &f->err));
}

static int64_t put_many(struct fixture *f)
{
	int64_t run_id = put_run(f, "t", START), i;

	for (i = 1; i <= RESULTS; i++)
		put_counted_result(f, run_id, i);
	return run_id;
}

/* The sums are those of the results. */
static void assert_sums(struct fixture *f)
{
	assert_number(f,
		      "SELECT count(*) FROM (SELECT allotment_id, project_id, results, known,"
		      " busy_high, busy_low, cpu_high, cpu_low, held_high, held_low FROM busy_sum"
		      " EXCEPT SELECT allotment_id, project_id, count(*), sum(known),"
		      " sum(busy_high), sum(busy_low), sum(cpu_high), sum(cpu_low),"
		      " sum(held_high), sum(held_low) FROM _busy_part GROUP BY 1, 2)",
		      0);
	assert_number(f,
		      "SELECT count(*) FROM (SELECT size, project_id, results FROM size_count"
		      " EXCEPT SELECT * FROM (SELECT memory_mib, project_id, count(*) FROM result"
		      " GROUP BY 1, 2 UNION ALL SELECT centicores, project_id, count(*)"
		      " FROM result GROUP BY 1, 2 UNION ALL SELECT memory_mib, 0, count(*)"
		      " FROM result GROUP BY 1 UNION ALL SELECT centicores, 0, count(*)"
		      " FROM result GROUP BY 1))",
		      0);
}

static void test_more_than_fit(void **state)
{
	struct fixture *f = *state;

	put_many(f);
	assert_commits(f);
	assert_number(f, "SELECT count(*) FROM size_count WHERE results = 1", 4 * RESULTS);
	assert_number(f, "SELECT results FROM worker", RESULTS);
	assert_number(f, "SELECT sum(results) FROM bucket_sum", RESULTS);
	assert_number(f, "SELECT sum(actions) FROM action_count", RESULTS);
	assert_sums(f);
}

/* All go to another project in the transaction that puts them, and again in another one. */
static void test_all_move(void **state)
{
	struct fixture *f = *state;
	const struct sighting better = {"/q/buck-out/v2/log/a.pb", "q", 3, "v2"};
	const struct sighting best = {"/r/buck-out/v2/log/a.pb", "r", 4, "v2"};

	put_many(f);
	put_run_at(f, "t", START, &better);
	assert_commits(f);
	assert_number(f, "SELECT count(*) FROM size_count", 4 * RESULTS);
	assert_number(f, "SELECT count(*) FROM busy_sum", 1);
	assert_sums(f);
	put_run_at(f, "t", START, &best);
	assert_commits(f);
	assert_number(f, "SELECT count(*) FROM size_count", 4 * RESULTS);
	assert_text(f, "SELECT group_concat(name) FROM project JOIN busy_sum USING (project_id)",
		    "r");
	assert_sums(f);
}

static void test_rolled_back(void **state)
{
	struct fixture *f = *state;

	put_run(f, "t", START);
	assert_commits(f);
	put_counted_result(f, put_run(f, "t", START), 1);
	store_rollback(f->store);
	assert_ok(store_begin(f->store, &f->err));
	put_counted_result(f, put_run(f, "t", START), 2);
	assert_commits(f);
	assert_number(f, "SELECT sum(results) FROM size_count", 4);
	assert_number(f, "SELECT results FROM worker", 1);
	assert_number(f, "SELECT actions FROM action_count", 1);
	assert_sums(f);
}

/* Phases and memory that a hostile server makes up: C and SQL stop at the same numbers. */
static void test_hostile(void **state)
{
	static const int64_t steps[] = {0, 1, 4294967295, INT64_MAX / 4, INT64_MAX / 3};
	struct fixture *f = *state;
	struct result result = result_of(WALL_NS_MAX);
	int64_t run_id = put_run(f, "t", START);
	uint8_t i;

	result.has_rusage = true;
	for (i = 0; i < 5; i++) {
		result.rusage = (struct rusage){.user_ns = steps[i],
						.max_rss_bytes = RSS_BYTES_MAX >> (7 * i)};
		result.time_ns[TIME_FETCH_START] = i;
		result.time_ns[TIME_FETCH_COMPLETED] = i + steps[i];
		result.time_ns[TIME_EXECUTION_START] = i + steps[i];
		result.time_ns[TIME_EXECUTION_COMPLETED] = i + 2 * steps[i];
		result.time_ns[TIME_UPLOAD_START] = i + 2 * steps[i];
		result.time_ns[TIME_UPLOAD_COMPLETED] = 2 * steps[i] + INT64_MAX / 4;
		put_action(f, run_id, i + 1U, "i", i, STATUS_SUCCESS);
		assert_ok(store_put_result(f->store, lookup_of(f, "p", i), &result, &f->err));
	}
	assert_commits(f);
	assert_number(f, "SELECT known FROM busy_sum", 5);
	assert_sums(f);
}

/* As many rows as are gathered: of one bucket, and of requests that nobody made. */
static void fill(struct fixture *f)
{
	struct total_row row = {TOTAL_BUCKET, {5}, {1}};
	int64_t i;

	assert_ok(totals_add(f->store, &row, &f->err));
	for (i = 1; i < ROWS_MAX; i++) {
		row = (struct total_row){TOTAL_REQUEST, {1000000 + i}, {1}};
		assert_ok(totals_add(f->store, &row, &f->err));
	}
}

/* What cannot be written to make room for more ends the transaction. */
static void test_no_room(void **state)
{
	static const struct summand summands[] = {
		{.worker_id = 1, .request_id = UNKNOWN},
		{.worker_id = UNKNOWN, .request_id = 1},
		{.worker_id = UNKNOWN,
		 .request_id = UNKNOWN,
		 .from_cache = true,
		 .phase_ns = {UNKNOWN, UNKNOWN, 7, UNKNOWN}},
		{.worker_id = UNKNOWN, .request_id = UNKNOWN, .counted = true, .columns.bucket = 4},
		{.worker_id = UNKNOWN, .request_id = UNKNOWN, .counted = true, .columns.bucket = 5},
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(summands) / sizeof(summands[0]); i++) {
		fill(f);
		assert_ok(db_exec(f->store, "PRAGMA query_only = ON", &f->err));
		assert_return(sums_add(f->store, &summands[i], &f->err), -1);
		assert_non_null(strstr(f->err.text, "readonly"));
		assert_ok(db_exec(f->store, "PRAGMA query_only = OFF", &f->err));
		assert_return(store_commit(f->store, &f->err), -1);
		assert_ok(store_begin(f->store, &f->err));
	}
	assert_commits(f);
	assert_number(f,
		      "SELECT (SELECT count(*) FROM bucket_sum WHERE results <> 0)"
		      " + (SELECT count(*) FROM phase_sum WHERE known <> 0)",
		      0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_more_than_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_move, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rolled_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

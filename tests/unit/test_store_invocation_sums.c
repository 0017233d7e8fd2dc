/* What an invocation's executions add up to over time: as the view says it, whatever the times are.
 */
#include "store_fixture.h"

#define S INT64_C(1000000000)
/* More than are sorted in memory. */
#define MANY 33000

/* So that failures can be repeated: Knuth's MMIX. */
static uint32_t pick(uint64_t *seed, uint32_t count)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(*seed >> 33) % count;
}

/* An execution of an invocation; UNKNOWN times are. */
static void put_execution(struct fixture *f, uint32_t number, const char *invocation,
			  const char *worker, const int64_t times[3])
{
	struct attempt attempt = attempt_of(0, STATUS_SUCCESS);
	struct action action = action_of("i", &attempt, 1);
	struct result result = result_of(S);
	enum lookup_state state;
	int64_t lookup_id;

	attempt.digest = numbered(number);
	assert_ok(store_put_action(f->store, 1, number + 1, number + 1, START, &action, &f->err));
	assert_return(
		store_find_lookup(f->store, "", "p", &attempt.digest, &lookup_id, &state, &f->err),
		1);
	result.worker = worker ? str_of(worker) : STR_NULL;
	result.has_request = true;
	result.request.tool_invocation_id = str_of(invocation);
	result.time_ns[TIME_QUEUED] = times[0];
	result.time_ns[TIME_WORKER_START] = times[1];
	result.time_ns[TIME_WORKER_COMPLETED] = times[2];
	assert_ok(store_put_result(f->store, lookup_id, &result, &f->err));
}

/* Of few moments, so that many share one; each may be unknown or too early. */
static void put_some(struct fixture *f, uint64_t *seed, uint32_t number, const char *invocation)
{
	static const char *const workers[] = {"u", "v", "w", NULL};
	int64_t times[3];
	size_t i;

	for (i = 0; i < 3; i++)
		times[i] = pick(seed, 12) ? START + pick(seed, 40) * S : UNKNOWN;
	put_execution(f, number, invocation, workers[pick(seed, 4)], times);
}

/* Those that are kept are those that the view makes. */
static void assert_kept(struct fixture *f, int64_t invocations)
{
	assert_ok(store_commit(f->store, &f->err));
	assert_ok(store_sum_invocations(f->store, &f->err));
	assert_ok(store_begin(f->store, &f->err));
	assert_number(f, "SELECT count(*) FROM invocation_due", 0);
	assert_number(f, "SELECT count(*) FROM invocation_sum", invocations);
	assert_number(f,
		      "SELECT count(*) FROM (SELECT * FROM invocation_sum EXCEPT"
		      " SELECT * FROM _invocation_made)",
		      0);
	assert_number(f, "SELECT count(*) FROM _invocation_made", invocations);
}

static void test_any_times(void **state)
{
	static const char *const invocations[] = {"a", "b", "c"};
	struct fixture *f = *state;
	uint64_t seed = 7;
	uint32_t i;

	put_run(f, "t", START);
	for (i = 0; i < 400; i++)
		put_some(f, &seed, i, invocations[i % 3 ? 0 : pick(&seed, 2)]);
	assert_kept(f, 2);
	/* Those that are there already count again. */
	for (; i < 450; i++)
		put_some(f, &seed, i, invocations[1 + pick(&seed, 2)]);
	assert_kept(f, 3);
	assert_number(f, "SELECT sum(results) FROM invocation_sum", 450);
	assert_number(f,
		      "SELECT count(*) FROM invocation_sum WHERE peak_running > 1 AND"
		      " peak_waiting > 1 AND ran_ns > 0 AND waited_ns > 0",
		      3);
}

static void test_nothing_is_known(void **state)
{
	static const int64_t none[] = {UNKNOWN, UNKNOWN, UNKNOWN},
			     no_length[] = {START, START, START};
	struct fixture *f = *state;

	put_run(f, "t", START);
	put_execution(f, 0, "a", NULL, none);
	put_execution(f, 1, "b", "w", no_length);
	assert_kept(f, 2);
	assert_number(f, "SELECT count(*) FROM invocation_sum WHERE span_ns IS NULL", 2);
}

/* SQLite's sums of them are rounded, or out of an integer's range. */
static void test_hostile(void **state)
{
	static const int64_t ends[] = {INT64_MIN + 1, -S, 1, INT64_MAX / 2, INT64_MAX - 1};
	static const char *const invocations[] = {"a", "b", "c", "d", "e"};
	struct fixture *f = *state;
	uint32_t i, number = 0;

	put_run(f, "t", START);
	for (i = 0; i < 125; i++) {
		const int64_t times[] = {ends[i % 5], ends[i / 5 % 5], ends[i / 25]};

		put_execution(f, number++, invocations[i / 25], "w", times);
	}
	assert_kept(f, 5);
}

static void test_more_than_are_sorted(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 8;
	uint32_t i;

	put_run(f, "t", START);
	for (i = 0; i < MANY; i++)
		put_some(f, &seed, i, i % 1000 ? "many" : "few");
	assert_kept(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_than_are_sorted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

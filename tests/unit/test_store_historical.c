/* Blobs that failed attempts link: which are wanted, and what becomes of them. */
#include "store_fixture.h"

#include "util/mem.h"

#include <string.h>

#define DAY_NS INT64_C(86400000000000)
#define NOW (START + 3 * DAY_NS)

/* A failed attempt of digest `digest` that links blob `blob`; its span is its record's number. */
static void put_failed(struct fixture *f, int64_t run_id, uint64_t seq, uint8_t digest,
		       uint8_t blob)
{
	struct attempt attempt = attempt_of(digest, STATUS_FAILURE);
	struct action action = action_of("x", &attempt, 1);

	attempt.additional_message = STR("Action details (uncached result): …");
	attempt.historical = digest_of(blob);
	attempt.historical.size_bytes = 600;
	assert_ok(store_put_action(f->store, run_id, seq, seq, START, &action, &f->err));
}

static struct attempt_key key_of(int64_t run_id, int64_t span_id)
{
	return (struct attempt_key){run_id, span_id, 0};
}

/* The spans of all wanted blobs of all runs, added up as digits. */
static int64_t wanted_spans(struct fixture *f, int64_t now_ns, bool retry)
{
	struct attempt_key after = {0, 0, 0};
	struct wanted_blob wanted;
	int64_t spans = 0, count, found = 0;
	int more;

	assert_ok(store_count_historical(f->store, "", now_ns, retry, &count, &f->err));
	while ((more = store_next_historical(f->store, "", &after, now_ns, retry, &wanted,
					     &f->err)) > 0) {
		after = wanted.key;
		spans = spans * 10 + wanted.key.span_id;
		found++;
	}
	assert_return(more, 0);
	assert_int_equal(found, count);
	return spans;
}

static void put_state(struct fixture *f, int64_t run_id, int64_t span_id, enum lookup_state state)
{
	struct attempt_key key = key_of(run_id, span_id);

	assert_ok(store_put_historical_state(f->store, &key, state, "words", &f->err));
}

static struct result killed(int64_t virtual_ns)
{
	struct result result = result_of(virtual_ns);

	result.source = SOURCE_HISTORICAL;
	result.exit_code = -1;
	result.has_rusage = true;
	result.rusage.termination_signal = STR("KILL");
	result.worker = STR("w");
	result.time_ns[TIME_EXECUTION_START] = START + virtual_ns;
	return result;
}

static void put_killed(struct fixture *f, int64_t run_id, int64_t span_id, int64_t virtual_ns)
{
	struct result result = killed(virtual_ns);
	struct attempt_key key = key_of(run_id, span_id);

	assert_ok(store_put_historical(f->store, &key, &result, &f->err));
}

/* ---- what is wanted ---- */

static void test_what_is_told(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	struct attempt_key first = {0, 0, 0};
	struct digest blob = digest_of(9), action = digest_of(1);
	struct wanted_blob wanted;

	blob.size_bytes = 600;
	put_action(f, run_id, 1, "fine", 2, STATUS_SUCCESS);
	put_failed(f, run_id, 2, 1, 9);
	assert_return(store_next_historical(f->store, "", &first, NOW, false, &wanted, &f->err), 1);
	assert_memory_equal(&wanted.digest, &blob, sizeof(blob));
	assert_memory_equal(&wanted.action, &action, sizeof(action));
	assert_string_equal(wanted.instance, "p");
	assert_true(str_is(wanted.message, "Action details (uncached result): …"));
	assert_int_equal(wanted.key.span_id, 2);
	assert_int_equal(wanted.state, STATE_WANTED);
	assert_return(
		store_next_historical(f->store, "", &wanted.key, NOW, false, &wanted, &f->err), 0);
	assert_return(
		store_next_historical(f->store, "other", &first, NOW, false, &wanted, &f->err), 0);
}

static void test_what_is_asked_again(void **state)
{
	/* By span: its state; is it wanted while its run is young, when it is old, with retry? */
	static const struct {
		enum lookup_state state;
		bool young, old, retry;
	} rules[] = {
		{STATE_WANTED, true, true, true},      {STATE_FOUND, false, false, false},
		{STATE_NOT_FOUND, true, false, true},  {STATE_REFUSED, true, true, true},
		{STATE_INVALID, true, false, true},    {STATE_TOO_LARGE, true, false, true},
		{STATE_ERROR, true, true, true},       {STATE_UNREACHABLE, true, true, true},
		{STATE_MALFORMED, false, false, true}, {STATE_OTHER_ACTION, false, false, true},
	};
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START), young = 0, old = 0, retry = 0;
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		int64_t span = (int64_t)i + 1;

		put_failed(f, run_id, (uint64_t)span, 1, (uint8_t)(10 + i));
		if (rules[i].state == STATE_FOUND)
			put_killed(f, run_id, span, 1000);
		else if (rules[i].state != STATE_WANTED)
			put_state(f, run_id, span, rules[i].state);
		young = rules[i].young ? young * 10 + span : young;
		old = rules[i].old ? old * 10 + span : old;
		retry = rules[i].retry ? retry * 10 + span : retry;
	}
	assert_int_equal(wanted_spans(f, START + 6 * DAY_NS, false), young);
	assert_int_equal(wanted_spans(f, START + 8 * DAY_NS, false), old);
	assert_int_equal(wanted_spans(f, START + 8 * DAY_NS, true), retry);
}

static void test_found_is_never_taken_back(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	put_failed(f, run_id, 1, 1, 9);
	put_killed(f, run_id, 1, 1000);
	put_state(f, run_id, 1, STATE_NOT_FOUND);
	put_killed(f, run_id, 1, 2000);
	assert_number(f, "SELECT state = 1 AND message IS NULL FROM historical", 1);
	assert_number(f, "SELECT wall_ns FROM result", 1000);
	assert_commits(f);
	assert_number(f, "SELECT results FROM worker", 1);
	put_failed(f, run_id, 1, 1, 9);
	assert_number(f, "SELECT state FROM historical", 1);
}

/* What has no digest cannot be checked; what ran locally has no such record. */
static void test_links_that_are_none(void **state)
{
	struct fixture *f = *state;
	struct attempt attempts[3] = {attempt_of(1, STATUS_FAILURE), attempt_of(2, STATUS_FAILURE),
				      attempt_of(3, STATUS_FAILURE)};
	struct action action = action_of("x", attempts, 3);

	attempts[0].historical = attempts[1].historical = digest_of(9);
	attempts[0].kind = ATTEMPT_LOCAL;
	attempts[1].digest.hash_len = 0;
	assert_ok(
		store_put_action(f->store, put_run(f, "t", START), 1, 1, START, &action, &f->err));
	assert_number(f, "SELECT count(*) FROM historical", 0);
}

/* ---- results ---- */

static void test_beside_the_action_cache(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	put_failed(f, run_id, 1, 1, 9);
	put_failed(f, run_id, 2, 1, 8);
	put_killed(f, run_id, 1, 2000);
	put_killed(f, run_id, 2, 1000);
	assert_number(f, "SELECT count(*) FROM result WHERE source = 2", 2);
	/* The later one of two failed executions. */
	assert_text(f, "SELECT source || wall_ns || termination_signal FROM usage",
		    "historical2000KILL");
	assert_number(f, "SELECT count(*) FROM missing_results", 0);
	assert_number(f, "SELECT state FROM lookup", STATE_WANTED);
	put_action(f, run_id, 3, "x", 1, STATUS_SUCCESS);
	put_result(f, "p", 1);
	assert_text(f, "SELECT group_concat(source) FROM usage", "action_cache");
	assert_number(f, "SELECT count(*) FROM result", 3);
	assert_number(f, "SELECT count(*) FROM signals", 2);
	/* Sums count the action cache's alone. */
	assert_commits(f);
	assert_number(f, "SELECT wall_ns FROM worker", 0);
	assert_number(f, "SELECT with_usage FROM worker", 0);
}

static void test_status(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	struct attempt_key key = key_of(run_id, 1);
	struct result result = killed(1000);

	result.status_code = 4;
	result.status_message = STR("deadline exceeded");
	result.exit_code = UNKNOWN;
	put_failed(f, run_id, 1, 1, 9);
	assert_ok(store_put_historical(f->store, &key, &result, &f->err));
	assert_text(f, "SELECT status_code || status_message FROM result", "4deadline exceeded");
	assert_number(f, "SELECT exit_code IS NULL AND attempt_span_id = 1 FROM result", 1);
}

/* An attempt that is not there: another process may have dropped it. */
static void test_nobodys_result(void **state)
{
	struct fixture *f = *state;
	struct attempt_key key = {1, 2, 3};
	struct result result = killed(1000);

	assert_ok(store_put_historical(f->store, &key, &result, &f->err));
	assert_number(f, "SELECT count(*) FROM result", 0);
}

/* ---- one execution, several attempts ---- */

static void test_twins(void **state)
{
	struct fixture *f = *state;
	int64_t a = put_run(f, "a", START), b = put_run(f, "b", START), c = put_run(f, "c", START);
	struct attempt_key of = key_of(b, 1), twin = {0, 0, 0};
	struct digest action, wanted = digest_of(2);

	choose(f, c, "elsewhere", "flag", true);
	put_failed(f, a, 1, 1, 9);
	put_failed(f, a, 2, 1, 8);
	put_failed(f, b, 1, 1, 9);
	put_failed(f, b, 2, 2, 9);
	put_failed(f, c, 1, 1, 9);
	assert_return(store_next_twin(f->store, &of, &twin, &twin, &action, &f->err), 1);
	assert_true(twin.run_id == a && twin.span_id == 1);
	assert_return(store_next_twin(f->store, &of, &twin, &twin, &action, &f->err), 1);
	assert_true(twin.run_id == b && twin.span_id == 2);
	assert_memory_equal(&action, &wanted, sizeof(action));
	assert_return(store_next_twin(f->store, &of, &twin, &twin, &action, &f->err), 0);
	put_killed(f, a, 1, 1000);
	twin = (struct attempt_key){0, 0, 0};
	assert_return(store_next_twin(f->store, &of, &twin, &twin, &action, &f->err), 1);
	assert_true(twin.run_id == b && twin.span_id == 2);
	/* Summed up once, whoever has it. */
	put_killed(f, b, 1, 1000);
	put_killed(f, c, 1, 1000);
	assert_number(f, "SELECT count(*) FROM result", 3);
	assert_commits(f);
	assert_number(f, "SELECT results FROM worker", 1);
}

/* ---- another instance ---- */

static void test_moves_with_its_attempt(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	put_failed(f, run_id, 1, 1, 9);
	put_failed(f, run_id, 2, 2, 8);
	put_failed(f, run_id, 3, 3, 7);
	put_killed(f, run_id, 1, 1000);
	put_state(f, run_id, 2, STATE_NOT_FOUND);
	choose(f, run_id, "true", "link", true);
	assert_number(f, "SELECT count(*) FROM lookup", 3);
	assert_text(f,
		    "SELECT group_concat(i.name) FROM result r JOIN lookup l USING (lookup_id)"
		    " JOIN instance i USING (instance_id)",
		    "true");
	/* Not found under the other name: it may be there under this one. */
	assert_text(f, "SELECT group_concat(state) FROM historical", "1,0,0");
	assert_number(f, "SELECT count(*) FROM pragma_foreign_key_check", 0);
}

/* The lookup that it leaves stays with the other run, and so does that run's result. */
static void test_leaves_others_behind(void **state)
{
	struct fixture *f = *state;
	int64_t first = put_run(f, "a", START), second = put_run(f, "b", START + 1);

	put_failed(f, first, 1, 1, 9);
	put_failed(f, second, 1, 1, 8);
	put_killed(f, first, 1, 1000);
	put_killed(f, second, 1, 2000);
	choose(f, first, "true", "link", true);
	assert_text(f,
		    "SELECT group_concat(x) FROM (SELECT i.name || r.wall_ns || g.trace_id AS x"
		    " FROM result r JOIN lookup l USING (lookup_id) JOIN instance i USING"
		    " (instance_id) JOIN run g ON g.run_id = r.first_run_id ORDER BY r.wall_ns)",
		    "true1000a,p2000b");
}

/* ---- stderr ---- */

static void put_stderr(struct fixture *f, int64_t run_id, const char *text, bool left_out)
{
	struct attempt attempt = attempt_of(1, STATUS_FAILURE);
	struct action action = action_of("x", &attempt, 1);

	attempt.stderr_text = str_of(text);
	attempt.no_stderr = left_out;
	assert_ok(store_put_action(f->store, run_id, 1, 1, START, &action, &f->err));
}

static void test_stderr_left_out(void **state)
{
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	put_stderr(f, run_id, "secret", true);
	assert_text(f, "SELECT stderr || stderr_bytes FROM attempt_stderr", "6");
	/* A copy of the log that is read with it completes what is unknown, and it stays. */
	put_stderr(f, run_id, "secret", false);
	assert_text(f, "SELECT stderr FROM attempt_stderr", "secret");
	put_stderr(f, run_id, "secret", true);
	assert_text(f, "SELECT stderr FROM attempt_stderr", "secret");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_told),
		TEST(test_what_is_asked_again),
		TEST(test_found_is_never_taken_back),
		TEST(test_links_that_are_none),
		TEST(test_beside_the_action_cache),
		TEST(test_status),
		TEST(test_nobodys_result),
		TEST(test_twins),
		TEST(test_moves_with_its_attempt),
		TEST(test_leaves_others_behind),
		TEST(test_stderr_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
